import { GatewayError, asGatewayError, defineStage, fold, noConfig, unfold } from '../../../engine/index.ts'
import type {
  Asked,
  AnyCodec,
  Candidate,
  Envelope,
  Failure,
  GenerateEvent,
  GenerateReply,
  Host,
  Loss,
  Metered,
  Meter,
  Reply,
  Scope,
  Source,
  Upstream,
  UpstreamAnswer,
} from '../../../engine/index.ts'
import { relayed } from './relayed.ts'
import { folded, fromNeutral, written } from './written.ts'

/** Gives the client its answer: relayed as it comes between equal protocols, else translated while it arrives. */
export default defineStage({
  name: 'translate-back',
  summary: "Give the answer in the client's protocol.",
  config: noConfig,
  needs: ['request', 'model', 'upstream', 'answer'],
  provides: ['reply', 'meter'],
  build:
    (_, host) =>
    async ({ request, model, upstream, answer }, scope) => {
      const exchange: Exchange = {
        request,
        candidate: model,
        upstream,
        scope,
        host,
        codec: host.codec(request.protocol),
      }
      const { body, meter, losses } = await back(exchange, answer)
      return { reply: { status: 200, headers: headers(exchange, losses), body }, meter }
    },
})

/** What giving an answer back takes. */
export interface Exchange {
  readonly request: Envelope
  readonly candidate: Candidate
  readonly upstream: Upstream
  readonly scope: Scope
  readonly host: Host
  /** The client's protocol. */
  readonly codec: AnyCodec
}

/** A body for the client, what tells its usage afterwards, and the losses known by now. */
export interface Back {
  readonly body: Reply['body']
  readonly meter: Meter
  readonly losses: readonly Loss[]
}

async function back(exchange: Exchange, answer: UpstreamAnswer): Promise<Back> {
  switch (answer.kind) {
    case 'whole':
      if (exchange.upstream.same) return whole(exchange.codec, answer)
      return printed(exchange, upstreamCodec(exchange).reply.parse(answer.body, exchange.upstream.restore))
    case 'bytes':
      return { body: { kind: 'stream', source: answer.source, type: answer.type }, meter: meterOf({}), losses: [] }
    case 'events':
      if (exchange.upstream.same) return relayed(exchange, answer.source)
      return events(exchange, answer.source)
    case 'neutral-events':
      if (exchange.request.stream) return fromNeutral(exchange, answer.events)
      return printed(exchange, fold(await Array.fromAsync(answer.events)))
    case 'neutral-reply':
      return printed(exchange, answer.reply)
  }
}

async function events(exchange: Exchange, source: Source): Promise<Back> {
  const reader = upstreamCodec(exchange).events.reader(exchange.upstream.restore)
  if (exchange.request.stream) return written(exchange, source, reader)
  return printed(exchange, await folded(source, reader))
}

function whole(codec: AnyCodec, { bytes, body, type }: Extract<UpstreamAnswer, { kind: 'whole' }>): Back {
  const read = () => ({ ...(body === null ? {} : codec.meter.reply(body)), complete: true, losses: [] })
  return { body: { kind: 'bytes', bytes, type }, meter: { read }, losses: [] }
}

/** A whole answer in the client's protocol, as one body or, when it asked to stream, as the events it amounts to. */
function printed(exchange: Exchange, reply: GenerateReply): Back {
  const { codec, request, upstream } = exchange
  const metered = {
    ...(reply.usage ? { usage: reply.usage } : {}),
    ...(reply.model === undefined ? {} : { model: reply.model }),
    stop: reply.stop,
    ...(reply.id === undefined ? {} : { id: reply.id }),
  }
  if (request.stream) return fromNeutral(exchange, streamed(reply))
  if (!codec.reply)
    throw new GatewayError('unsupported', { model: request.model, reason: `${codec.protocol} prints no answers` })
  const { body, losses } = codec.reply.print(reply, asked(exchange))
  const all = [...upstream.losses, ...losses]
  return { body: { kind: 'json', value: body }, meter: meterOf(metered, all), losses: all }
}

async function* streamed(reply: GenerateReply): AsyncGenerator<GenerateEvent> {
  yield* unfold(reply)
}

/** What the client asked, for the printers of its protocol. */
export function asked({ request, candidate, scope }: Exchange): Asked {
  return {
    id: scope.id,
    model: candidate.model.name,
    stream: request.stream,
    body: request.body,
    origin: candidate.origin,
  }
}

function upstreamCodec({ candidate, host }: Exchange): AnyCodec & Required<Pick<AnyCodec, 'reply' | 'events'>> {
  const codec = host.codec(candidate.offer.protocol ?? '')
  if (codec.reply && codec.events) return codec as AnyCodec & Required<Pick<AnyCodec, 'reply' | 'events'>>
  throw new GatewayError('unsupported', {
    model: candidate.model.name,
    reason: `nothing translates from ${codec.protocol}`,
  })
}

function meterOf(metered: Metered, losses: readonly Loss[] = []): Meter {
  return { read: () => ({ ...metered, complete: true, losses }) }
}

function headers({ candidate }: Exchange, losses: readonly Loss[]): Record<string, string> {
  const named: Record<string, string> = {
    'x-gateway-model': candidate.model.name,
    'x-gateway-provider': candidate.provider.name,
  }
  if (losses.length > 0) named['x-gateway-losses'] = [...new Set(losses.map(({ field }) => field))].join(', ')
  return named
}

/** Whatever broke a stream, as the client is to read it. */
export function failureOf(error: unknown): Failure {
  return asGatewayError(error).failure
}
