import type { Tokens } from '../../format.ts'
import type { RoutingBlock } from '../../parts/decision.ts'

/** A request in `GET /api/logs`. Money in USD. */
export interface Row {
  readonly id: string
  readonly at: string
  readonly type: string
  readonly key: { readonly id: string; readonly name: string } | null
  readonly member: { readonly id: string; readonly username: string | null } | null
  readonly requested: string | null
  readonly model: string | null
  readonly provider: string | null
  readonly protocol: string | null
  readonly stream: boolean
  readonly status: number
  readonly result: 'completed' | 'client_closed' | 'refused' | 'failed'
  readonly error: string | null
  readonly attempts: number
  readonly usage: (Tokens & { readonly total: number }) | null
  readonly cost: number | null
  readonly first_byte_ms: number | null
  readonly duration_ms: number
  readonly reference: string | null
  readonly tier: string | null
}

/** A stage's run. Milliseconds since the first byte of the request. */
export interface Span {
  readonly path: string
  readonly name: string
  readonly at_ms: number
  readonly duration_ms: number
  /** Which try of a provider it belongs to, from 1. */
  readonly attempt: number | null
  readonly outcome: 'ok' | 'failed' | 'skipped'
}

export interface Try {
  readonly model: string | null
  readonly provider: string | null
  readonly status: number | null
  readonly error: string | null
  readonly duration_ms: number
}

export interface Capture {
  readonly request: string | null
  readonly response: string | null
  readonly truncated: boolean
}

/** All that `GET /api/logs/:id` knows of a request. */
export interface Detail extends Row {
  readonly upstream_protocol: string | null
  readonly tags: Readonly<Record<string, string>>
  readonly parent: string | null
  readonly times: Readonly<Record<string, number>>
  readonly spans: readonly Span[]
  readonly losses: readonly { readonly field: string; readonly because: string }[]
  readonly tries: readonly Try[]
  readonly routing: RoutingBlock | null
  readonly upstream: { readonly id: string | null; readonly model: string | null; readonly stop: string | null } | null
  readonly error_detail: { readonly message: string | null; readonly at: string | null } | null
  readonly headers: Readonly<Record<string, string>>
  readonly address: string | null
  readonly config_version: string | null
  readonly children: readonly { readonly id: string; readonly type: string; readonly cost: number | null }[]
  readonly charged: readonly { readonly bucket: 'key' | 'member' | 'server'; readonly usd: number }[]
  readonly feedback: { readonly signal: 'weak' | 'ok' | 'strong' } | null
  readonly metadata: Readonly<Record<string, unknown>>
  readonly capture: Capture | null
}
