import type { Pricing, Units, Usage } from '../../engine/index.ts'

/** Prices are rounded to a billionth of a USD per million tokens, which is exact for every decimal price in use. */
const SCALE = 1e9

/**
 * The cost of one exchange in micro-USD: the exact sum of its parts, rounded half up once. Tokens are billed if the
 * model has prices for them and their number is known; otherwise seconds, images or characters, the first of them that
 * has a price. Web searches are added, and the price of the request itself, which is the only part if nothing else has
 * a price. Undefined if the cost is unknown: something was used that has no price or no count, a number is invalid, or
 * the sum is too large.
 */
export function costOf(usage: Usage | undefined, pricing?: Pricing, units?: Units): number | undefined {
  const used = partsOf(usage, pricing ?? noPrices, units ?? noUnits)
  return used && sumOf(used)
}

/** What was used of one model. */
export interface Use {
  readonly usage: Usage | undefined
  readonly pricing: Pricing | undefined
  readonly units?: Units | undefined
}

/** The same for several uses, each at the prices of its model. */
export function costOfAll(uses: readonly Use[]): number | undefined {
  const [first] = uses
  if (first && uses.length === 1) return costOf(first.usage, first.pricing, first.units)
  const parts: number[] = []
  for (const { usage, pricing, units } of uses) {
    const used = partsOf(usage, pricing ?? noPrices, units ?? noUnits)
    if (used === undefined) return undefined
    parts.push(...used)
  }
  return sumOf(parts)
}

const noPrices: Pricing = {}
const noUnits: Units = {}

/** The same in USD and not rounded, for what costs less than a micro-USD. */
export function usdOf(usage: Usage | undefined, pricing: Pricing = {}, units: Units = {}): number | undefined {
  const used = partsOf(usage, pricing, units)
  if (used === undefined || sumOf(used) === undefined) return undefined
  let micros = 0
  for (let at = 0; at < used.length; at += 2) micros += amountOf(used, at) * (used[at + 1] || 0)
  return Number((micros / EACH).toPrecision(12))
}

/**
 * Amounts and their prices in turn. A price is in USD per million, which is the price of one in micro-USD; `NaN`:
 * unknown.
 */
type Used = number[]

function partsOf(usage: Usage | undefined, pricing: Pricing, units: Units): Used | undefined {
  // Only the provider knows which model, tier and discounts it billed.
  if (usage?.cost !== undefined) return [EACH, usage.cost]
  const used = usedOf(usage, pricing, units)
  if (pricing.requests !== undefined) used?.push(EACH, pricing.requests)
  if (usage?.searches) used?.push(usage.searches * EACH, pricing.searches ?? Number.NaN)
  return used
}

const amountOf = (used: Used, at: number) => used[at] as number

/** The amount of what has a price for each. */
const EACH = 1_000_000

/**
 * What is counted where tokens are not, and the amount that so much of it is. Seconds are counted to the thousandth.
 */
const amounts = {
  seconds: (count: number) => Math.round(count * 1000) * 1000,
  images: (count: number) => count * EACH,
  characters: (count: number) => count,
} as const

const unitNames = ['seconds', 'images', 'characters'] as const

function usedOf(usage: Usage | undefined, pricing: Pricing, units: Units): Used | undefined {
  const billsTokens = pricesTokens(pricing) || pricing.tiers?.some(pricesTokens)
  if (usage !== undefined && billsTokens) return tokensOf(usage, pricesFor(usage, pricing))
  for (const name of unitNames) {
    const price = pricing[name]
    if (price !== undefined) return [amounts[name](units[name] ?? Number.NaN), price]
  }
  if (billsTokens) return undefined
  if (pricing.requests !== undefined) return []
  return usage && tokensOf(usage, pricing)
}

const tokenPrices = [
  'input',
  'output',
  'cache_read',
  'cache_write',
  'cache_write_1h',
  'reasoning',
  'input_audio',
  'output_audio',
  'input_image',
  'output_image',
] as const

function pricesTokens(prices: Pricing): boolean {
  return tokenPrices.some((name) => prices[name] !== undefined)
}

/**
 * The prices for an input of this length: those of the highest tier that it is above, and what that leaves as it is.
 */
function pricesFor({ input, cacheRead, cacheWrite }: Usage, pricing: Pricing): Pricing {
  const length = input + cacheRead + cacheWrite
  const tier = pricing.tiers?.findLast(({ above_input_tokens: above }) => length > above)
  return tier ? { ...pricing, ...tier } : pricing
}

/** What a token that is written to a cache costs where it has no price of its own, as a multiple of one of the input. */
const WRITTEN = 1.25

/**
 * The buckets of tokens that were billed at the price of the input, because the model has no price of theirs:
 * `cache_read`, `cache_write`.
 */
export function pricedAsInput(uses: readonly Use[]): string[] {
  let buckets: string[] = none
  for (const { usage, pricing = noPrices } of uses) {
    // Most answers name no cache.
    if (usage === undefined || usage.cost !== undefined || usage.cacheRead + usage.cacheWrite === 0) continue
    const { input, cache_read: read, cache_write: write, cache_write_1h: hour } = pricesFor(usage, pricing)
    const { cacheRead, cacheWrite, cacheWriteHour = 0 } = usage
    if (input === undefined) continue
    if (cacheRead > 0 && read === undefined) buckets = [...buckets, 'cache_read']
    const isWritten = cacheWrite > cacheWriteHour || (cacheWriteHour > 0 && hour === undefined)
    if (isWritten && write === undefined) buckets = [...buckets, 'cache_write']
  }
  return buckets.length > 1 ? [...new Set(buckets)] : buckets
}

const none: string[] = []

/** Tokens by their prices. What has none of its own costs what the bucket costs that it is a part of. */
function tokensOf(usage: Usage, pricing: Pricing): Used {
  const { cacheWriteHour = 0, inputAudio = 0, inputImage = 0, outputAudio = 0, outputImage = 0 } = usage
  const { input, output, cache_read: cacheRead = input } = pricing
  const cacheWrite = pricing.cache_write ?? (input === undefined ? undefined : input * WRITTEN)
  // Nearly all answers fill these two of the ten buckets, and a list that grows takes more memory.
  const [read, made] = [usage.input - inputAudio - inputImage, usage.output - outputAudio - outputImage]
  const used: Used = [read, input ?? Number.NaN, made, output ?? Number.NaN]
  addTo(used, inputAudio, pricing.input_audio ?? input)
  addTo(used, inputImage, pricing.input_image ?? input)
  addTo(used, usage.cacheRead, cacheRead)
  addTo(used, usage.cacheWrite - cacheWriteHour, cacheWrite)
  addTo(used, cacheWriteHour, pricing.cache_write_1h ?? cacheWrite)
  addTo(used, outputAudio, pricing.output_audio ?? output)
  addTo(used, outputImage, pricing.output_image ?? output)
  addTo(used, usage.reasoning, pricing.reasoning ?? output)
  return used
}

function addTo(used: Used, amount: number, price: number | undefined): void {
  if (amount !== 0) used.push(amount, price ?? Number.NaN)
}

function sumOf(used: Used): number | undefined {
  let sum = 0
  for (let at = 0; at < used.length; at += 2) {
    const amount = amountOf(used, at)
    if (!isCount(amount)) return undefined
    if (amount === 0) continue
    const scaled = Math.round(amountOf(used, at + 1) * SCALE)
    if (!isCount(scaled)) return undefined
    sum += amount * scaled
  }
  const above = sum + SCALE / 2
  // Above the safe integers, the last digits would be wrong.
  return Number.isSafeInteger(above) ? (above - (above % SCALE)) / SCALE : largeSumOf(used)
}

/** The same computation with numbers of any size. */
function largeSumOf(used: Used): number | undefined {
  const scale = BigInt(SCALE)
  let sum = 0n
  for (let at = 0; at < used.length; at += 2)
    if (amountOf(used, at) > 0) sum += BigInt(amountOf(used, at)) * BigInt(Math.round(amountOf(used, at + 1) * SCALE))
  const whole = Number((sum + scale / 2n) / scale)
  return isCount(whole) ? whole : undefined
}

/**
 * Whether every bucket is a count, and holds its parts; anything else an upstream says is as good as
 * nothing.
 */
export function isPlausible(usage: Usage): boolean {
  const { input, cacheRead, cacheWrite, cacheWriteHour = 0, output, reasoning } = usage
  const { inputAudio = 0, inputImage = 0, outputAudio = 0, outputImage = 0, searches = 0, cost = 0 } = usage
  if (!Number.isFinite(cost) || cost < 0) return false
  const areBuckets =
    isCount(input) && isCount(cacheRead) && isCount(cacheWrite) && isCount(output) && isCount(reasoning)
  const isAudio = isCount(inputAudio) && isCount(outputAudio)
  const areParts = isAudio && isCount(cacheWriteHour) && isCount(inputImage) && isCount(outputImage)
  if (!areBuckets || !areParts || !isCount(searches)) return false
  return cacheWriteHour <= cacheWrite && inputAudio + inputImage <= input && outputAudio + outputImage <= output
}

function isCount(value: number): boolean {
  return Number.isSafeInteger(value) && value >= 0
}
