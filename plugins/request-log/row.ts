import { mapMembers } from '../../engine/kit.ts'
import type { Json } from '../../engine/index.ts'
import type { RequestsTable } from './table.ts'

/** The row of an exchange. Times in milliseconds, tokens in disjoint buckets, money in micro-USD. */
export interface LogRow {
  readonly id: string
  /** Milliseconds since 1970. */
  readonly at: number
  readonly type: string
  readonly keyId: string | null
  /** The requested model, and the one that served. */
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
  /** Id of the exchange that this one is a part of. */
  readonly parent: string | null
  /** Losses, times per stage, notes. */
  readonly metadata: { readonly [key: string]: Json }
}

/** A row as it is stored. Values of a client or a provider pass through `scrub`. */
export function columnsOf(row: LogRow, scrub: (text: string) => string): RequestsTable {
  return {
    id: row.id,
    at: Math.round(row.at),
    type: row.type,
    key_id: row.keyId,
    requested: row.requested && scrub(row.requested),
    model: row.model,
    provider: row.provider,
    protocol: row.protocol,
    upstream_protocol: row.upstreamProtocol,
    stream: row.stream ? 1 : 0,
    status: row.status,
    result: row.result,
    error: row.error && scrub(row.error),
    attempts: row.attempts,
    input_tokens: count(row.inputTokens),
    cache_read_tokens: count(row.cacheReadTokens),
    cache_write_tokens: count(row.cacheWriteTokens),
    output_tokens: count(row.outputTokens),
    reasoning_tokens: count(row.reasoningTokens),
    cost_micros: count(row.costMicros),
    first_byte: count(row.firstByte),
    duration: Math.round(row.duration),
    reference: row.reference && scrub(row.reference),
    parent: row.parent,
    metadata: JSON.stringify(mapMembers(row.metadata, scrub)) ?? '{}',
  }
}

function count(value: number | null): number | null {
  return Number.isFinite(value) ? Math.round(value as number) : null
}
