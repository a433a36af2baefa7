import type { JsonObject, ModelRecord, PriceSource, Pricing } from '../../engine/index.ts'
import { asText, isObject, isSameModel, placesOf } from '../../engine/kit.ts'
import shipped from './prices.json' with { type: 'json' }

/** The price of a model of a vendor, and the public page on which it stood. */
export interface ListedPrice extends PriceSource {
  readonly vendor: string
  /** The vendor's name of the model. */
  readonly model: string
  /** In USD per million tokens, as in the record of a model. */
  readonly pricing: Pricing
}

/** The list that comes with the gateway. A price that ends on a known day is not in it. */
export const shippedPrices: readonly ListedPrice[] = shipped

/** The vendors of the list, by the hosts of their own APIs. Regions of a vendor have prices of their own. */
const vendors: ReadonlyMap<string, string> = new Map([
  ['api.openai.com', 'openai'],
  ['api.anthropic.com', 'anthropic'],
])

/** Adds the listed price to a model whose record has none. Undefined: it has one, or not all its places have the same. */
export function withListedPrice(
  model: ModelRecord,
  provider: (name: string) => JsonObject | undefined,
): ModelRecord | undefined {
  if (model.pricing !== undefined) return undefined
  const [first, ...others] = placesOf(model).map((place) => listedPrice(provider(place.provider), place.upstream_model))
  if (first === undefined || others.some((other) => other !== first)) return undefined
  const { pricing, source, date } = first
  return { ...model, pricing, listed: { source, date } }
}

/** The row of what a provider calls a model: by its name, or by its name with a date behind it. */
function listedPrice(provider: JsonObject | undefined, upstreamModel: string): ListedPrice | undefined {
  const vendor = provider && vendorOf(provider)
  if (vendor === undefined) return undefined
  return shippedPrices.find((row) => row.vendor === vendor && isSameModel(row.model, upstreamModel))
}

/** The vendor whose own API every address of a provider belongs to. Others may serve its models at other prices. */
function vendorOf({ base_url: base, endpoint_base_urls: moved }: JsonObject): string | undefined {
  const [vendor, ...others] = [base, ...Object.values(isObject(moved) ? moved : {})].map((address) =>
    vendors.get(URL.parse(asText(address))?.host ?? ''),
  )
  return others.every((other) => other === vendor) ? vendor : undefined
}
