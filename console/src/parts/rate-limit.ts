import { count } from '../format.ts'
import { shared } from '../words.ts'

/** Requests and tokens per period, and requests at the same time; null: not limited. */
export interface RateLimit {
  readonly requests: number | null
  readonly tokens: number | null
  readonly concurrency: number | null
  /** Such as `60s`. */
  readonly period: string
}

/** `60 requests a minute, 4 at once`. */
export function rateText({ requests, tokens, concurrency, period }: RateLimit): string {
  const span = shared.limitSpans[period] ?? shared.perSpan(period)
  return [
    requests === null ? [] : shared.requestsPer(count(requests), span),
    tokens === null ? [] : shared.tokensPer(count(tokens), span),
    concurrency === null ? [] : shared.atOnce(count(concurrency)),
  ]
    .flat()
    .join(', ')
}
