import type { Pricing, Usage } from '../../engine/index.ts'

/** Prices are kept to a billionth of a USD per million tokens: exact for every decimal price in use. */
const SCALE = 1e9

/**
 * The cost of one exchange in micro-USD, rounded half up. A price in USD per million tokens is one in micro-USD per
 * token. Undefined when it is unknown: a bucket was used that has no price, a number makes no sense, or the sum is too
 * large to count. Reasoning is priced as output.
 */
export function costOf(usage: Usage, pricing: Pricing | undefined): number | undefined {
  const buckets: readonly (readonly [number, number | undefined])[] = [
    [usage.input, pricing?.input],
    [usage.cacheRead, pricing?.cache_read],
    [usage.cacheWrite, pricing?.cache_write],
    [usage.output, pricing?.output],
    [usage.reasoning, pricing?.output],
  ]
  let sum = 0n
  for (const [tokens, price] of buckets) {
    if (!isCount(tokens)) return undefined
    if (tokens === 0) continue
    const scaled = Math.round((price ?? Number.NaN) * SCALE)
    if (!isCount(scaled)) return undefined
    sum += BigInt(tokens) * BigInt(scaled)
  }
  const micros = Number((sum + BigInt(SCALE / 2)) / BigInt(SCALE))
  return isCount(micros) ? micros : undefined
}

/** Whether every bucket is a number of tokens; anything else an upstream says is as good as nothing. */
export function isPlausible(usage: Usage): boolean {
  return [usage.input, usage.cacheRead, usage.cacheWrite, usage.output, usage.reasoning].every((tokens) =>
    isCount(tokens),
  )
}

function isCount(value: number): boolean {
  return Number.isSafeInteger(value) && value >= 0
}
