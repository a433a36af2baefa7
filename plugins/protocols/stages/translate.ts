import { GatewayError, defineStage, noConfig, sealPrefix, spliceField, spliceString } from '../../../engine/index.ts'
import type { Candidate, Envelope, Host, Upstream } from '../../../engine/index.ts'

/** Prints the request for the provider: the client's own bytes where both speak one protocol, else a translation. */
export default defineStage({
  name: 'translate',
  summary: "Print the request in the provider's protocol; equal protocols keep the client's bytes.",
  config: noConfig,
  needs: ['request', 'model'],
  provides: ['upstream'],
  build:
    (_, host) =>
    ({ request, model }) => ({
      upstream: relays(request, model, host) ? same(request, model) : translated(request, model, host),
    }),
})

/** Whether the client's bytes can go as they are. A seal packed here is readable here alone: it takes a translation. */
function relays({ protocol, raw }: Envelope, { offer }: Candidate, host: Host): boolean {
  return offer.protocol === protocol && !(raw.includes(sealPrefix) && host.codec(protocol).request)
}

function same(request: Envelope, { model }: Candidate): Upstream {
  return { same: true, body: renamed(request, model.upstream_model), contentType: request.contentType, losses: [] }
}

function renamed({ model, modelAt, raw, contentType }: Envelope, name: string): Buffer {
  if (contentType !== 'application/json') return spliceField(raw, contentType, 'model', name)
  if (!modelAt) throw new GatewayError('invalid_value', { param: 'model', reason: 'it stands there more than once' })
  return model === name ? raw : spliceString(raw, modelAt, name)
}

function translated(request: Envelope, { model, offer, origin }: Candidate, host: Host): Upstream {
  const neutral = request.neutral(request.operation)
  if (offer.protocol === undefined) return { same: false, losses: [] }
  const codec = host.codec(offer.protocol)
  if (!codec.request)
    throw new GatewayError('unsupported', { model: model.name, reason: `nothing translates to ${codec.protocol}` })
  const { body, losses, restore } = codec.request.print(neutral, {
    model: model.upstream_model,
    record: model,
    offer,
    origin,
  })
  return {
    same: false,
    body: Buffer.from(JSON.stringify(body)),
    contentType: 'application/json',
    losses,
    ...(restore ? { restore } : {}),
  }
}
