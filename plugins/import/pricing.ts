import type { Json } from '../../engine/index.ts'
import type { Node } from './tree.ts'

/** Prices of LiteLLM by the fields of a model's `pricing`, and the decimal places between their units. */
const prices: Readonly<Record<string, readonly [field: string, places: number]>> = {
  input_cost_per_token: ['input', 6],
  output_cost_per_token: ['output', 6],
  cache_read_input_token_cost: ['cache_read', 6],
  cache_creation_input_token_cost: ['cache_write', 6],
  cache_creation_input_token_cost_above_1hr: ['cache_write_1h', 6],
  output_cost_per_reasoning_token: ['reasoning', 6],
  input_cost_per_audio_token: ['input_audio', 6],
  output_cost_per_audio_token: ['output_audio', 6],
  input_cost_per_image_token: ['input_image', 6],
  output_cost_per_image_token: ['output_image', 6],
  input_cost_per_second: ['seconds', 0],
  output_cost_per_image: ['images', 0],
  input_cost_per_character: ['characters', 6],
  input_cost_per_query: ['requests', 0],
}

/** A price of LiteLLM: where it stands in `pricing`, and from how many tokens of input on it counts. */
export interface PricePlace {
  readonly field: string
  readonly places: number
  readonly above?: number
}

/** Where a field of LiteLLM stands in `pricing`; undefined: it is no price, or one that is not known here. */
export function pricePlace(name: string): PricePlace | undefined {
  const [, bare = name, thousands] = /^(.*)_above_(\d+)k_tokens$/.exec(name) ?? []
  const [field, places] = Object.hasOwn(prices, bare) ? (prices[bare] ?? []) : []
  if (field === undefined || places === undefined) return undefined
  // Tiers have the prices of tokens alone.
  if (thousands !== undefined && (places === 0 || field === 'characters')) return undefined
  return { field, places, ...(thousands === undefined ? {} : { above: Number(thousands) * 1000 }) }
}

/** Whether a field of LiteLLM is about prices. */
export function isPrice(name: string): boolean {
  return /_cost(?:_|$)|^cost_/.test(name)
}

/**
 * A decimal number, multiplied by a power of ten without an error of binary fractions, with at most nine decimals:
 * `0.00000015` with six places is 0.15. Undefined: it is no amount.
 */
export function shifted(text: string, places: number): { readonly value: number; readonly exact: boolean } | undefined {
  const [, whole, fraction = '', exponent = '0'] =
    /^\+?(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d{1,3}))?$/.exec(text.replaceAll('_', '')) ?? []
  if (whole === undefined || whole + fraction === '') return undefined
  const digits = whole + fraction
  const point = whole.length + Number(exponent) + places
  const padded = point >= 0 ? digits.padEnd(point, '0') : '0'.repeat(-point) + digits
  const at = Math.max(point, 0)
  const decimals = padded.slice(at).replace(/0{1,999}$/, '')
  const value = Number(`${padded.slice(0, at) || '0'}.${decimals.slice(0, 9) || '0'}`)
  return value > 1_000_000_000 ? undefined : { value, exact: decimals.length <= 9 }
}

/** A price, and where it stands in both configurations. */
export interface Price {
  readonly field: string
  /** From how many tokens of input on it counts. */
  readonly above?: number
  readonly value: number
  readonly node: Node
  readonly to: string
}

/** A price of LiteLLM, and whether it is exact; undefined: it is no amount. */
export function priceIn(node: Node, { field, places, above }: PricePlace): (Price & { exact: boolean }) | undefined {
  const price = shifted(node.text, places)
  if (price === undefined) return undefined
  const to = above === undefined ? `models[].pricing.${field}` : `models[].pricing.tiers.${field}`
  return { field, ...(above === undefined ? {} : { above }), node, to, ...price }
}

/** Gathers the prices of a model. Of two that differ, the dearer one counts. */
export class PriceList {
  readonly #prices = new Map<string, Price>()

  /** Adds a price. Returns the cheaper one, which does not count, and the one that does. */
  add(price: Price): { readonly kept: Price; readonly cheaper: Price } | undefined {
    const key = `${price.above ?? ''} ${price.field}`
    const before = this.#prices.get(key)
    const [kept, cheaper] = before && before.value > price.value ? [before, price] : [price, before]
    this.#prices.set(key, kept)
    return cheaper === undefined || cheaper.value === kept.value ? undefined : { kept, cheaper }
  }

  get all(): readonly Price[] {
    return [...this.#prices.values()]
  }

  /** The field `pricing` of the model; undefined: there is no price. */
  get value(): Json | undefined {
    if (this.#prices.size === 0) return undefined
    const usual: Record<string, Json> = {}
    const tiers = new Map<number, Record<string, Json>>()
    for (const { field, above, value } of this.all) {
      const place = above === undefined ? usual : (tiers.get(above) ?? {})
      if (above !== undefined) tiers.set(above, place)
      place[field] = value
    }
    const ordered = [...tiers].toSorted(([one], [other]) => one - other)
    const long = ordered.map(([above, fields]) => ({ above_input_tokens: above, ...fields }))
    return { ...usual, ...(long.length > 0 ? { tiers: long } : {}) }
  }
}
