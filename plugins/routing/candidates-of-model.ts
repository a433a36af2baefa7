import { GatewayError } from '../../engine/index.ts'
import type { Candidate, Envelope, Host, ModelRecord, Operation } from '../../engine/index.ts'
import { Places } from './places.ts'

/** The options of every stage that makes one model the candidates. */
export const pinningOptions = {
  instead: {
    type: 'string',
    description:
      'Operation to look for at a provider that does not offer the requested one; a later stage then answers.',
  },
  fallbacks: {
    type: 'boolean',
    default: true,
    'x-setting': 'resilience.fallbacks',
    description: 'Whether the fallbacks of the model are candidates, too.',
  },
} as const

interface Options {
  readonly instead?: string
  readonly fallbacks: boolean
}

interface Chosen {
  /** The request; one that named no model has the name. */
  readonly request: Envelope
  readonly candidates: readonly Candidate[]
}

/** Finds the candidates of a model, which are the same for all requests of a protocol. Throws if there is none. */
export function candidatesMaker(
  { instead, fallbacks }: Options,
  host: Host,
): (model: ModelRecord, name: string, request: Envelope) => Chosen {
  const places = new Places(host, instead as Operation | undefined)
  const known = new WeakMap<ModelRecord, Map<string, readonly Candidate[]>>()
  return (model, name, request) => {
    const named = request.model === '' ? request.rewrite((body) => ({ ...body, model: name })) : request
    let own = known.get(model)
    if (!own) known.set(model, (own = new Map()))
    let found = own.get(request.protocol)
    if (!found) {
      const others = fallbacks ? model.fallbacks.flatMap((fallback) => host.catalog.find(fallback) ?? []) : []
      own.set(request.protocol, (found = candidates(model, others, places, request)))
    }
    return { request: named, candidates: found }
  }
}

function candidates(
  model: ModelRecord,
  fallbacks: readonly ModelRecord[],
  places: Places,
  request: Envelope,
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
