import type {
  EventParser,
  Failure,
  Frame,
  GenerateEvent,
  Item,
  JsonObject,
  Restore,
  StopReason,
} from '../../../engine/index.ts'
import { isObject, parseJson, parseVerbatim } from '../../../engine/kit.ts'
import { streamFailure } from './errors.ts'
import { CallParser, OpaqueParser, TextParser, ThinkingParser } from './parse-block-events.ts'
import type { BlockParser } from './parse-block-events.ts'
import { replyHead, replyRest } from './reply-fields.ts'
import { parseStop } from './stop.ts'
import { mergeUsage, parseUsage } from './usage.ts'
import { verbatim } from './wire.ts'

/**
 * Parses an answer event by event. Consecutive texts are parts of one message item. Every other block is a separate
 * item. A stream that ends without a stop reason, or violates the protocol, ends with a `failure`.
 */
export class MessagesParser implements EventParser<GenerateEvent> {
  readonly #restore: Restore | undefined
  readonly #stops: typeof parseStop
  readonly #blocks = new Map<number, BlockParser>()
  /** The answer's fields: those of its start, overwritten by later ones. */
  #fields: JsonObject | undefined
  /** The open message item, and the open text in it. */
  #message: number | undefined
  #text: number | undefined
  #items = 0
  #called = false
  #done = false

  /** @param stops the reasons for which the model stops, in the words of the upstream */
  constructor(restore?: Restore, stops: typeof parseStop = parseStop) {
    this.#restore = restore
    this.#stops = stops
  }

  parse(frame: Frame): readonly GenerateEvent[] {
    if (this.#done || frame.data === '[DONE]') return []
    return this.#guarded(() => {
      // The start of a tool's block may contain its whole input.
      const starts = frame.event === 'content_block_start'
      const event: unknown = starts ? parseVerbatim(frame.data, verbatim.reply) : parseJson(frame.data)
      return isObject(event) ? this.take(event) : this.#fail(broken('an event is not an object'))
    })
  }

  end(): readonly GenerateEvent[] {
    if (this.#done) return []
    if (this.#stops(this.#fields?.stop_reason)) return this.#guarded(() => this.#finish())
    return this.#fail({ ...upstreamError, code: 'upstream_error', message: 'The answer ended before it was complete.' })
  }

  #guarded(read: () => readonly GenerateEvent[]): readonly GenerateEvent[] {
    try {
      return read()
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error
      return this.#fail(broken('an event is not valid JSON'))
    }
  }

  /** The neutral events of one parsed event. Events of unknown types have none. */
  take(event: JsonObject): readonly GenerateEvent[] {
    switch (event.type) {
      case 'content_block_delta':
        return this.#delta(event)
      case 'content_block_start':
        return [...this.#begin({}), ...this.#open(event)]
      case 'content_block_stop':
        return this.#close(Number(event.index))
      case 'message_start':
        return this.#begin(isObject(event.message) ? event.message : {})
      case 'message_delta':
        return this.#update(event)
      case 'message_stop':
        return [...this.#begin({}), ...this.#finish()]
      case 'error':
        return this.#fail(streamFailure(event))
      default:
        return isObject(event.error) ? this.#fail(streamFailure(event)) : []
    }
  }

  #begin(message: JsonObject): readonly GenerateEvent[] {
    if (this.#fields) return []
    this.#fields = message
    return [{ type: 'start', ...replyHead(message) }]
  }

  #update(event: JsonObject): readonly GenerateEvent[] {
    const { type: _type, delta, usage, ...others } = event
    const started = this.#begin({})
    this.#fields = {
      ...this.#fields,
      ...others,
      ...(isObject(delta) ? delta : {}),
      usage: mergeUsage(this.#fields?.usage, usage),
    }
    return started
  }

  #delta({ index, delta }: JsonObject): readonly GenerateEvent[] {
    const block = this.#blocks.get(Number(index))
    if (!block || !isObject(delta)) return this.#fail(broken('a delta belongs to no open block'))
    return block.delta(delta)
  }

  #open({ index: given, content_block: block }: JsonObject): readonly GenerateEvent[] {
    if (!isObject(block)) return this.#fail(broken('a block starts without its content'))
    const index = Number(given)
    const before = [...this.#close(index), ...(block.type === 'text' ? this.#openText(index) : this.#closeMessage())]
    const reader = this.#reader(block)
    this.#blocks.set(index, reader)
    return [...before, ...reader.open()]
  }

  #openText(block: number): readonly GenerateEvent[] {
    const closing = this.#closeText()
    this.#text = block
    if (this.#message !== undefined) return closing
    this.#message = this.#items++
    const item: Item = { type: 'message', role: 'assistant', content: [] }
    return [...closing, { type: 'item', index: this.#message, item }]
  }

  #reader(block: JsonObject): BlockParser {
    if (block.type === 'text' && this.#message !== undefined) return new TextParser(this.#message, block)
    const item = this.#items++
    switch (block.type) {
      case 'thinking':
      case 'redacted_thinking':
        return new ThinkingParser(item, block)
      case 'tool_use':
        this.#called = true
        return new CallParser(item, block, this.#restore)
      default:
        return new OpaqueParser(item, block)
    }
  }

  #close(index: number): readonly GenerateEvent[] {
    const block = this.#blocks.get(index)
    if (!block) return []
    this.#blocks.delete(index)
    if (this.#text === index) this.#text = undefined
    return block.close()
  }

  #closeText(): readonly GenerateEvent[] {
    return this.#text === undefined ? [] : this.#close(this.#text)
  }

  #closeMessage(): readonly GenerateEvent[] {
    const text = this.#closeText()
    if (this.#message === undefined) return text
    const end: GenerateEvent = { type: 'item-end', index: this.#message }
    this.#message = undefined
    return [...text, end]
  }

  #finish(): readonly GenerateEvent[] {
    const closing = [...this.#closeMessage(), ...[...this.#blocks.keys()].flatMap((index) => this.#close(index))]
    const fields = this.#fields ?? {}
    const stop = this.#stop(fields.stop_reason)
    if (!stop) return [...closing, ...this.#fail(broken('an empty answer without a stop reason'))]
    this.#done = true
    const usage = parseUsage(fields.usage)
    const rest = replyRest(fields)
    const { stop_sequence: sequence } = fields
    return [
      ...closing,
      {
        type: 'finish',
        stop,
        ...(typeof sequence === 'string' ? { stopSequence: sequence } : {}),
        ...(usage ? { usage } : {}),
        ...(rest ? { rest } : {}),
      },
    ]
  }

  /** Some compatible servers end a turn of calls with another reason, or with an unknown one. */
  #stop(reason: unknown): StopReason | undefined {
    const known = this.#stops(reason)
    if (this.#called && (known === undefined || known === 'end')) return 'tool'
    return known ?? (this.#items > 0 ? 'end' : undefined)
  }

  #fail(failure: Failure): readonly GenerateEvent[] {
    this.#done = true
    return [{ type: 'failure', failure }]
  }
}

const upstreamError = { status: 502, type: 'server_error', param: null } as const

function broken(reason: string): Failure {
  const message = `The provider answered in a form that cannot be read: ${reason}.`
  return { ...upstreamError, code: 'upstream_invalid_response', message }
}
