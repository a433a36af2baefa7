import { GatewayError } from '../../engine/index.ts'
import { FrameDecoder, answerHold, collect, encodeFrame, eventRoom, fold, pull, through } from '../../engine/kit.ts'
import type {
  EventParser,
  EventPrinter,
  Failure,
  GenerateEvent,
  GenerateReply,
  Metered,
  Measurement,
  Source,
  Usage,
} from '../../engine/index.ts'
import { nameless } from './answer-model.ts'
import { estimated } from './estimated.ts'
import { cutShort, failureOf, shown } from './failure.ts'
import { StopCut } from './stop-cut.ts'
import type { EventHandlers } from './event-handlers.ts'
import type { ClientAnswer, AnswerContext } from './answer-context.ts'
import { asked, eventStream } from './answer-context.ts'

/** Most bytes of a stream that is collected into one answer. */
const gatherLimit = 64 * 1024 * 1024

/** Prints events for the client, after stages and stop sequences, and measures the exchange. */
class Writing {
  readonly #exchange: AnswerContext
  readonly #writer: EventPrinter<GenerateEvent>
  readonly #cut: StopCut | undefined
  readonly #handlers: EventHandlers | undefined
  /** Whether the printer sets the model's name itself. */
  readonly #named: boolean
  #usage: Usage | undefined
  #further: Metered['further']
  #model: string | undefined
  #id: string | undefined
  #stop: string | undefined
  #failure: Failure | undefined
  /** Bytes of text from the provider. */
  #said = 0
  /** The provider has sent its terminal event. */
  #over = false
  #read: ReturnType<Measurement['read']> | undefined
  /** The terminal event was printed; the client gets nothing after it. */
  ended = false

  constructor(exchange: AnswerContext) {
    this.#exchange = exchange
    this.#writer = writerOf(exchange)
    this.#cut = exchange.upstream.cuts && new StopCut(exchange.upstream.cuts)
    this.#handlers = exchange.handlers
    this.#named = exchange.named
  }

  write(event: GenerateEvent): string {
    if (!this.#cut) return this.#pass(event)
    let text = ''
    for (const one of this.#cut.write(event)) text += this.#pass(one)
    if (this.#cut.sequence === undefined || this.ended) return text
    const { sequence } = this.#cut
    return text + this.#pass({ type: 'finish', stop: 'stop', stopSequence: sequence, usage: this.#spent().usage })
  }

  /** A stop sequence or a stage ended the answer: the provider can stop. */
  get early(): boolean {
    return this.#cut?.sequence !== undefined || (this.ended && !this.#over)
  }

  /** Takes an event of the provider. */
  #pass(event: GenerateEvent): string {
    if (this.#over) return ''
    this.#hear(event)
    if (!this.#handlers) return this.#write(event)
    let text = ''
    for (const one of this.#handlers.pass(event)) text += this.#write(one)
    return text
  }

  /** Prints an event for the client. */
  #write(event: GenerateEvent): string {
    if (this.ended) return ''
    if (event.type === 'finish') this.#stop = event.stop
    if (event.type === 'failure') this.#failure = event.failure
    this.ended = event.type === 'finish' || event.type === 'failure'
    let text = ''
    const told = this.#named && event.type === 'start' ? nameless(event) : event
    for (const frame of this.#writer.print(told)) text += encodeFrame(frame)
    return text
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

  get #complete(): boolean {
    return this.ended && this.#failure === undefined
  }

  #metered(): Pick<Metered, 'usage' | 'estimated'> {
    if (!this.#complete || this.early) return this.#spent()
    return this.#usage ? { usage: this.#usage } : {}
  }

  #spent() {
    return estimated(this.#exchange, this.#usage, this.#said)
  }

  #hear(event: GenerateEvent): void {
    switch (event.type) {
      case 'delta':
        this.#said += Buffer.byteLength(event.text)
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
        this.#over = true
        if (event.usage) this.#usage = event.usage
        this.#further = event.further
        return
      case 'failure':
        this.#over = true
    }
  }
}

/** Translates a stream of another protocol event by event as it arrives. */
export function written(exchange: AnswerContext, source: Source, reader: EventParser<GenerateEvent>): ClientAnswer {
  const writing = new Writing(exchange)
  const decoder = new FrameDecoder(eventRoom(exchange.host, exchange.scope))
  const writeAll = (frames: Iterable<{ data: string }>): string => {
    let text = ''
    for (const frame of frames) for (const event of reader.parse(frame)) text += writing.write(shown(event, exchange))
    return text
  }
  const translated = through(source, {
    data: (chunk) => bytes(writeAll(decoder.push(chunk))),
    enough: () => writing.early,
    end() {
      let text = writeAll(decoder.end())
      for (const event of reader.end()) text += writing.write(shown(event, exchange))
      return bytes(text)
    },
    // A stream ends well after its terminal event, even if the upstream then breaks.
    fail: (error) => Buffer.from(writing.write({ type: 'failure', failure: failureOf(error, exchange) })),
  })
  return streamBack(exchange, translated, writing)
}

/** Prints a stream of neutral events for the client as they arrive. */
export function fromNeutral(exchange: AnswerContext, events: AsyncIterable<GenerateEvent>): ClientAnswer {
  const writing = new Writing(exchange)
  async function* chunks(): AsyncGenerator<Uint8Array> {
    try {
      for await (const event of events) {
        const text = writing.write(event)
        if (text !== '') yield Buffer.from(text)
        if (writing.early) return
      }
      if (!writing.ended) throw cutShort(exchange)
    } catch (error) {
      yield Buffer.from(writing.write({ type: 'failure', failure: failureOf(error, exchange) }))
    }
  }
  return streamBack(exchange, pull(chunks()), writing)
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
    measurement: { read: () => writing.read(), unshown: () => writing.unshown },
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

function bytes(text: string): Uint8Array | undefined {
  return text === '' ? undefined : Buffer.from(text)
}
