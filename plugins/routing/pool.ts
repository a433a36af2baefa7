import { GatewayError } from '../../engine/index.ts'
import type { Candidate, Envelope, Host, Mode, ModelRecord, Services } from '../../engine/index.ts'
import { Places } from './places.ts'

/** An eligible model with its places that are on. */
export interface Pooled {
  readonly model: ModelRecord
  readonly candidates: readonly Candidate[]
}

/** The models that virtual models choose from, for the requests of one pipeline. */
export class Pool {
  readonly #places: Places
  readonly #eligible: () => readonly ModelRecord[]
  readonly #known = new Map<string, readonly Pooled[]>()
  /** Why the provider of an eligible model is off. */
  #off: string | undefined

  constructor(host: Host, routing: Services['smart_routing']) {
    this.#places = new Places(host)
    this.#eligible = () => routing.eligible(host.catalog)
  }

  /** The models that can serve a request. Throws if there is none. */
  of(request: Envelope, mode: Mode): readonly Pooled[] {
    const { protocol } = request
    let pooled = this.#known.get(protocol)
    if (!pooled) this.#known.set(protocol, (pooled = this.#find(request)))
    if (pooled.length > 0) return request.missing ? knowing(pooled, request, request.missing) : pooled
    if (this.#off !== undefined) throw new GatewayError('provider_off', { model: mode, reason: this.#off })
    const reason = `No eligible model serves ${protocol}.`
    throw new GatewayError('no_available_models', { reason }, { param: 'model' })
  }

  #find(request: Envelope): readonly Pooled[] {
    return this.#eligible().flatMap((model) => {
      const all = this.#places.of(model, request)
      const candidates = all.filter(({ provider }) => provider.off === undefined)
      this.#off ??= all.find(({ provider }) => provider.off !== undefined)?.provider.off
      return candidates.length > 0 ? [{ model, candidates }] : []
    })
  }
}

/**
 * The models at providers that may know a part of the conversation that is unknown here: the one that has stored it, if
 * that is known, otherwise all that speak the protocol of the client.
 */
function knowing(pooled: readonly Pooled[], { protocol }: Envelope, missing: GatewayError): readonly Pooled[] {
  const holder = missing.facts['origin']
  const found = pooled.flatMap(({ model, candidates }) => {
    const own = candidates.filter(
      ({ offer, origin }) => offer.protocol === protocol && (holder === undefined || origin === holder),
    )
    return own.length > 0 ? [{ model, candidates: own }] : []
  })
  if (found.length === 0) throw missing
  return found
}
