import type { Pricing, Usage } from '../../engine/index.ts'

/** Prices are kept to a billionth of a USD per million tokens: exact for every decimal price in use. */
const SCALE = 1e9

/**
 * The cost of one exchange in micro-USD, rounded half up. A price in USD per million tokens is one in micro-USD per
 * token. Undefined when it is unknown: a bucket was used that has no price, a number makes no sense, or the sum is too
 * large to count. Reasoning is priced as output.
 */
export function costOf(usage: Usage, pricing: Pricing | undefined): number | undefined {
  const { cacheWriteHour = 0 } = usage
  const buckets: Buckets = [
    [usage.input, pricing?.input],
    [usage.cacheRead, pricing?.cache_read],
    [usage.cacheWrite - cacheWriteHour, pricing?.cache_write],
    [cacheWriteHour, pricing?.cache_write_1h ?? pricing?.cache_write],
    [usage.output, pricing?.output],
    [usage.reasoning, pricing?.output],
  ]
  let sum = 0
  for (const [tokens, price] of buckets) {
    if (!isCount(tokens)) return undefined
    if (tokens === 0) continue
    const scaled = Math.round((price ?? Number.NaN) * SCALE)
    if (!isCount(scaled)) return undefined
    sum += tokens * scaled
  }
  const above = sum + SCALE / 2
  // Beyond what a number counts one by one, the last digits would be a guess.
  return Number.isSafeInteger(above) ? (above - (above % SCALE)) / SCALE : largeCost(buckets)
}

type Buckets = readonly (readonly [tokens: number, price: number | undefined])[]

/** The same with numbers of any size. */
function largeCost(buckets: Buckets): number | undefined {
  let sum = 0n
  for (const [tokens, price = 0] of buckets) if (tokens > 0) sum += BigInt(tokens) * BigInt(Math.round(price * SCALE))
  const micros = Number((sum + BigInt(SCALE / 2)) / BigInt(SCALE))
  return isCount(micros) ? micros : undefined
}

/** Whether every bucket is a number of tokens; anything else an upstream says is as good as nothing. */
export function isPlausible({ input, cacheRead, cacheWrite, cacheWriteHour = 0, output, reasoning }: Usage): boolean {
  const counts = [input, cacheRead, cacheWrite, cacheWriteHour, output, reasoning]
  return counts.every(isCount) && cacheWriteHour <= cacheWrite
}

function isCount(value: number): boolean {
  return Number.isSafeInteger(value) && value >= 0
}
