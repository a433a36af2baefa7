import { isObject } from '../../../engine/kit.ts'
import type {
  Asked,
  EventPrinter,
  Failure,
  Frame,
  GenerateEvent,
  GenerateReply,
  JsonObject,
  Loss,
  Usage,
} from '../../../engine/index.ts'
import { Deltas } from './deltas.ts'
import type { Delta } from './deltas.ts'
import { print as printError } from './errors.ts'
import type { ChatBody } from './wire.ts'
import { printUsage } from './usage.ts'

type Start = Extract<GenerateEvent, { type: 'start' }>
type Finish = Extract<GenerateEvent, { type: 'finish' }>

/** The first fields of every answer and every chunk. */
export function headOf(
  object: string,
  asked: Asked,
  { model = asked.model, created, serviceTier }: Pick<GenerateReply, 'model' | 'created' | 'serviceTier'>,
): JsonObject {
  return {
    id: `chatcmpl-${asked.id}`,
    object,
    created: created ?? Math.floor(Date.now() / 1000),
    model,
    ...(serviceTier === undefined ? {} : { service_tier: serviceTier }),
    system_fingerprint: null,
  }
}

/** The frames that end a broken stream: the error, and no `[DONE]`, so that clients notice. */
export function fail(failure: Failure): readonly Frame[] {
  return [{ data: JSON.stringify(printError(failure)) }]
}

/** Prints the chunks of a client. Fields that all chunks share are serialized once. */
export class ChatPrinter implements EventPrinter<GenerateEvent> {
  readonly #asked: Asked
  readonly #deltas: Deltas
  /** The client requested usage: chunks have `usage: null`, and a last one has the counts. */
  readonly #wantsUsage: boolean
  /** A chunk before and after its delta. */
  #before: string | undefined
  readonly #after: string
  #usage: Usage | undefined

  constructor(asked: Asked) {
    this.#asked = asked
    this.#deltas = new Deltas(asked)
    this.#wantsUsage = isObject(asked.body) && (asked.body as ChatBody).stream_options?.include_usage === true
    this.#after = `,"logprobs":null,"finish_reason":null}]${this.#unused()}}`
  }

  get losses(): readonly Loss[] {
    return this.#deltas.losses.list()
  }

  print(event: GenerateEvent): Frame[] {
    switch (event.type) {
      case 'start':
        if (event.usage) this.#usage = event.usage
        return this.#start(event)
      case 'usage':
        this.#usage = event.usage
        return []
      case 'finish':
        return this.#finish(event)
      case 'failure':
        return [...fail(event.failure)]
      default:
        return this.#piece(this.#deltas.read(event))
    }
  }

  #start(start: Pick<Start, 'model' | 'created' | 'serviceTier'>): Frame[] {
    if (this.#before !== undefined) return []
    const head = headOf('chat.completion.chunk', this.#asked, start)
    this.#before = `${JSON.stringify(head).slice(0, -1)},"choices":`
    return this.#piece({ delta: { role: 'assistant', content: '', refusal: null } })
  }

  #piece(piece: Delta | undefined): Frame[] {
    if (!piece) return []
    const frames = this.#started()
    const delta = `${this.#before}[{"index":0,"delta":${JSON.stringify(piece.delta)}`
    const after = piece.logprobs
      ? `,"logprobs":${JSON.stringify(piece.logprobs)},"finish_reason":null}]${this.#unused()}}`
      : this.#after
    frames.push({ data: delta + after })
    return frames
  }

  #finish({ usage = this.#usage, ...finish }: Finish): Frame[] {
    const frames = [...this.#started(), ...this.#piece(this.#deltas.last())]
    const choice = { index: 0, delta: {}, logprobs: null, finish_reason: this.#deltas.finish(finish) }
    frames.push({ data: `${this.#before}${JSON.stringify([choice])}${this.#unused()}}` })
    if (this.#wantsUsage && usage) {
      frames.push({ data: `${this.#before}[],"usage":${JSON.stringify(printUsage(usage))}}` })
    }
    frames.push({ data: '[DONE]' })
    return frames
  }

  /** The first chunk, if nothing was sent before. */
  #started(): Frame[] {
    return this.#before === undefined ? this.#start({}) : []
  }

  #unused(): string {
    return this.#wantsUsage ? ',"usage":null' : ''
  }
}
