import {
  BytesBody,
  GatewayError,
  defineStage,
  noConfig,
  putMembers,
  sealPrefix,
  spliceField,
  spliceString,
  unpackSeal,
} from '../../../engine/index.ts'
import type { AnyCodec, Body, Candidate, Envelope, Host, Loss, Upstream } from '../../../engine/index.ts'
import { cuttable } from './stop-cut.ts'
import { searchPolicy } from './web-search.ts'
import type { SearchPolicy } from './web-search.ts'

/** Prints the request for the provider: the client's own bytes where both speak one protocol, else a translation. */
export default defineStage({
  name: 'translate',
  summary: "Print the request in the provider's protocol; equal protocols keep the client's bytes.",
  config: noConfig,
  needs: ['request', 'model'],
  provides: ['upstream'],
  build: (_, host) => {
    const policy = searchPolicy(host.catalog)
    return ({ request, model }) => {
      if (request.missing && model.offer.protocol !== request.protocol) throw request.missing
      const codec = host.codec(request.protocol)
      const changed = policy !== undefined && codec.request?.searches?.(request.body) === true
      const whole = () => translated(request, model, host, changed ? policy : undefined)
      if (changed || !relays(request, model, codec)) return { upstream: whole() }
      const upstream = same(request, model, codec)
      return { upstream: request.exact || !codec.request ? upstream : { ...upstream, whole } }
    }
  },
})

/** Whether the client's bytes can go as they are. A seal packed here is readable here alone: it takes a translation. */
function relays(request: Envelope, candidate: Candidate, codec: AnyCodec): boolean {
  if (candidate.offer.protocol !== request.protocol) return false
  return !codec.request || ((request.exact || holds(candidate, request)) && !holdsSeal(request.raw.bytes))
}

/** A string of JSON that is written like a seal from its first character to its last. */
const sealLike = new RegExp(`"(${sealPrefix.replace('.', '\\.')}[\\w-]+)"`, 'g')

/** Whether a seal packed here stands in a body. A text that only speaks of one is none. */
function holdsSeal(body: Buffer | undefined): boolean {
  if (!body?.includes(sealPrefix)) return false
  return body
    .toString('latin1')
    .matchAll(sealLike)
    .some(([, seal = '']) => unpackSeal(seal) !== undefined)
}

/** Whether the provider knows by itself what the request was completed with, and is to go on from what it knows. */
function holds({ origin, offer }: Candidate, { heldBy }: Envelope): boolean {
  return heldBy === origin && offer.traits?.['conversations'] === 'vendor'
}

function same(request: Envelope, { model, offer }: Candidate, codec: AnyCodec): Upstream {
  const { contentType, exact, body } = request
  const amended = codec.relay?.amend?.(request, offer)
  // What was completed has to be printed again; without a printer it is written down as it is.
  const printed =
    exact || codec.request
      ? renamed(request, model.upstream_model)
      : new BytesBody(Buffer.from(JSON.stringify({ ...body, model: model.upstream_model })))
  // What is amended is JSON, which is always in memory.
  if (!amended || !printed.bytes) return { same: true, body: printed, contentType, losses: [] }
  const amendedBody = new BytesBody(putMembers(printed.bytes, body, amended.fields))
  return { same: true, body: amendedBody, contentType, losses: amended.losses ?? [] }
}

/** The client's bytes with the provider's name for the model. */
function renamed({ model, modelAt, raw, contentType }: Envelope, name: string): Body {
  if (!modelAt) throw new GatewayError('invalid_value', { param: 'model', reason: 'it stands there more than once' })
  if (model === name) return raw
  return contentType === 'application/json' ? spliceString(raw, modelAt, name) : spliceField(raw, modelAt, name)
}

function translated(
  request: Envelope,
  { model, offer, origin }: Candidate,
  host: Host,
  policy: SearchPolicy | undefined,
): Upstream {
  const neutral = request.neutral(request.operation)
  if (offer.protocol === undefined) return { same: false, ...cutting(stopsOf(request)) }
  const changed = policy?.(request.neutral('generate'))
  const codec = host.codec(offer.protocol)
  if (!codec.request)
    throw new GatewayError('invalid_request_error', {
      model: model.name,
      reason: `nothing translates to ${codec.protocol}`,
    })
  const {
    body,
    losses,
    restore,
    cuts = [],
  } = codec.request.print(changed?.request ?? neutral, {
    model: model.upstream_model,
    record: model,
    offer,
    origin,
    // Who speaks the provider's own protocol sets marks by itself.
    caching: offer.protocol === request.protocol ? 'off' : host.catalog.settings.request_policy.prompt_caching,
  })
  return {
    same: false,
    body: new BytesBody(Buffer.from(JSON.stringify(body))),
    contentType: 'application/json',
    ...cutting(cuts, changed ? [...changed.losses, ...losses] : losses),
    ...(restore ? { restore } : {}),
  }
}

/** What a provider that answers the neutral form may not heed. */
function stopsOf(request: Envelope): readonly string[] {
  return (request.operation === 'generate' && request.neutral('generate').stop) || []
}

function cutting(stops: readonly string[], losses: readonly Loss[] = []): Pick<Upstream, 'cuts' | 'losses'> {
  if (stops.length === 0) return { losses }
  const { cuts, losses: lost } = cuttable(stops)
  return { losses: [...losses, ...lost], ...(cuts.length > 0 ? { cuts } : {}) }
}
