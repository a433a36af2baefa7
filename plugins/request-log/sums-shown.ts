import type { JsonObject } from '../../engine/index.ts'
import { shape } from '../../engine/kit.ts'
import type { Latency } from './latency.ts'
import { tokens } from './shown.ts'
import { nothing } from './sums.ts'
import type { Measure, Sum } from './sums.ts'
import type { Cell } from './sums-query.ts'

const milliseconds = (percentile: string) => shape.orNull(shape.number(`The ${percentile} percentile.`))

/** JSON Schemas of sums. */
export const sumFields = {
  requests: shape.integer('Number of requests.'),
  failed: shape.integer('Those that failed.'),
  cost: shape.number('Known cost in USD.'),
  unknown_cost_requests: shape.integer('Requests whose cost is unknown.'),
  usage: tokens,
}

/** JSON Schemas of latencies. */
export function latencyFields(wanted: readonly string[] = ['p50', 'p95', 'p99']) {
  const percentilesOf = (description: string) =>
    shape.object(Object.fromEntries(wanted.map((name) => [name, milliseconds(`${name.slice(1)}th`)])), {}, description)
  return {
    duration_ms: percentilesOf('Duration in milliseconds; null: there is none.'),
    first_byte_ms: percentilesOf('Milliseconds to the first byte; null: there is none.'),
  }
}

export const windowFields = {
  since: shape.time('Begin of the window.'),
  until: shape.time('End of the window.'),
}

/** What requests used and cost, in tokens and USD. */
export function shownSum(sum: Readonly<Sum>): JsonObject {
  return {
    requests: sum.requests,
    failed: sum.failed,
    cost: usd(sum.cost_micros),
    unknown_cost_requests: sum.unknown_cost,
    usage: tokensOf(sum),
  }
}

/** Tokens in disjoint buckets, and their sum. */
export function tokensOf(sum: Readonly<Sum>): JsonObject {
  const buckets = {
    input: sum.input_tokens,
    cache_read: sum.cache_read_tokens,
    cache_write: sum.cache_write_tokens,
    output: sum.output_tokens,
    reasoning: sum.reasoning_tokens,
  }
  return { ...buckets, total: Object.values(buckets).reduce((total, tokens) => total + tokens, 0) }
}

/** What smart routing saved, in USD; null: no request was routed. */
export function savingsOf(sum: Readonly<Sum>): number | null {
  return sum.with_savings === 0 ? null : usd(sum.savings_micros)
}

export function usd(micros: number): number {
  return micros / 1_000_000
}

const percentiles = { p50: 0.5, p95: 0.95, p99: 0.99 }

/** Percentiles of latencies, in milliseconds; null: there are none. */
export function shownLatency(
  { latency }: Pick<Cell, 'latency'>,
  wanted: readonly (keyof typeof percentiles)[] = ['p50', 'p95', 'p99'],
): JsonObject {
  const of = (times: Latency) => Object.fromEntries(wanted.map((name) => [name, times.percentile(percentiles[name])]))
  return { duration_ms: of(latency.duration), first_byte_ms: of(latency.first_byte) }
}

/** All sums together. */
export function totalOf(cells: readonly Cell[]): Sum {
  const total: Sum = { ...nothing }
  for (const { sum } of cells) for (const name of Object.keys(total) as Measure[]) total[name] += sum[name]
  return total
}
