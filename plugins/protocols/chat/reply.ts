import { GatewayError } from '../../../engine/index.ts'
import { fold, isObject, unfold } from '../../../engine/kit.ts'
import type { Asked, GenerateReply, Json, JsonObject, Offer, Printed, Restore } from '../../../engine/index.ts'
import { Deltas } from './deltas.ts'
import type { Delta } from './deltas.ts'
import { ChatParser } from './parse-events.ts'
import { printUsage } from './usage.ts'
import { headOf } from './print-events.ts'

/**
 * Parses a whole answer as a stream of one chunk. Throws `upstream_error` for an error, and `upstream_invalid_response`
 * for a body that is no completion.
 */
export function parseReply(body: Json, restore?: Restore, offer?: Offer): GenerateReply {
  if (!isObject(body)) throw unreadable('it is no JSON object')
  const [choice] = Array.isArray(body['choices']) ? body['choices'] : []
  if (!body['error'] && body['object'] !== 'error' && (!isObject(choice) || !isObject(choice['message']))) {
    throw unreadable('it has no message')
  }
  const chunk = isObject(choice)
    ? { ...body, choices: [{ ...choice, index: 0, delta: numbered(choice['message']) }] }
    : body
  const reader = new ChatParser(restore, offer)
  const events = reader.chunk(chunk)
  return fold(events.at(-1)?.type === 'failure' ? events : [...events, ...reader.finish(true)])
}

/** A whole message whose calls are numbered, so that calls with equal ids stay separate. */
function numbered(message: Json | undefined): Json | undefined {
  if (!isObject(message) || !Array.isArray(message['tool_calls'])) return message
  const calls = message['tool_calls'].map((call: Json, index) => (isObject(call) ? { ...call, index } : call))
  return { ...message, tool_calls: calls }
}

/** Prints a whole answer for the client: the joined deltas of a stream. */
export function printReply(reply: GenerateReply, asked: Asked): Printed<JsonObject> {
  const deltas = new Deltas(asked)
  const pieces = Array.from(unfold(reply), (event) => deltas.read(event)).filter((piece) => piece !== undefined)
  const last = deltas.last()
  const answer = new Answer()
  for (const piece of last ? [...pieces, last] : pieces) answer.add(piece)
  const choice = { index: 0, ...answer.print(), finish_reason: deltas.finish(reply) }
  const body = {
    ...headOf('chat.completion', asked, reply),
    choices: [choice],
    ...(reply.usage ? { usage: printUsage(reply.usage) } : {}),
  }
  return { body, losses: deltas.losses.list() }
}

type Text = 'content' | 'refusal' | 'reasoning_content'

/** Joins deltas into a message. */
class Answer {
  readonly #texts: { [name in Text]?: string } = {}
  readonly #calls: JsonObject[] = []
  readonly #logprobs: { content: Json[]; refusal: Json[] } = { content: [], refusal: [] }
  #call: { name: string; arguments: string } | undefined
  #rest: JsonObject = {}

  add({ delta, logprobs }: Delta): void {
    const { content, refusal, reasoning_content, tool_calls: calls, function_call: call, ...rest } = delta
    for (const [name, text] of Object.entries({ content, refusal, reasoning_content })) {
      if (typeof text === 'string') this.#texts[name as Text] = (this.#texts[name as Text] ?? '') + text
    }
    if (Array.isArray(calls)) for (const piece of calls) this.#add(piece as JsonObject)
    if (isObject(call)) {
      const { name, arguments: input } = call as { name?: string; arguments: string }
      this.#call = { name: name ?? this.#call?.name ?? '', arguments: (this.#call?.arguments ?? '') + input }
    }
    for (const field of ['content', 'refusal'] as const) {
      const list = logprobs?.[field]
      if (Array.isArray(list)) for (const entry of list) this.#logprobs[field].push(entry as Json)
    }
    this.#rest = { ...this.#rest, ...rest }
  }

  print(): JsonObject {
    const { content, refusal, reasoning_content: reasoning } = this.#texts
    const called = this.#calls.length > 0 || this.#call !== undefined
    const { content: ofContent, refusal: ofRefusal } = this.#logprobs
    const message = {
      role: 'assistant',
      content: content ?? (called || refusal !== undefined ? null : ''),
      refusal: refusal ?? null,
      ...(reasoning === undefined ? {} : { reasoning_content: reasoning }),
      ...this.#rest,
      ...(this.#calls.length > 0 ? { tool_calls: this.#calls } : {}),
      ...(this.#call ? { function_call: this.#call } : {}),
    }
    const measured = ofContent.length > 0 || ofRefusal.length > 0
    const logprobs = measured ? { content: orNull(ofContent), refusal: orNull(ofRefusal) } : null
    return { message, logprobs }
  }

  #add({ index, ...piece }: JsonObject): void {
    const before = this.#calls[index as number]
    this.#calls[index as number] = before ? { ...before, ...grown(before, piece) } : piece
  }
}

/** The inner object of a call with the next delta of its input. */
function grown(before: JsonObject, piece: JsonObject): JsonObject {
  const kind = isObject(before['custom']) ? 'custom' : 'function'
  const field = kind === 'custom' ? 'input' : 'arguments'
  const inner = before[kind] as Readonly<Record<string, string>>
  const more = piece[kind] as Readonly<Record<string, string>>
  return { [kind]: { ...inner, [field]: `${inner[field]}${more[field]}` } }
}

function orNull(list: readonly Json[]): Json {
  return list.length > 0 ? list : null
}

function unreadable(reason: string): GatewayError {
  return new GatewayError('upstream_invalid_response', { reason })
}
