import type { JsonObject, Json } from '../../engine/index.ts'
import { isObject } from '../../engine/kit.ts'
import { inPieces } from './in-pieces.ts'

/** What a public list says about a model of a vendor. */
export interface Listed {
  /** The list's name of the vendor. */
  readonly vendor: string
  /** The vendor's name of the model. */
  readonly model: string
  /** By the names of fields of model records. Prices in USD per million tokens, or as `pricing` of a record has them. */
  readonly facts: { readonly pricing: JsonObject } & JsonObject
}

/**
 * The entries of a public list of prices, in either shape: models by vendor with prices per million tokens (models.dev,
 * `api.json`), or a flat map of models with prices per token (`model_prices_and_context_window.json`). Undefined: it is
 * neither.
 */
export async function readPriceList(value: Json): Promise<readonly Listed[] | undefined> {
  if (!isObject(value)) return undefined
  const entries = Object.entries(value).filter((entry): entry is [string, JsonObject] => isObject(entry[1]))
  const listed: Listed[] = []
  if (entries.some(([, entry]) => isObject(entry['models']))) {
    await inPieces(vendorEntries(entries), ([vendor, model, facts]) => {
      if (isObject(facts)) listed.push({ vendor, model, facts: vendorFacts(facts) })
    })
    return listed
  }
  await inPieces(entries, (entry) => {
    if (Object.keys(entry[1]).some((field) => flatFields.test(field))) listed.push(flatEntry(entry))
  })
  return listed.length > 0 ? listed : undefined
}

/** Fields of which every entry of the flat shape has some. */
const flatFields = /^(litellm_provider|mode|(input|output)_cost_per_|max_(input_|output_)?tokens$)/

/** Vendors with their models, and what the list says of each. */
function* vendorEntries(
  vendors: readonly (readonly [string, JsonObject])[],
): Generator<readonly [vendor: string, model: string, facts: Json | undefined]> {
  for (const [vendor, { models }] of vendors)
    for (const [model, facts] of Object.entries(isObject(models) ? models : {})) yield [vendor, model, facts]
}

const tokenPrices = [
  'input',
  'output',
  'cache_read',
  'cache_write',
  'reasoning',
  'input_audio',
  'output_audio',
] as const

function vendorFacts({ cost, limit, modalities, tool_call: tools }: JsonObject): Listed['facts'] {
  const prices = isObject(cost) ? cost : {}
  const inputs = isObject(modalities) && Array.isArray(modalities['input']) ? modalities['input'] : undefined
  const limits = isObject(limit) ? limit : {}
  return {
    pricing: known({ ...picked(prices), tiers: vendorTiers(prices) }),
    ...known({
      context_length: count(limits['context']),
      max_output_tokens: count(limits['output']),
      supports_images: inputs?.includes('image'),
      supports_tools: typeof tools === 'boolean' ? tools : undefined,
    }),
  }
}

function picked(prices: JsonObject): JsonObject {
  return known(Object.fromEntries(tokenPrices.map((name) => [name, price(prices[name])])))
}

/** Prices for long inputs: by their sizes, or in the older form above 200,000 tokens. */
function vendorTiers({ tiers, context_over_200k: long }: JsonObject): Json | undefined {
  const given = (Array.isArray(tiers) ? (tiers as readonly Json[]) : []).flatMap((tier) => {
    if (!isObject(tier) || !isObject(tier['tier']) || tier['tier']['type'] !== 'context') return []
    const above = count(tier['tier']['size'])
    return above === undefined ? [] : [{ above_input_tokens: above, ...picked(tier) }]
  })
  if (given.length === 0 && isObject(long)) given.push({ above_input_tokens: 200_000, ...picked(long) })
  return inOrder(given)
}

/** Fields of the flat shape by those of `pricing`. */
const perToken = {
  input: 'input_cost_per_token',
  output: 'output_cost_per_token',
  cache_read: 'cache_read_input_token_cost',
  cache_write: 'cache_creation_input_token_cost',
  cache_write_1h: 'cache_creation_input_token_cost_above_1hr',
  reasoning: 'output_cost_per_reasoning_token',
  input_audio: 'input_cost_per_audio_token',
  output_audio: 'output_cost_per_audio_token',
  input_image: 'input_cost_per_image_token',
  output_image: 'output_cost_per_image_token',
} as const

function flatEntry([key, entry]: readonly [string, JsonObject]): Listed {
  const { litellm_provider: given } = entry
  const [first = '', ...rest] = key.split('/')
  const vendor = typeof given === 'string' ? given : rest.length > 0 ? first : ''
  const model = key.startsWith(`${vendor}/`) ? key.slice(vendor.length + 1) : key
  return { vendor, model, facts: flatFacts(entry) }
}

function flatFacts(entry: JsonObject): Listed['facts'] {
  const { supports_vision: images, supports_function_calling: tools } = entry
  return {
    pricing: known({
      ...flatPrices(entry, ''),
      images: price(entry['output_cost_per_image']),
      characters: price(entry['input_cost_per_character'], 1e6),
      seconds: price(entry['input_cost_per_second']),
      tiers: flatTiers(entry),
    }),
    ...known({
      context_length: count(entry['max_input_tokens']),
      max_output_tokens: count(entry['max_output_tokens']),
      supports_images: typeof images === 'boolean' ? images : undefined,
      supports_tools: typeof tools === 'boolean' ? tools : undefined,
    }),
  }
}

function flatPrices(entry: JsonObject, suffix: string): JsonObject {
  const prices = Object.entries(perToken).map(([name, field]) => [name, price(entry[field + suffix], 1e6)])
  return known(Object.fromEntries(prices) as Record<string, Json | undefined>)
}

function flatTiers(entry: JsonObject): Json | undefined {
  const sizes = Object.keys(entry).flatMap(
    (field) => /^input_cost_per_token_above_(\d{1,6})k_tokens$/.exec(field)?.[1] ?? [],
  )
  return inOrder(
    sizes.map((size) => ({ above_input_tokens: Number(size) * 1_000, ...flatPrices(entry, `_above_${size}k_tokens`) })),
  )
}

function inOrder(tiers: readonly ({ readonly above_input_tokens: number } & JsonObject)[]): Json | undefined {
  const sorted = tiers.toSorted((one, other) => one.above_input_tokens - other.above_input_tokens)
  return sorted.length > 0 ? sorted : undefined
}

/** A price, rounded to the nine decimals of prices; undefined: the list has none that makes sense. */
function price(value: Json | undefined, factor = 1): number | undefined {
  return typeof value === 'number' && value >= 0 && value < 1e9 ? Number((value * factor).toFixed(9)) : undefined
}

function count(value: Json | undefined): number | undefined {
  return typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= 1e9 ? value : undefined
}

function known(fields: Readonly<Record<string, Json | undefined>>): JsonObject {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))
}
