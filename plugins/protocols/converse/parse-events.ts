import type { EventParser, Frame, GenerateEvent, Json, JsonObject, Restore, StopReason } from '../../../engine/index.ts'
import { GatewayError } from '../../../engine/index.ts'
import { fold, isObject, parsedObject } from '../../../engine/kit.ts'
import { MessagesParser } from '../messages/parse-events.ts'
import { failed } from './errors.ts'

/**
 * Parses an answer event by event. The API's events are those of the messages protocol under other names, with two
 * differences: only calls have a start, and the usage follows the stop reason. So each is read as its counterpart.
 */
export class ConverseParser implements EventParser<GenerateEvent> {
  readonly #messages: MessagesParser
  /** The numbers of the blocks that have begun. */
  readonly #begun = new Set<number>()
  /** Redacted reasoning, by the number of its block: it may arrive in pieces. */
  readonly #redacted = new Map<number, string[]>()
  /** Whether the stop reason is known. */
  #stopped = false
  #over = false

  constructor(restore?: Restore) {
    this.#messages = new MessagesParser(restore, parseStop)
  }

  parse(frame: Frame): readonly GenerateEvent[] {
    if (this.#over) return []
    const failure = failed(frame)
    if (failure) return this.#fail({ type: 'failure', failure })
    const body = parsedObject(frame.data)
    if (!body) return this.#fail(broken('an event is not an object'))
    const malformed = frame.event === 'messageStop' && malformedStops.get(body['stopReason'] as string)
    if (malformed) return this.#fail(broken(malformed))
    const events = this.#take(frame.event ?? '', body)
    const last = events.at(-1)?.type
    this.#over = last === 'finish' || last === 'failure'
    return events
  }

  end(): readonly GenerateEvent[] {
    return this.#over ? [] : this.#messages.end()
  }

  #take(event: string, body: JsonObject): readonly GenerateEvent[] {
    const index = Number(body['contentBlockIndex'])
    switch (event) {
      case 'messageStart':
        return this.#messages.take({ type: 'message_start', message: {} })
      case 'contentBlockStart':
        return this.#begin(index, startOf(body['start']))
      case 'contentBlockDelta':
        return isObject(body['delta']) ? this.#delta(index, body['delta']) : []
      case 'contentBlockStop':
        return this.#stop(index)
      case 'messageStop':
        this.#stopped = true
        return this.#messages.take({ type: 'message_delta', delta: stopFields(body) })
      case 'metadata': {
        const usage = this.#messages.take({ type: 'message_delta', usage: usageFields(body['usage']) })
        return this.#stopped ? [...usage, ...this.#messages.take({ type: 'message_stop' })] : usage
      }
      default:
        return []
    }
  }

  #begin(index: number, block: JsonObject | undefined): readonly GenerateEvent[] {
    if (!block) return []
    this.#begun.add(index)
    return this.#messages.take({ type: 'content_block_start', index, content_block: block })
  }

  #delta(index: number, given: JsonObject): readonly GenerateEvent[] {
    const { reasoningContent } = given
    if (isObject(reasoningContent) && typeof reasoningContent['redactedContent'] === 'string') {
      const pieces = this.#redacted.get(index) ?? []
      this.#redacted.set(index, [...pieces, reasoningContent['redactedContent']])
      return []
    }
    const delta = deltaOf(given)
    if (!delta) return []
    const before = this.#begun.has(index) ? [] : this.#begin(index, openedBy(delta))
    return [...before, ...this.#messages.take({ type: 'content_block_delta', index, delta })]
  }

  #stop(index: number): readonly GenerateEvent[] {
    const pieces = this.#redacted.get(index)
    this.#redacted.delete(index)
    const data = pieces && joined(pieces)
    const before = data === undefined ? [] : this.#begin(index, { type: 'redacted_thinking', data })
    return [...before, ...this.#messages.take({ type: 'content_block_stop', index })]
  }

  #fail(event: GenerateEvent): readonly GenerateEvent[] {
    this.#over = true
    return [event]
  }
}

/** Parses a whole answer as the equivalent stream. Throws `upstream_invalid_response` for a body that is no answer. */
export function parseReply(body: Json, restore?: Restore): ReturnType<typeof fold> {
  const output = isObject(body) ? body['output'] : undefined
  const message = isObject(output) ? output['message'] : undefined
  const content = isObject(message) ? message['content'] : undefined
  if (!isObject(body) || !Array.isArray(content))
    throw new GatewayError('upstream_invalid_response', { reason: 'the answer has no list of content' })
  const malformed = malformedStops.get(body['stopReason'] as string)
  if (malformed !== undefined) throw new GatewayError('upstream_invalid_response', { reason: malformed })
  const parser = new MessagesParser(restore, parseStop)
  const blocks = content.flatMap((block) => (isObject(block) ? (wholeBlock(block) ?? []) : []))
  const wire: JsonObject[] = [
    { type: 'message_start', message: { ...stopFields(body), usage: usageFields(body['usage']) } },
    ...blocks.flatMap((content_block, index) => [
      { type: 'content_block_start', index, content_block },
      { type: 'content_block_stop', index },
    ]),
    { type: 'message_stop' },
  ]
  return fold(wire.flatMap((event) => parser.take(event)))
}

/** Reasons to stop that are failures of the model. */
const malformedStops: ReadonlyMap<string, string> = new Map([
  ['malformed_model_output', 'the model wrote what its provider could not read'],
  ['malformed_tool_use', 'the model wrote a call that its provider could not read'],
])

function broken(reason: string): GenerateEvent {
  return { type: 'failure', failure: new GatewayError('upstream_invalid_response', { reason }).failure }
}

/** The stop reason, and the sequence that ended the answer, if the model was asked to tell it. */
function stopFields({ stopReason, additionalModelResponseFields: fields }: JsonObject): JsonObject {
  const sequence = isObject(fields) ? fields['stop_sequence'] : undefined
  return {
    ...(typeof stopReason === 'string' ? { stop_reason: stopReason } : {}),
    ...(typeof sequence === 'string' ? { stop_sequence: sequence } : {}),
  }
}

/** Pieces of bytes, each in base64, as one. */
function joined(pieces: readonly string[]): string {
  const [first = ''] = pieces
  return pieces.length === 1
    ? first
    : Buffer.concat(pieces.map((piece) => Buffer.from(piece, 'base64'))).toString('base64')
}

/** The start of a call. Blocks of other kinds begin with their first delta. */
function startOf(start: Json | undefined): JsonObject | undefined {
  const call = isObject(start) ? start['toolUse'] : undefined
  return isObject(call) ? { type: 'tool_use', id: call['toolUseId'] ?? '', name: call['name'] ?? '' } : undefined
}

function deltaOf({ text, toolUse, reasoningContent: reasoning }: JsonObject): JsonObject | undefined {
  if (typeof text === 'string') return { type: 'text_delta', text }
  if (isObject(toolUse)) return { type: 'input_json_delta', partial_json: toolUse['input'] ?? '' }
  if (!isObject(reasoning)) return undefined
  if (typeof reasoning['text'] === 'string') return { type: 'thinking_delta', thinking: reasoning['text'] }
  return typeof reasoning['signature'] === 'string'
    ? { type: 'signature_delta', signature: reasoning['signature'] }
    : undefined
}

/** The block that begins with a delta; undefined for a call, which has a start. */
function openedBy({ type }: JsonObject): JsonObject | undefined {
  if (type === 'text_delta') return { type: 'text', text: '' }
  return type === 'input_json_delta' ? undefined : { type: 'thinking', thinking: '', signature: '' }
}

/** A block of a whole answer; undefined for those without a neutral form, such as images. */
function wholeBlock({ text, toolUse, reasoningContent: reasoning, citationsContent: cited }: JsonObject) {
  if (typeof text === 'string') return { type: 'text', text }
  if (isObject(toolUse)) return { ...startOf({ toolUse }), input: toolUse['input'] ?? {} }
  if (isObject(cited) && Array.isArray(cited['content'])) {
    const texts = cited['content'].map((part) =>
      isObject(part) && typeof part['text'] === 'string' ? part['text'] : '',
    )
    return { type: 'text', text: texts.join('') }
  }
  if (!isObject(reasoning)) return undefined
  const { reasoningText: said, redactedContent: data } = reasoning
  if (typeof data === 'string') return { type: 'redacted_thinking', data }
  return isObject(said)
    ? { type: 'thinking', thinking: said['text'] ?? '', signature: said['signature'] ?? '' }
    : undefined
}

const reasons: ReadonlyMap<string, StopReason> = new Map([
  ['end_turn', 'end'],
  ['stop_sequence', 'stop'],
  ['max_tokens', 'length'],
  ['model_context_window_exceeded', 'context'],
  ['tool_use', 'tool'],
  ['guardrail_intervened', 'filter'],
  ['content_filtered', 'filter'],
])

/** The neutral form of a stop reason; undefined if it is unknown or absent. */
function parseStop(reason: unknown): StopReason | undefined {
  return typeof reason === 'string' ? reasons.get(reason) : undefined
}

/**
 * The usage of an answer in the words of the messages protocol, which counts in the same way: `inputTokens` are those
 * that were neither read from a cache nor written to one.
 */
function usageFields(usage: Json | undefined): JsonObject {
  if (!isObject(usage)) return {}
  const { inputTokens, outputTokens, cacheReadInputTokens: read, cacheWriteInputTokens: written, cacheDetails } = usage
  const hour = Array.isArray(cacheDetails)
    ? cacheDetails.find((detail): detail is JsonObject => isObject(detail) && detail['ttl'] === '1h')
    : undefined
  return {
    input_tokens: inputTokens ?? null,
    output_tokens: outputTokens ?? null,
    cache_read_input_tokens: read ?? null,
    cache_creation_input_tokens: written ?? null,
    ...(hour ? { cache_creation: { ephemeral_1h_input_tokens: hour['inputTokens'] ?? null } } : {}),
  }
}
