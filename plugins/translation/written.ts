import { GatewayError } from '../../engine/index.ts'
import {
  FrameDecoder,
  answerHold,
  asGatewayError,
  collect,
  encodeFrame,
  eventRoom,
  failed,
  fold,
  pull,
  through,
} from '../../engine/kit.ts'
import type {
  EventParser,
  EventPrinter,
  Failure,
  Frame,
  GenerateEvent,
  GenerateReply,
  Metered,
  Measurement,
  Source,
  TellingCall,
  Usage,
} from '../../engine/index.ts'
import { nameless } from './answer-model.ts'
import { estimated } from './estimated.ts'
import { cutShort, failureOf, shown } from './failure.ts'
import { isLast } from './gate-step.ts'
import { HeldStream } from './held-stream.ts'
import { StopCut } from './stop-cut.ts'
import type { EventHandlers } from './event-handlers.ts'
import type { ClientAnswer, AnswerContext } from './answer-context.ts'
import { asked, eventStream } from './answer-context.ts'

const nothing = new Uint8Array()

/** Most bytes of a stream that is collected into one answer. */
const gatherLimit = 64 * 1024 * 1024

/** Prints events for the client, after stages and stop sequences, and measures the exchange. */
class Writing {
  readonly #exchange: AnswerContext
  readonly #writer: EventPrinter<GenerateEvent>
  readonly #cut: StopCut | undefined
  readonly #handlers: EventHandlers | undefined
  readonly #shown: EventHandlers | undefined
  /** Prints what stages store, which is not what the client is shown; and what it printed last. */
  readonly #storing: EventPrinter<GenerateEvent> | undefined
  #stored: readonly Frame[] = []
  #record: ((text: string) => void) | undefined
  /** What it stored before the client was given anything, for a reply that waits for gates; undefined afterwards. */
  #early: string | undefined = ''
  #isStored = false
  /** Whether the printer sets the model's name itself. */
  readonly #named: boolean
  #usage: Usage | undefined
  #further: Metered['further']
  #model: string | undefined
  #id: string | undefined
  #stop: string | undefined
  #failure: Failure | undefined
  /** What is printed and not taken yet. */
  #text = ''
  /** Bytes of text from the provider. */
  #said = 0
  /** The provider has sent its terminal event, and whether that is no failure. */
  over = false
  #finished = false
  /** Whether an error ended the answer, which one, and whether the printer threw it. */
  isBroken = false
  #broken: unknown
  #isUnprintable = false
  readonly #call: TellingCall | undefined
  #read: ReturnType<Measurement['read']> | undefined
  /** The terminal event was printed; the client gets nothing after it. */
  ended = false
  /** Set while the client has not got a reply: takes the error of an answer that fails, instead of the client. */
  refused: ((error: unknown) => void) | undefined

  constructor(exchange: AnswerContext) {
    this.#exchange = exchange
    this.#writer = writerOf(exchange)
    this.#cut = exchange.upstream.cuts && new StopCut(exchange.upstream.cuts)
    this.#handlers = exchange.handlers
    this.#shown = exchange.shown
    if (this.#shown) this.#storing = writerOf(exchange)
    if (this.#handlers?.hasGates) this.#handlers.usage = () => this.#usageSoFar
    this.#call = exchange.scope.call
    this.#named = exchange.named
  }

  /** The bytes of the events that `take` is given. An error ends the answer as a failure, after what came before it. */
  write(giving: () => void): Uint8Array | undefined {
    this.run(giving)
    return this.printed()
  }

  /** The bytes with which an error ends the answer; none if it has ended before. */
  fail(error: unknown): Uint8Array {
    this.#break(error)
    return this.printed() ?? nothing
  }

  /** Like `write`; the bytes are taken later. */
  run(giving: () => void): void {
    try {
      giving()
    } catch (error) {
      this.#break(error)
    }
  }

  /** Events that gates have released. */
  release(events: readonly GenerateEvent[]): void {
    this.run(() => {
      for (const event of events) this.#give(event)
    })
  }

  /** A stop sequence or a stage ended the answer: the provider can stop. */
  get early(): boolean {
    return this.#cut?.sequence !== undefined || (this.ended && !this.over)
  }

  /** What was printed since the last call. */
  printed(): Uint8Array | undefined {
    const text = this.#text
    this.#text = ''
    this.#early = undefined
    return text === '' ? undefined : Buffer.from(text)
  }

  /** Takes an event of the answer; to be called by what `write` calls. */
  take(event: GenerateEvent): void {
    if (!this.#cut) return this.#pass(event)
    for (const one of this.#cut.write(event)) this.#pass(one)
    const { sequence } = this.#cut
    if (sequence === undefined || this.ended) return
    this.#pass({ type: 'finish', stop: 'stop', stopSequence: sequence, usage: this.#spent().usage })
  }

  #pass(event: GenerateEvent): void {
    if (this.over || this.isBroken) return
    this.#hear(event)
    this.#handle(event)
  }

  #handle(event: GenerateEvent): void {
    if (!this.#handlers) return this.#give(event)
    for (const one of this.#handlers.pass(event)) this.#give(one)
  }

  /** Takes an event that the stages have let pass. */
  #give(event: GenerateEvent): void {
    this.#exchange.released?.note(event)
    if (!this.#shown) return this.#write(event)
    this.#store(event)
    for (const one of this.#shown.pass(event)) this.#write(one)
  }

  #store(event: GenerateEvent): void {
    if (!this.#storing || this.#isStored) return
    this.#isStored = isLast(event)
    this.#stored = [...this.#storing.print(this.#told(event))]
    if (this.#record) for (const frame of this.#stored) this.#record(encodeFrame(frame))
    else if (this.#early !== undefined) for (const frame of this.#stored) this.#early += encodeFrame(frame)
  }

  #told(event: GenerateEvent): GenerateEvent {
    return this.#named && event.type === 'start' ? nameless(event) : event
  }

  /** Prints an event for the client. */
  #write(event: GenerateEvent): void {
    if (this.ended) return
    if (event.type === 'failure') return this.#fail(event.failure)
    try {
      for (const frame of this.#writer.print(this.#told(event))) this.#text += encodeFrame(frame)
    } catch (error) {
      this.#isUnprintable = true
      throw error
    }
    if (event.type !== 'finish') return
    this.#stop = event.stop
    this.ended = true
  }

  #break(error: unknown): void {
    // Gates may still hold the end.
    const isHeld = this.#handlers?.holds === true && !this.#isUnprintable
    if (this.ended || (isHeld && (this.over || this.isBroken))) return
    this.isBroken = true
    this.#broken = error
    const failure = failureOf(error, this.#exchange)
    const { host, scope } = this.#exchange
    const { code, cause } = asGatewayError(error)
    if (code === 'internal_error') host.log.error({ err: cause, id: scope.id }, 'an answer could not be written')
    const event = { type: 'failure', failure } as const
    try {
      for (const one of this.#cut?.write(event) ?? [event]) this.#handle(one)
    } catch {
      // What cannot be printed of a broken answer is lost with it.
    }
    // The handlers may have had their last event before.
    if (!this.ended && (this.#isUnprintable || !this.#handlers?.holds)) this.#fail(failure)
  }

  #fail(failure: Failure): void {
    this.ended = true
    this.#failure = failure
    if (this.refused)
      return this.refused(this.#handlers?.refusal ?? this.#broken ?? failed({ type: 'failure', failure }))
    this.#store({ type: 'failure', failure })
    for (const frame of this.#lastFrames(failure)) this.#text += encodeFrame(frame)
  }

  /** The protocol's own failing frames, if the printer cannot go on after an event that it could not print. */
  #lastFrames(failure: Failure): readonly Frame[] {
    const { codec } = this.#exchange
    try {
      const frames = [...this.#writer.print({ type: 'failure', failure })]
      if (frames.length > 0) return frames
    } catch {
      // Its state is that of the event that it could not print.
    }
    const told = asked(this.#exchange)
    return codec.keeper?.(told).end(failure) ?? codec.fail?.(failure, told) ?? []
  }

  /** The measurement, once nothing more is printed. */
  read(): ReturnType<Measurement['read']> {
    return (this.#read ??= {
      ...this.#metered(),
      ...(this.#further === undefined ? {} : { further: this.#further }),
      ...(this.#model === undefined ? {} : { model: this.#model }),
      ...(this.#stop === undefined ? {} : { stop: this.#stop }),
      ...(this.#id === undefined ? {} : { id: this.#id }),
      complete: this.#complete,
      ...(this.#failure ? { failure: this.#failure } : {}),
      losses: this.#writer.losses,
    })
  }

  get unshown() {
    return this.#writer.unshown
  }

  get stored(): readonly Frame[] {
    return this.#stored
  }

  /** Gives what it stores, all of it if the client has been given nothing. */
  recorded(take: (text: string) => void): void {
    this.#record = take
    if (this.#early) take(this.#early)
    this.#early = undefined
  }

  get #complete(): boolean {
    return this.ended && this.#failure === undefined
  }

  #metered(): Pick<Metered, 'usage' | 'estimated'> {
    // What the provider reported at its end is what it bills, whatever stages made of the answer.
    const isReported = this.#finished && this.#usage !== undefined && this.#cut?.sequence === undefined
    if (!isReported && (!this.#complete || this.early)) return this.#spent()
    return this.#usage ? { usage: this.#usage } : {}
  }

  get #usageSoFar(): Usage | undefined {
    return this.#finished && this.#usage ? this.#usage : this.#spent().usage
  }

  #spent() {
    return estimated(this.#exchange, this.#usage, this.#said)
  }

  #hear(event: GenerateEvent): void {
    switch (event.type) {
      case 'delta':
        this.#said += Buffer.byteLength(event.text)
        if (event.text !== '') this.#call?.arrived()
        return
      case 'start':
        this.#model = event.model
        this.#id = event.id
        this.#usage = event.usage
        return
      case 'usage':
        this.#usage = event.usage
        return
      case 'finish':
        this.over = this.#finished = true
        if (event.usage) this.#usage = event.usage
        this.#further = event.further
        return
      case 'failure':
        this.over = true
    }
  }
}

/** Translates a stream of another protocol event by event as it arrives. */
export function written(
  exchange: AnswerContext,
  source: Source,
  reader: EventParser<GenerateEvent>,
): ClientAnswer | Promise<ClientAnswer> {
  const writing = new Writing(exchange)
  const decoder = new FrameDecoder(eventRoom(exchange.host, exchange.scope))
  const take = (event: GenerateEvent) => writing.take(shown(event, exchange))
  const takeAll = (frames: readonly Frame[]) => {
    for (const frame of frames) for (const event of reader.parse(frame)) take(event)
  }
  const takeRest = () => {
    takeAll(decoder.end())
    for (const event of reader.end()) take(event)
    if (!writing.ended && !writing.over) throw cutShort(exchange)
  }
  const { handlers } = exchange
  if (handlers?.hasGates)
    return held(exchange, writing, handlers, source, (chunk) => {
      if (chunk) takeAll(decoder.push(chunk))
      else takeRest()
    })
  const translated = through(source, {
    data: (chunk) => writing.write(() => takeAll(decoder.push(chunk))),
    enough: () => writing.early,
    end: () => writing.write(takeRest),
    // A stream ends well after its terminal event, even if the upstream then breaks.
    fail: (error) => writing.fail(error),
  })
  return streamBack(exchange, translated, writing)
}

/** Prints a stream of neutral events for the client as they arrive. */
export function fromNeutral(
  exchange: AnswerContext,
  events: AsyncIterable<GenerateEvent>,
): ClientAnswer | Promise<ClientAnswer> {
  const writing = new Writing(exchange)
  if (exchange.handlers?.hasGates) return heldNeutral(exchange, writing, exchange.handlers, events)
  async function* chunks(): AsyncGenerator<Uint8Array> {
    try {
      for await (const event of events) {
        const bytes = writing.write(() => writing.take(event))
        if (bytes) yield bytes
        if (writing.early) return
      }
      if (!writing.ended) throw cutShort(exchange)
    } catch (error) {
      yield writing.fail(error)
    }
  }
  return streamBack(exchange, pull(chunks()), writing)
}

/** The same where gates may hold events: one is taken for each chunk, which is empty. */
function heldNeutral(
  exchange: AnswerContext,
  writing: Writing,
  handlers: EventHandlers,
  events: AsyncIterable<GenerateEvent>,
): ClientAnswer | Promise<ClientAnswer> {
  let next: GenerateEvent | undefined
  async function* chunks(): AsyncGenerator<Uint8Array> {
    for await (next of events) yield nothing
    next = undefined
  }
  return held(exchange, writing, handlers, pull(chunks()), () => {
    if (next) writing.take(next)
    else if (!writing.ended && !writing.over) throw cutShort(exchange)
  })
}

/** An answer with gates; it waits for those that judge before the reply. What a refused one used is billed, too. */
function held(
  exchange: AnswerContext,
  writing: Writing,
  handlers: EventHandlers,
  source: Source,
  take: (chunk: Uint8Array | undefined) => void,
): ClientAnswer | Promise<ClientAnswer> {
  const stream = new HeldStream(source, { writing, handlers, take })
  const answer = streamBack(exchange, stream, writing)
  if (!handlers.delaysReply) return answer
  return stream.ready().then(
    () => answer,
    (error: unknown) => {
      exchange.used(writing.read())
      throw error
    },
  )
}

/** Collects a stream into one whole answer. */
export async function folded(exchange: AnswerContext, source: Source, reader: EventParser<GenerateEvent>) {
  const { host, scope } = exchange
  const decoder = new FrameDecoder()
  const gathered = await collect(source, gatherLimit, answerHold(host, scope))
  const frames = [...decoder.push(gathered), ...decoder.end()]
  return foldAll(exchange, [...frames.flatMap((frame) => [...reader.parse(frame)]), ...reader.end()])
}

/** Makes one answer of all its events. What a failed one used is billed, too. */
export function foldAll(exchange: AnswerContext, events: readonly GenerateEvent[]): GenerateReply {
  try {
    const last = events.at(-1)?.type
    if (last !== 'finish' && last !== 'failure') throw cutShort(exchange)
    return fold(events)
  } catch (error) {
    const usage = events.map((event) => ('usage' in event ? event.usage : undefined)).findLast(Boolean)
    if (usage) exchange.used({ usage })
    throw error
  }
}

function streamBack(exchange: AnswerContext, source: Source, writing: Writing): ClientAnswer {
  return {
    body: eventStream(exchange, source),
    measurement: {
      read: () => writing.read(),
      unshown: () => writing.unshown,
      ...(exchange.shown ? { stored: () => writing.stored, recorded: (take) => writing.recorded(take) } : {}),
    },
    losses: exchange.upstream.losses,
  }
}

function writerOf(exchange: AnswerContext): EventPrinter<GenerateEvent> {
  const { codec, request } = exchange
  if (!codec.events)
    throw new GatewayError('invalid_request_error', {
      model: request.model,
      reason: `${codec.protocol} has no streams`,
    })
  return codec.events.printer(asked(exchange))
}
