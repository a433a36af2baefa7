import type { Json } from './json.ts'
import type { Principal } from './slots.ts'

/** API keys of the running configuration. What is stored of a key is its SHA-256, never its text. */
export interface Keys {
  /** The principal of a key's text; undefined when it is unknown or expired. */
  find(text: string): Principal | undefined
  /**
   * The same, of a key that may have been made elsewhere a moment ago: the database is asked, at most once a second
   * for all who wait. Never rejects.
   */
  search(text: string): Promise<Principal | undefined>
}

/** One row of the request log. Times in milliseconds, tokens in disjoint buckets, money in micro-USD. */
export interface LogRow {
  readonly id: string
  /** Milliseconds since 1970. */
  readonly at: number
  readonly type: string
  readonly keyId: string | null
  /** The model asked for, and what served. */
  readonly requested: string | null
  readonly model: string | null
  readonly provider: string | null
  readonly protocol: string | null
  readonly upstreamProtocol: string | null
  readonly stream: boolean
  readonly status: number
  readonly result: string
  readonly error: string | null
  readonly attempts: number
  readonly inputTokens: number | null
  readonly cacheReadTokens: number | null
  readonly cacheWriteTokens: number | null
  readonly outputTokens: number | null
  readonly reasoningTokens: number | null
  /** Null: the price or the usage is unknown. */
  readonly costMicros: number | null
  readonly firstByte: number | null
  readonly duration: number
  readonly reference: string | null
  /** Id of the exchange that this one was a part of. */
  readonly parent: string | null
  /** Losses, times per stage, notes. */
  readonly metadata: { readonly [key: string]: Json }
}
