import { GatewayError, defineStage, noConfig, passedOver } from '../../engine/index.ts'
import {
  BytesBody,
  FieldNames,
  cutMembers,
  pasteMembers,
  putMembers,
  spliceField,
  spliceString,
} from '../../engine/kit.ts'
import type {
  Amendment,
  AnyClientCodec,
  Body,
  Candidate,
  Envelope,
  Host,
  JsonObject,
  Loss,
  Operation,
  RequestOf,
  Services,
  Upstream,
} from '../../engine/index.ts'
import { byteLane } from './lane.ts'
import { refuseLost } from './lost-content.ts'
import { cuttable } from './stop-cut.ts'
import { searchPolicy } from './search-policy.ts'
import type { SearchPolicy } from './search-policy.ts'

/** Prints the request for the provider: the client's bytes if both speak the same protocol, otherwise a translation. */
export default defineStage({
  name: 'translate',
  summary: "Print the request in the provider's protocol; equal protocols keep the client's bytes.",
  config: noConfig,
  needs: ['request', 'model'],
  provides: ['upstream'],
  uses: ['web_search', 'request_policy'],
  build: (_, host, { web_search: searches, request_policy: { prompt_caching: caching, lost_content: lost } }) => {
    const policy = searchPolicy(searches)
    const relays = byteLane(host, searches)
    return ({ request, model }) => {
      if (request.missing && model.offer.protocol !== request.protocol) throw request.missing
      const codec = host.codec(request.protocol)
      if (!codec.request && model.offer.protocol !== request.protocol) throw unable(model)
      const whole = () => {
        const changed = policy !== undefined && codec.request?.searches?.(request.body) === true
        const upstream = translated(request, model, host, { caching, policy: changed ? policy : undefined })
        if (lost === 'refuse') refuseLost(request, upstream.losses)
        return upstream
      }
      if (!relays(request, model)) return { upstream: whole() }
      const upstream = same(request, model, codec)
      return { upstream: request.exact || !codec.request ? upstream : { ...upstream, whole } }
    }
  },
})

/** For a place that cannot do what is asked for; another place of the model may. */
function unable({ provider }: Candidate): GatewayError {
  const reason = `the provider "${provider.name}" cannot do it`
  return new GatewayError('unsupported', { reason }, { tags: [passedOver, '5xx'] })
}

function same(request: Envelope, { model, offer }: Candidate, codec: AnyClientCodec): Upstream {
  const { contentType, exact, body } = request
  const amended = codec.relay?.amend?.(request, offer, model.upstream_model)
  // A completed request must be printed again. Without a printer, its body is serialized unchanged.
  const printed =
    exact || codec.request
      ? renamed(request, model.upstream_model, codec)
      : new BytesBody(Buffer.from(JSON.stringify({ ...body, model: model.upstream_model, routing: undefined })))
  const plain: Upstream = { same: true, body: printed, contentType, losses: request.losses }
  // Only JSON is amended, and JSON is always in memory.
  if (!amended || !printed.bytes) return plain
  const amendedBody = new BytesBody(putMembers(printed.bytes, body, amended.fields))
  return {
    ...plain,
    body: amendedBody,
    losses: [...plain.losses, ...(amended.losses ?? [])],
    ...adding(amended, plain),
  }
}

/** The request without the fields that its provider may refuse. */
function adding(amended: Amendment, without: Upstream): Pick<Upstream, 'added'> {
  if (!amended.refused) return {}
  return { added: { refused: (failure) => amended.refused?.(failure) === true, without: () => without } }
}

const modelAndRouting = new FieldNames(['model', 'routing'])

/** The client's bytes with the provider's name for the model, and without `routing`, which is for the gateway. */
function renamed({ model, modelAt, raw, contentType, body }: Envelope, name: string, codec: AnyClientCodec): Body {
  if (codec.located) return withoutLocated({ modelAt, raw, body }, codec.located.fields)
  if (!modelAt) throw new GatewayError('invalid_value', { param: 'model', reason: 'it is there more than once' })
  if (raw.bytes && contentType === 'application/json' && Object.hasOwn(body, 'routing'))
    return new BytesBody(pasteMembers(cutMembers(raw.bytes, modelAndRouting), { model: name }))
  if (model === name) return raw
  return contentType === 'application/json' ? spliceString(raw, modelAt, name) : spliceField(raw, modelAt, name)
}

/** The client's bytes without `routing`, and without fields for which the upstream's protocol has a place in the address. */
function withoutLocated(
  { modelAt, raw, body }: Pick<Envelope, 'raw' | 'body'> & { modelAt: unknown },
  located: readonly string[],
): Body {
  if (!raw.bytes || (!modelAt && !Object.hasOwn(body, 'routing'))) return raw
  const { kept, tail } = cutMembers(raw.bytes, new FieldNames([...located, 'routing']))
  return new BytesBody(
    Buffer.concat([Buffer.from('{'), ...kept.flatMap((piece, at) => (at === 0 ? [piece] : [comma, piece])), tail]),
  )
}

const comma = Buffer.from(',')

/** The operator's settings for translations. */
interface Wishes {
  readonly caching: Services['request_policy']['prompt_caching']
  readonly policy: SearchPolicy | undefined
}

function translated(
  request: Envelope,
  { model, offer, origin }: Candidate,
  host: Host,
  { caching, policy }: Wishes,
): Upstream {
  const neutral = request.neutral(request.operation)
  if (offer.protocol === undefined) return { same: false, ...cutting(stopsOf(request), request.losses) }
  const changed = policy?.(request.neutral('generate'))
  const codec = host.upstreamCodec(offer.protocol)
  const own = offer.protocol === request.protocol ? host.codec(request.protocol) : undefined
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
    // A client of the provider's own protocol sets its own cache marks.
    caching: own ? 'off' : cachingOf(caching, neutral),
  })
  const upstream = (body: JsonObject): Upstream => ({
    same: false,
    body: new BytesBody(Buffer.from(JSON.stringify(body))),
    contentType: 'application/json',
    ...cutting(cuts, [...request.losses, ...(changed?.losses ?? []), ...losses]),
    ...(restore ? { restore } : {}),
  })
  const { headers } = request
  const amended = own?.relay?.amend?.({ body, headers }, offer, model.upstream_model)
  return amended ? { ...upstream({ ...body, ...amended.fields }), ...adding(amended, upstream(body)) } : upstream(body)
}

/**
 * Whether to set cache marks. A write to the cache costs more than plain input, so it must be likely that the prompt
 * comes again: a conversation that has begun goes on.
 */
function cachingOf(caching: Wishes['caching'], request: RequestOf<Operation>): Wishes['caching'] {
  if (caching !== 'auto' || !('items' in request)) return caching
  const begun = request.items.some(
    (item) => item.type === 'call' || (item.type === 'message' && item.role === 'assistant'),
  )
  return begun ? 'auto' : 'asked'
}

/** Losses of a provider that answers in neutral form. */
function stopsOf(request: Envelope): readonly string[] {
  return (request.operation === 'generate' && request.neutral('generate').stop) || []
}

function cutting(stops: readonly string[], losses: readonly Loss[] = []): Pick<Upstream, 'cuts' | 'losses'> {
  if (stops.length === 0) return { losses }
  const { cuts, losses: lost } = cuttable(stops)
  return { losses: [...losses, ...lost], ...(cuts.length > 0 ? { cuts } : {}) }
}
