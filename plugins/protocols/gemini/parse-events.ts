import { randomUUID } from 'node:crypto'
import type {
  EventParser,
  Failure,
  Frame,
  GenerateEvent,
  Item,
  JsonObject,
  Logprob,
  Rest,
  Restore,
  Seal,
  Usage,
} from '../../../engine/index.ts'
import { asText, customInput, isObject, parseVerbatim, restored } from '../../../engine/kit.ts'
import { streamFailure } from './errors.ts'
import { parseLogprobs } from './logprobs.ts'
import { citations, searchItem } from './search.ts'
import { isFailure, parseStop } from './stop.ts'
import { parseUsage } from './usage.ts'
import type { FunctionCall, Part } from './wire.ts'
import { protocol, verbatim } from './wire.ts'

/**
 * Parses an answer chunk by chunk; each chunk is a whole `GenerateContentResponse`, of which the first candidate counts.
 * Consecutive texts are one message, consecutive thoughts one item of reasoning. A signature belongs to the thought that
 * has it (`signature`), or is reasoning of its own before the call that has it, or the seal of the message whose text or
 * medium has it (`redacted`). A stream without a finish reason ends with a `failure`.
 */
export class GeminiParser implements EventParser<GenerateEvent> {
  readonly #restore: Restore | undefined
  #items = 0
  #started = false
  #done = false
  #called = false
  #message: MessageParser | undefined
  #thought: number | undefined
  /** The fields of all chunks so far; a later one replaces what an earlier one told. */
  #fields: JsonObject = {}
  #candidate: JsonObject = {}
  #usage: Usage | undefined
  /** Names the calls that have no id. */
  #name: string | undefined

  constructor(restore?: Restore) {
    this.#restore = restore
  }

  parse(frame: Frame): readonly GenerateEvent[] {
    if (this.#done || frame.data === '[DONE]') return []
    let chunk: unknown
    try {
      chunk = parseVerbatim(frame.data, verbatim.reply)
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error
      return this.#fail(broken('a chunk is not valid JSON'))
    }
    return isObject(chunk) ? [...this.take(chunk)] : this.#fail(broken('a chunk is not an object'))
  }

  /** The end of the stream, which has no event of its own. */
  end(): readonly GenerateEvent[] {
    if (this.#done) return []
    const { blockReason } = isObject(this.#fields.promptFeedback) ? this.#fields.promptFeedback : {}
    const reason = asText(this.#candidate.finishReason)
    if (isFailure(reason)) return this.#fail(unusable(reason, asText(this.#candidate.finishMessage)))
    if (reason !== '') return [...this.#finish(parseStop(reason, this.#called))]
    if (typeof blockReason === 'string') return [...this.#finish('refusal')]
    const message = 'The answer ended before it was complete.'
    return this.#fail({ ...upstreamError, code: 'upstream_error', message })
  }

  /** The neutral events of one parsed chunk. */
  *take(chunk: JsonObject): Iterable<GenerateEvent> {
    const failure = streamFailure(chunk)
    if (failure) return yield* this.#fail(failure)
    const { candidates, ...fields } = chunk
    this.#fields = { ...this.#fields, ...fields }
    this.#usage = parseUsage(fields.usageMetadata) ?? this.#usage
    yield* this.#start()
    const list = Array.isArray(candidates) ? candidates.filter(isObject) : []
    const candidate = list.find(({ index = 0 }) => index === 0)
    if (!candidate) return
    const { content, logprobsResult, ...others } = candidate
    const logprobs = parseLogprobs(logprobsResult)
    const parts = isObject(content) && Array.isArray(content.parts) ? content.parts.filter(isObject) : []
    for (const [at, part] of (parts as readonly Part[]).entries())
      yield* this.#part(part, at === 0 ? logprobs : undefined)
    this.#candidate = { ...this.#candidate, ...others }
  }

  *#start(): Iterable<GenerateEvent> {
    if (this.#started) return
    this.#started = true
    const { responseId: id, modelVersion: model } = this.#fields
    this.#name = typeof id === 'string' && id !== '' ? id : undefined
    yield {
      type: 'start',
      ...(typeof id === 'string' ? { id } : {}),
      ...(typeof model === 'string' ? { model } : {}),
      ...(this.#usage ? { usage: this.#usage } : {}),
    }
  }

  *#part(part: Part, logprobs: ReturnType<typeof parseLogprobs>): Iterable<GenerateEvent> {
    const signature = asText(part.thoughtSignature)
    if (part.thought === true) return yield* this.#think(asText(part.text), signature)
    if (isObject(part.functionCall)) return yield* this.#call(part.functionCall as FunctionCall, signature)
    if (typeof part.text === 'string') return yield* this.#say(part.text, signature, logprobs)
    if (isObject(part.inlineData)) return yield* this.#show(part.inlineData, signature)
    // A part that has nothing but a signature is like an empty text.
    if (Object.keys(part).every((field) => field === 'thoughtSignature'))
      return yield* this.#say('', signature, undefined)
    yield* this.#close()
    yield* this.#whole({ type: 'opaque', protocol, value: part, role: 'assistant' })
  }

  *#think(text: string, signature: string): Iterable<GenerateEvent> {
    if (this.#thought === undefined) {
      yield* this.#close()
      this.#thought = this.#items++
      yield { type: 'item', index: this.#thought, item: { type: 'reasoning', parts: [] } }
      yield { type: 'part', index: this.#thought, kind: 'summary' }
    }
    if (text !== '') yield { type: 'delta', index: this.#thought, text }
    if (signature !== '') yield* this.#endThought({ kind: 'signature', data: signature })
  }

  *#say(text: string, signature: string, logprobs: ReturnType<typeof parseLogprobs>): Iterable<GenerateEvent> {
    if (!this.#message) {
      // An empty text may only carry a signature, or the finish reason.
      if (text === '') return signature === '' ? undefined : yield* this.#sealed(signature)
      yield* this.#close()
      this.#message = new MessageParser(this.#items++)
      yield* this.#message.open()
    }
    yield* this.#message.add(text, signature, logprobs)
  }

  *#call(call: FunctionCall, signature: string): Iterable<GenerateEvent> {
    if (signature !== '') yield* this.#sealed(signature)
    yield* this.#close()
    this.#called = true
    const index = this.#items++
    const { kind, ...name } = restored(this.#restore, asText(call.name))
    const json = JSON.stringify(call.args ?? {})
    const callId = asText(call.id) || `call_${(this.#name ??= randomUUID().replaceAll('-', ''))}_${index}`
    yield { type: 'item', index, item: { type: 'call', kind, ...name, callId, input: '' } }
    const text = kind === 'custom' ? customInput(json) : json
    if (text !== '') yield { type: 'delta', index, text }
    yield { type: 'item-end', index }
  }

  /** A picture or sound that the model made. */
  *#show({ mimeType, data }: JsonObject, signature: string): Iterable<GenerateEvent> {
    yield* this.#close()
    const mediaType = asText(mimeType)
    const source = { kind: 'data', mediaType, data: asText(data) } as const
    const type = mediaType.startsWith('audio/') ? 'audio' : mediaType.startsWith('image/') ? 'image' : 'file'
    yield* this.#whole({ type: 'message', role: 'assistant', content: [{ type, source }] }, signature)
  }

  /** The seal of the thoughts right before it, or else of reasoning that is nothing but a signature. */
  *#sealed(signature: string): Iterable<GenerateEvent> {
    if (this.#thought !== undefined) return yield* this.#endThought({ kind: 'redacted', data: signature })
    yield* this.#close()
    yield* this.#whole({ type: 'reasoning', parts: [] }, signature)
  }

  *#whole(item: Item, signature = ''): Iterable<GenerateEvent> {
    const index = this.#items++
    yield { type: 'item', index, item }
    if (signature !== '') yield { type: 'seal', index, seal: { kind: 'redacted', data: signature } }
    yield { type: 'item-end', index }
  }

  *#endThought(seal?: Seal): Iterable<GenerateEvent> {
    const index = this.#thought
    if (index === undefined) return
    this.#thought = undefined
    if (seal) yield { type: 'seal', index, seal }
    yield { type: 'item-end', index }
  }

  *#close(): Iterable<GenerateEvent> {
    yield* this.#endThought()
    const message = this.#message
    if (!message) return
    this.#message = undefined
    yield* message.close(this.#grounding)
  }

  get #grounding(): JsonObject {
    const { groundingMetadata: grounding } = this.#candidate
    return isObject(grounding) ? grounding : {}
  }

  *#finish(stop: ReturnType<typeof parseStop>): Iterable<GenerateEvent> {
    yield* this.#start()
    yield* this.#close()
    const search = searchItem(this.#grounding, `search_${this.#items}`)
    if (search) yield* this.#whole(search)
    this.#done = true
    const rest = replyRest(this.#fields, this.#candidate, search !== undefined)
    yield { type: 'finish', stop, ...(this.#usage ? { usage: this.#usage } : {}), ...(rest ? { rest } : {}) }
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

function unusable(reason: string, told: string): Failure {
  const message = `The model broke off its answer: ${told || reason}`
  return { ...upstreamError, code: 'upstream_error', message }
}

/** Parses one message, whose text arrives in parts of any length. */
class MessageParser {
  readonly #index: number
  #text = ''
  /** The latest signature among its parts; empty without one. */
  #signature = ''

  constructor(index: number) {
    this.#index = index
  }

  *open(): Iterable<GenerateEvent> {
    yield { type: 'item', index: this.#index, item: { type: 'message', role: 'assistant', content: [] } }
    yield { type: 'part', index: this.#index, kind: 'text' }
  }

  *add(text: string, signature: string, logprobs: readonly Logprob[] | undefined): Iterable<GenerateEvent> {
    if (signature !== '') this.#signature = signature
    if (text === '') return
    this.#text += text
    yield { type: 'delta', index: this.#index, text, ...(logprobs ? { logprobs } : {}) }
  }

  /** The citations, which the vendor tells after the text, the seal, and the end. */
  *close(grounding: JsonObject): Iterable<GenerateEvent> {
    for (const annotation of citations(grounding, this.#text))
      yield { type: 'annotation', index: this.#index, annotation }
    if (this.#signature !== '')
      yield { type: 'seal', index: this.#index, seal: { kind: 'redacted', data: this.#signature } }
    yield { type: 'item-end', index: this.#index }
  }
}

const neutral = ['usageMetadata', 'modelVersion', 'responseId', 'error']
const neutralOfCandidate = ['content', 'finishReason', 'index', 'logprobsResult', 'avgLogprobs', 'tokenCount']

/** Fields of an answer without a neutral form; those of its candidate stand in `candidate`. */
function replyRest(fields: JsonObject, candidate: JsonObject, searched: boolean): Rest | undefined {
  const known = searched ? [...neutralOfCandidate, 'groundingMetadata'] : neutralOfCandidate
  const own = without(candidate, known)
  const all = { ...without(fields, neutral), ...(Object.keys(own).length > 0 ? { candidate: own } : {}) }
  return Object.keys(all).length > 0 ? { protocol, fields: all } : undefined
}

function without(object: JsonObject, names: readonly string[]): JsonObject {
  return Object.fromEntries(
    Object.entries(object).filter(([name, value]) => !names.includes(name) && value !== null && value !== undefined),
  )
}
