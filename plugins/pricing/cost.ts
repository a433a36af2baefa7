import type { Pricing, Units, Usage } from '../../engine/index.ts'

/** Prices are kept to a billionth of a USD per million tokens: exact for every decimal price in use. */
const SCALE = 1e9

/**
 * The cost of one exchange in micro-USD, rounded half up once. Tokens count where the model has prices for them and they
 * are known; else seconds, images and characters, the first of them that has a price. Undefined when it is unknown:
 * something was used that has no price or that nobody could count, a number makes no sense, or the sum is too large.
 */
export function costOf(usage: Usage | undefined, pricing: Pricing = {}, units: Units = {}): number | undefined {
  if (usage !== undefined && tokenPrices.some((name) => pricing[name] !== undefined))
    return costOfTokens(usage, pricing)
  for (const [name, micros] of unitPrices) {
    const price = pricing[name]
    if (price !== undefined) return costOfUnits(units[name], price, micros)
  }
  return usage && costOfTokens(usage, pricing)
}

const tokenPrices = ['input', 'output', 'cache_read', 'cache_write', 'cache_write_1h'] as const

/** What is counted where tokens are not, and the micro-USD that one costs at a price of 1. */
const unitPrices = [
  ['seconds', 1_000_000n],
  ['images', 1_000_000n],
  ['characters', 1n],
] as const

/** A price in USD per million tokens is one in micro-USD per token. Reasoning is priced as output. */
function costOfTokens(usage: Usage, pricing: Pricing): number | undefined {
  const { cacheWriteHour = 0 } = usage
  const buckets: Buckets = [
    [usage.input, pricing.input],
    [usage.cacheRead, pricing.cache_read],
    [usage.cacheWrite - cacheWriteHour, pricing.cache_write],
    [cacheWriteHour, pricing.cache_write_1h ?? pricing.cache_write],
    [usage.output, pricing.output],
    [usage.reasoning, pricing.output],
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
  return rounded(sum, BigInt(SCALE))
}

/** @param micros micro-USD that one costs at a price of 1 */
function costOfUnits(amount: number | undefined, price: number, micros: bigint): number | undefined {
  const thousandths = Math.round((amount ?? Number.NaN) * 1000)
  const scaled = Math.round(price * SCALE)
  if (!isCount(thousandths) || !isCount(scaled)) return undefined
  return rounded(BigInt(thousandths) * BigInt(scaled) * micros, BigInt(SCALE) * 1000n)
}

function rounded(sum: bigint, scale: bigint): number | undefined {
  const whole = Number((sum + scale / 2n) / scale)
  return isCount(whole) ? whole : undefined
}

/** Whether every bucket is a number of tokens; anything else an upstream says is as good as nothing. */
export function isPlausible({ input, cacheRead, cacheWrite, cacheWriteHour = 0, output, reasoning }: Usage): boolean {
  const counts = [input, cacheRead, cacheWrite, cacheWriteHour, output, reasoning]
  return counts.every(isCount) && cacheWriteHour <= cacheWrite
}

function isCount(value: number): boolean {
  return Number.isSafeInteger(value) && value >= 0
}
