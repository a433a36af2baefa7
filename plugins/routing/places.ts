import { placesOf } from '../../engine/kit.ts'
import type {
  Candidate,
  Catalog,
  Envelope,
  Host,
  ModelRecord,
  Offer,
  OpenProvider,
  Operation,
} from '../../engine/index.ts'

/** The part of a request that decides where it can be served. */
type Wanted = Pick<Envelope, 'protocol' | 'operation'>

/** Finds where models are served. */
export class Places {
  readonly #catalog: Catalog
  /** Protocols that have a translation. */
  readonly #translated: ReadonlySet<string>
  readonly #instead: Operation | undefined

  /** @param instead operation of the offer to use at a provider that does not offer the wanted one */
  constructor({ catalog, codecs }: Pick<Host, 'catalog' | 'codecs'>, instead?: Operation) {
    this.#catalog = catalog
    this.#translated = new Set(codecs.filter(({ request }) => request).map(({ protocol }) => protocol))
    this.#instead = instead
  }

  /** The places of a model that serve a request, in the order of its record; those that are off are among them. */
  of(model: ModelRecord, wanted: Wanted): readonly Candidate[] {
    return placesOf(model).flatMap(({ provider: name, upstream_model }, index) => {
      const record = index === 0 ? model : { ...model, provider: name, upstream_model }
      const provider = this.#catalog.provider(name)
      const offer = provider && this.#bestOffer(record, provider, wanted)
      return provider && offer ? [{ model: record, provider, offer, origin: origin(record, provider) }] : []
    })
  }

  /**
   * The offer to use: the client's protocol if the provider speaks it, otherwise the model's or provider's preference.
   */
  #bestOffer(model: ModelRecord, provider: OpenProvider, { protocol: asked, operation }: Wanted): Offer | undefined {
    const { protocols } = model
    const translated = this.#translated
    const reaches = ({ protocol }: Offer) =>
      protocol === asked || (translated.has(asked) && (protocol === undefined || translated.has(protocol)))
    const wanted = ({ protocol }: Offer) =>
      protocols === undefined || protocol === undefined || protocols.includes(protocol)
    const rank = ({ protocol }: Offer) => (protocol === asked ? -1 : (protocols?.indexOf(protocol ?? '') ?? 0))
    const [best] = provider.offers
      .filter((offer) => offer.operation === operation && reaches(offer) && wanted(offer))
      .sort((one, other) => rank(one) - rank(other))
    return best ?? provider.offers.find((offer) => offer.operation === this.#instead)
  }
}

/**
 * Provider and model family, such as `openai/gpt`: only the same origin can read its sealed reasoning again. A region and
 * a vendor may stand before the model's own name: `eu.anthropic.claude-…`. An ARN ends with that name, or with an id that
 * says nothing of the model, which then is a family of its own.
 */
function origin({ upstream_model }: ModelRecord, { name }: OpenProvider): string {
  const [, kind, named] = /^arn:(?:[^:/]{0,32}:){4}([a-z-]{1,64})\/(.+)$/.exec(upstream_model) ?? []
  if (kind !== undefined && kind !== 'foundation-model' && kind !== 'inference-profile')
    return `${name}/${upstream_model}`
  const [, family = ''] = /^(?:[a-z-]{1,32}\.){0,3}([a-z]*)/i.exec(named ?? upstream_model) ?? []
  return `${name}/${family.toLowerCase()}`
}
