import { GatewayError, defineStage } from '../../engine/index.ts'
import { placesOf } from '../../engine/kit.ts'
import type { Candidate, Catalog, Envelope, ModelRecord, Offer, OpenProvider, Operation } from '../../engine/index.ts'

/**
 * Makes the requested model and then its fallbacks the candidates of the request, each at all its places. With `model`, the configured model
 * replaces the requested one. A request without a model gets its name, so that it can be validated afterwards.
 */
export default defineStage({
  name: 'pin',
  summary: 'Make the requested model and its fallbacks the candidates.',
  config: {
    type: 'object',
    additionalProperties: false,
    properties: {
      model: {
        type: 'string',
        'x-names': 'model',
        description: 'Model that replaces the requested one. Unset: the requested model.',
      },
      instead: {
        type: 'string',
        description:
          'Operation to pin a provider for if it does not offer the requested one; a later stage then answers.',
      },
      fallbacks: {
        type: 'boolean',
        default: true,
        'x-setting': 'resilience.fallbacks',
        description: 'Whether the fallbacks of the model are candidates, too.',
      },
    },
  } as const,
  needs: ['request'],
  reads: ['target'],
  insists: ({ model }) => (model === undefined ? ['target'] : []),
  provides: ['request', 'candidates'],
  build: ({ model: pinned, instead, fallbacks }, { catalog, codecs }) => {
    const translated = new Set(codecs.filter(({ request }) => request).map(({ protocol }) => protocol))
    const known = new WeakMap<ModelRecord, Map<string, readonly Candidate[]>>()
    return ({ request, target }) => {
      const name = pinned ?? target?.name ?? ''
      const model = pinned === undefined ? target?.model : catalog.find(pinned)
      if (!model) throw new GatewayError('model_not_found', { model: name }, { param: 'model' })
      const named = request.model === '' ? request.rewrite((body) => ({ ...body, model: name })) : request
      let own = known.get(model)
      if (!own) known.set(model, (own = new Map()))
      let found = own.get(request.protocol)
      if (!found) {
        const wanted = {
          catalog,
          translated,
          request,
          fallbacks,
          ...(instead === undefined ? {} : { instead: instead as Operation }),
        }
        own.set(request.protocol, (found = candidates(wanted, model)))
      }
      return { request: named, candidates: found }
    }
  },
})

interface Pinning {
  readonly catalog: Catalog
  /** Protocols that have a translation. */
  readonly translated: ReadonlySet<string>
  readonly request: Envelope
  readonly instead?: Operation
  readonly fallbacks: boolean
}

function candidates(pinning: Pinning, model: ModelRecord): readonly Candidate[] {
  const { catalog, request, fallbacks } = pinning
  const [own, ...others] = [
    model,
    ...(fallbacks ? model.fallbacks : []).flatMap((name) => catalog.find(name) ?? []),
  ].map((record) => placesWith(record, pinning))
  if (own?.[0] === undefined) {
    const reason = `its provider serves no ${request.protocol}`
    throw new GatewayError('invalid_request_error', { model: model.name, reason }, { param: 'model' })
  }
  const all = [...own, ...others.flat()]
  const on = all.filter(({ provider }) => provider.off === undefined)
  if (on.length === 0) throw new GatewayError('provider_off', { model: model.name, reason: own[0].provider.off })
  return on
}

/** The places of a model that serve the request, in the order of its record. */
function placesWith(model: ModelRecord, pinning: Pinning): readonly Candidate[] {
  return placesOf(model).flatMap(({ provider: name, upstream_model }, index) => {
    const record = index === 0 ? model : { ...model, provider: name, upstream_model }
    const provider = pinning.catalog.provider(name)
    const offer = provider && bestOffer(record, provider, pinning)
    return provider && offer ? [{ model: record, provider, offer, origin: origin(record, provider) }] : []
  })
}

/**
 * The offer to use: the client's protocol if the provider speaks it, otherwise the model's or provider's preference.
 */
function bestOffer(model: ModelRecord, provider: OpenProvider, pinning: Pinning): Offer | undefined {
  const { request, translated, instead } = pinning
  const { protocols } = model
  const reaches = ({ protocol }: Offer) =>
    protocol === request.protocol ||
    (translated.has(request.protocol) && (protocol === undefined || translated.has(protocol)))
  const wanted = ({ protocol }: Offer) =>
    protocols === undefined || protocol === undefined || protocols.includes(protocol)
  const rank = ({ protocol }: Offer) => (protocol === request.protocol ? -1 : (protocols?.indexOf(protocol ?? '') ?? 0))
  const [best] = provider.offers
    .filter((offer) => offer.operation === request.operation && reaches(offer) && wanted(offer))
    .sort((one, other) => rank(one) - rank(other))
  return best ?? provider.offers.find(({ operation }) => operation === instead)
}

/** Provider and model family, such as `openai/gpt`: only the same origin can read its sealed reasoning again. */
function origin({ upstream_model }: ModelRecord, { name }: OpenProvider): string {
  return `${name}/${/^[a-z]*/i.exec(upstream_model)?.[0].toLowerCase() ?? ''}`
}
