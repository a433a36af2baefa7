import { GatewayError, defineStage } from '../../engine/index.ts'
import type { Candidate, Envelope, ModelRecord, Operation } from '../../engine/index.ts'
import { Places } from './places.ts'

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
  build: ({ model: pinned, instead, fallbacks }, host) => {
    const { catalog } = host
    const places = new Places(host, instead as Operation | undefined)
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
        const others = fallbacks ? model.fallbacks.flatMap((fallback) => catalog.find(fallback) ?? []) : []
        own.set(request.protocol, (found = candidates(model, others, { places, request })))
      }
      return { request: named, candidates: found }
    }
  },
})

interface Pinning {
  readonly places: Places
  readonly request: Envelope
}

function candidates(
  model: ModelRecord,
  fallbacks: readonly ModelRecord[],
  { places, request }: Pinning,
): readonly Candidate[] {
  const own = places.of(model, request)
  if (own[0] === undefined) {
    const reason = `its provider serves no ${request.protocol}`
    throw new GatewayError('invalid_request_error', { model: model.name, reason }, { param: 'model' })
  }
  const all = [...own, ...fallbacks.flatMap((fallback) => places.of(fallback, request))]
  const on = all.filter(({ provider }) => provider.off === undefined)
  if (on.length === 0) throw new GatewayError('provider_off', { model: model.name, reason: own[0].provider.off })
  return on
}
