import { GatewayError, defineStage, noConfig } from '../../engine/index.ts'
import { answerOnByteLane, parseVerbatim, unfold } from '../../engine/kit.ts'
import type {
  AnswerContent,
  AnyUpstreamCodec,
  GenerateEvent,
  GenerateReply,
  Json,
  Loss,
  Metered,
  Measurement,
  Operation,
  Reply,
  ReplyOf,
  Source,
  Upstream,
  UpstreamAnswer,
} from '../../engine/index.ts'
import { refused } from './refusal.ts'
import { nameless, named } from './answer-model.ts'
import { asked } from './answer-context.ts'
import type { ClientAnswer, AnswerContext } from './answer-context.ts'
import { shown } from './failure.ts'
import { passesOn, relayed } from './relayed.ts'
import { cutReply } from './stop-cut.ts'
import { Released, kept } from './told-call.ts'
import { unitsOf } from './units.ts'
import { EventHandlers } from './event-handlers.ts'
import type { Surroundings } from './event-handlers.ts'
import { foldAll, folded, fromNeutral, written } from './written.ts'

const shownLosses = 20

/** The upstream request of an answer that a stage gave in place of a provider: none was sent. */
const unsent: Upstream = { same: false, losses: [] }

/** Gives the client its answer: relayed between equal protocols, otherwise translated as it arrives. */
export default defineStage({
  name: 'translate-back',
  summary: "Give the answer in the client's protocol.",
  config: noConfig,
  needs: ['request', 'model', 'answer'],
  reads: ['upstream'],
  provides: ['reply', 'measurement'],
  // Who took something for the exchange settles when no judgement of its answer is out any more.
  settles: [],
  // A stream becomes a whole answer only at the end of the stream.
  timeout: '1h',
  uses: ['request_policy', 'tokens', 'prices'],
  build: (_, host, { request_policy: { answer_model: naming }, tokens, prices }) => {
    return ({ request, model, upstream = unsent, answer }, scope, settle) => {
      const codec = host.codec(request.protocol)
      const handlers = handlersOf(answer, false, { host, scope })
      const exchange: AnswerContext = {
        request,
        candidate: model,
        upstream,
        scope,
        host,
        tokens,
        used: (reported) => prices.addFailed(scope, model.model.pricing, reported),
        codec,
        named: naming === 'gateway',
        handlers,
        released: handlers?.hasGates === true ? Released.of(scope, request) : undefined,
        shown: handlersOf(answer, true, { host, scope }),
      }
      if (handlers?.hasGates) settle(() => handlers.judged())
      const fail = (error: unknown): never => {
        const failure = told(error, exchange)
        handlers?.end(failure)
        exchange.shown?.end(failure)
        throw failure
      }
      try {
        const given = back(exchange, answer)
        return given instanceof Promise ? given.then((one) => replied(exchange, one), fail) : replied(exchange, given)
      } catch (error) {
        return fail(error)
      }
    }
  },
})

/** The handlers that change an answer for this client alone, or the others. */
function handlersOf({ handlers }: UpstreamAnswer, shown: boolean, place: Surroundings): EventHandlers | undefined {
  if (handlers.length === 0) return undefined
  const wanted = handlers.filter((handler) => 'shown' in handler === shown)
  return wanted.length === 0 ? undefined : new EventHandlers(wanted, place)
}

function replied(
  exchange: AnswerContext,
  { body, measurement, losses }: ClientAnswer,
): { reply: Reply; measurement: Measurement } {
  return { reply: { status: 200, headers: headers(exchange, losses), body }, measurement }
}

/**
 * A failure inside an answer with a success status, as if the provider had answered with the failure's status. Failures
 * in neutral form already have the gateway's own wording.
 */
function told(error: unknown, { candidate, host }: AnswerContext): unknown {
  return error instanceof GatewayError && error.code === 'upstream_error' && candidate.offer.protocol !== undefined
    ? refused(error.failure, candidate.model.name, host)
    : error
}

function back(exchange: AnswerContext, given: UpstreamAnswer): ClientAnswer | Promise<ClientAnswer> {
  const { request, scope } = exchange
  const relays = answerOnByteLane(exchange.upstream, given)
  if (!relays) scope.call?.tell({ lane: 'translated' })
  const readers = { replyOf: (one: WholeAnswer) => replyOf(exchange, one), reader: () => readerOf(exchange) }
  const answer = exchange.released ? given : kept(given, request, scope, readers)
  switch (answer.kind) {
    case 'whole':
      // A client that requested a stream gets events, even if the provider did not stream.
      if (relays && !(exchange.request.stream && exchange.codec.events)) return whole(exchange, answer)
      return printed(exchange, replyOf(exchange, answer))
    case 'bytes':
      return {
        body: { kind: 'stream', source: answer.source, type: answer.type },
        measurement: measurementOf(unitsOf(exchange, null)),
        losses: [],
      }
    case 'events':
      // A client that did not request a stream gets one answer, even if the provider streamed.
      return relays && passesOn(exchange) && (exchange.request.stream || !exchange.codec.events)
        ? relayed(exchange, seen(exchange, answer.source))
        : events(exchange, answer.source)
    case 'neutral-events':
      if (exchange.request.stream) return fromNeutral(exchange, answer.events)
      return Array.fromAsync(answer.events).then((all) => printed(exchange, foldAll(exchange, all)))
    case 'neutral-reply': {
      const reply = printed(exchange, answer.reply)
      if (!answer.unasked) return reply
      return reply instanceof Promise ? reply.then(unasked) : unasked(reply)
    }
  }
}

/** The provider's whole answer in neutral form. */
function replyOf(exchange: AnswerContext, { bytes, body }: WholeAnswer): ReplyOf<Operation> {
  const { upstream, candidate } = exchange
  const codec = upstreamCodec(exchange, 'reply')
  // An answer that was to be relayed was not parsed for printing.
  const unread = upstream.same && codec.verbatim
  const value = unread ? (parseVerbatim(bytes.toString(), unread) as Json) : body
  return codec.parse(value, upstream.restore, candidate.offer)
}

/** A relayed stream, watched if a stage wants to watch it. */
function seen(exchange: AnswerContext, source: Source): Source {
  return exchange.handlers?.watched(source, readerOf(exchange), (event) => shown(event, exchange)) ?? source
}

function readerOf(exchange: AnswerContext) {
  return upstreamCodec(exchange, 'events').parser(exchange.upstream.restore, exchange.candidate.offer)
}

function events(exchange: AnswerContext, source: Source): ClientAnswer | Promise<ClientAnswer> {
  const reader = readerOf(exchange)
  if (exchange.request.stream) return written(exchange, source, reader)
  return folded(exchange, source, reader).then((reply) => printed(exchange, reply))
}

const none: readonly never[] = []

type WholeAnswer = Extract<AnswerContent, { kind: 'whole' }>

function whole(exchange: AnswerContext, answer: WholeAnswer): ClientAnswer {
  const { codec, upstream, candidate, named: own, handlers } = exchange
  const { bytes, body, type } = answer
  handlers?.look(() => replyOf(exchange, answer) as GenerateReply)
  const shown = body === null ? undefined : codec.relay?.shown?.(bytes, asked(exchange))
  const measurement = new WholeMeasurement(exchange, body, shown?.unshown)
  const visible = shown?.bytes ?? bytes
  const given = own && body !== null ? named(visible, candidate.model.name) : visible
  return { body: { kind: 'bytes', bytes: given, type }, measurement, losses: upstream.losses }
}

/** Measures a whole answer when somebody asks, once. */
class WholeMeasurement implements Measurement {
  readonly #exchange: AnswerContext
  readonly #body: Json
  readonly #unshown: ReturnType<NonNullable<Measurement['unshown']>>
  #read: ReturnType<Measurement['read']> | undefined

  constructor(exchange: AnswerContext, body: Json, unshown: ReturnType<NonNullable<Measurement['unshown']>>) {
    this.#exchange = exchange
    this.#body = body
    this.#unshown = unshown
  }

  read(): ReturnType<Measurement['read']> {
    if (this.#read) return this.#read
    const { meter } = this.#exchange.codec
    const metered = this.#body === null ? undefined : meter?.reply(this.#body)
    return (this.#read = { ...metered, ...unitsOf(this.#exchange, this.#body), complete: true, losses: none })
  }

  unshown(): ReturnType<NonNullable<Measurement['unshown']>> {
    return this.#unshown
  }
}

/** A whole answer in the client's protocol: one body, or events if the client requested a stream. */
function printed(exchange: AnswerContext, answered: ReplyOf<Operation>): ClientAnswer | Promise<ClientAnswer> {
  const { request, upstream, handlers } = exchange
  const cut = upstream.cuts && 'items' in answered ? cutReply(answered, upstream.cuts) : answered
  if (!('items' in cut)) return printedReply(exchange, cut, cut)
  // Gates judge all of it before the client gets anything, so that another candidate can still be asked.
  if (request.stream && !handlers?.hasGates) return fromNeutral(exchange, streamed(cut))
  const given = handlers ? passed(exchange, handlers, cut) : cut
  const print = (reply: GenerateReply) => {
    exchange.released?.whole(reply)
    return printedOrStreamed(exchange, cut, reply)
  }
  return given instanceof Promise ? given.then(print) : print(given)
}

/** What the handlers make of a whole answer. What was used for one that they refuse is billed. */
function passed(
  exchange: AnswerContext,
  handlers: EventHandlers,
  reply: GenerateReply,
): GenerateReply | Promise<GenerateReply> {
  const refused = (error: unknown): never => {
    if (reply.usage) exchange.used({ usage: reply.usage })
    throw error
  }
  try {
    const given = handlers.reply(reply)
    return given instanceof Promise ? given.catch(refused) : given
  } catch (error) {
    return refused(error)
  }
}

/** @param billed what the provider answered */
function printedOrStreamed(
  exchange: AnswerContext,
  billed: GenerateReply,
  reply: GenerateReply,
): ClientAnswer | Promise<ClientAnswer> {
  if (!exchange.request.stream) return printedReply(exchange, billed, reply)
  const given = { ...reply, ...(billed.usage ? { usage: billed.usage } : {}) }
  return fromNeutral({ ...exchange, handlers: undefined, released: undefined }, streamed(given))
}

function printedReply(exchange: AnswerContext, billed: ReplyOf<Operation>, reply: ReplyOf<Operation>): ClientAnswer {
  const { codec, request, upstream, shown } = exchange
  const metered = {
    ...(billed.usage ? { usage: billed.usage } : {}),
    ...('further' in billed && billed.further ? { further: billed.further } : {}),
    ...(reply.model === undefined ? {} : { model: reply.model }),
    ...('stop' in reply ? { stop: reply.stop, ...(reply.id === undefined ? {} : { id: reply.id }) } : {}),
  }
  const { reply: printer } = codec
  if (!printer)
    throw new GatewayError('invalid_request_error', {
      model: request.model,
      reason: `${codec.protocol} prints no answers`,
    })
  const print = (one: ReplyOf<Operation>) => printer.print(exchange.named ? nameless(one) : one, asked(exchange))
  const stored = print(reply)
  // Only gates make one wait.
  const { body, losses } = shown && 'items' in reply ? print(shown.reply(reply) as GenerateReply) : stored
  const text = () => JSON.stringify(stored.body)
  const measurement: Measurement = {
    ...measurementOf(metered, losses),
    unshown: () => stored.unshown,
    ...(shown ? { stored: () => [{ data: text() }], recorded: (take) => take(text()) } : {}),
  }
  return { body: { kind: 'json', value: body }, measurement, losses: [...upstream.losses, ...losses] }
}

async function* streamed(reply: GenerateReply): AsyncGenerator<GenerateEvent> {
  yield* unfold(reply)
}

/** The parsers of answers and streams in the provider's protocol. */
function upstreamCodec<P extends 'reply' | 'events'>(
  { candidate, host }: AnswerContext,
  part: P,
): NonNullable<AnyUpstreamCodec[P]> {
  const codec = host.upstreamCodec(candidate.offer.protocol ?? '')
  const reading = codec[part]
  if (reading) return reading
  throw new GatewayError('invalid_request_error', {
    model: candidate.model.name,
    reason: `nothing translates from ${codec.protocol}`,
  })
}

/** An answer for which no provider was called. */
function unasked(answer: ClientAnswer): ClientAnswer {
  const { measurement } = answer
  return { ...answer, measurement: { ...measurement, read: () => ({ ...measurement.read(), unasked: true }) } }
}

function measurementOf(metered: Metered, losses: readonly Loss[] = []): Measurement {
  const read = { ...metered, complete: true, losses }
  return { read: () => read }
}

function headers({ candidate }: AnswerContext, losses: readonly Loss[]): Record<string, string> {
  const named: Record<string, string> = {
    'x-gateway-model': candidate.model.name,
    'x-gateway-provider': candidate.provider.name,
  }
  if (losses.length > 0) named['x-gateway-losses'] = lossNames(losses)
  return named
}

/** The first names of lost fields, and the number of the others: a client can invent any number of fields. */
function lossNames(losses: readonly Loss[]): string {
  const names = [...new Set(losses.map(({ field }) => field.slice(0, 64)))]
  const shown = names.slice(0, shownLosses).join(', ')
  return names.length > shownLosses ? `${shown}, +${names.length - shownLosses}` : shown
}
