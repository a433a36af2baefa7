import type { JsonObject } from '../../engine/index.ts'
import { asText } from '../../engine/kit.ts'
import { inPieces } from './in-pieces.ts'
import type { Listed } from './price-list.ts'

/** Finds what a list says about a model of a provider. */
export type FindListed = (provider: JsonObject | undefined, upstreamModel: string) => Listed | undefined

/**
 * Finds entries by vendor and model; otherwise by the model alone, if only one vendor has it. The vendor of a provider
 * is its preset, or a part of the host name of its address. A model may be written with its vendor: `vendor/model`.
 */
export async function listedFinder(entries: readonly Listed[]): Promise<FindListed> {
  const byModel = new Map<string, Listed[]>()
  await inPieces(entries, (entry) => {
    const known = byModel.get(entry.model)
    if (known) known.push(entry)
    else byModel.set(entry.model, [entry])
  })
  return (provider, upstreamModel) => {
    const vendors = vendorsOf(provider)
    const found = byModel.get(upstreamModel) ?? []
    const own = found.find(({ vendor }) => vendors.includes(plain(vendor)))
    if (own) return own
    if (found.length === 1) return found[0]
    const [vendor = '', ...rest] = upstreamModel.split('/')
    return byModel.get(rest.join('/'))?.find((one) => plain(one.vendor) === plain(vendor))
  }
}

/** The words by which a list may name the vendor of a provider. */
function vendorsOf(provider: JsonObject | undefined): readonly string[] {
  const { preset, base_url: address } = (provider?.['config'] ?? {}) as JsonObject
  const labels = URL.parse(asText(address))?.hostname.split('.') ?? []
  return [asText(preset), ...(labels.length > 1 ? labels : [])].map(plain).filter((word) => word !== '')
}

/** A list may write the name of a vendor in another way: with other separators, or with `ai` behind it. */
function plain(vendor: string): string {
  const word = vendor.toLowerCase().replaceAll(/[^a-z0-9]/g, '')
  return word.length > 4 ? word.replace(/ai$/, '') : word
}
