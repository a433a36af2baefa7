import { GatewayError } from '../../../engine/index.ts'
import { amendedSampling, isObject } from '../../../engine/kit.ts'
import type { Amendment, Asked, Envelope, Json, JsonObject, Offer, StreamKeeper } from '../../../engine/index.ts'
import { errorFrame } from './errors.ts'

/** Prefix of the beta feature by which a provider stores a conversation; a date follows. */
const threads = 'message-threads-'

/**
 * Leaves out the sampling that the model refuses, and thinking blocks whose signature the client has left out: the
 * vendor refuses them, and nothing else of the conversation is lost. Rejects a `thread` that the provider would ignore,
 * because its history would be lost silently.
 */
export function amend(
  { body, headers }: Pick<Envelope, 'body' | 'headers'>,
  offer: Offer,
  model: string,
): Amendment | undefined {
  if (isObject(body.thread) && !keepsThreads(headers, offer.traits?.['betas'])) throw threadRefused()
  const effort = isObject(body.output_config) ? body.output_config.effort : undefined
  const sampled = amendedSampling(body, effort, { offer, model })
  const { messages } = body
  if (!Array.isArray(messages) || !messages.some(hasUnsigned)) return sampled
  const kept = messages.map((turn) => (hasUnsigned(turn) ? without(turn) : turn)).filter((turn) => turn !== undefined)
  const unsigned = { field: 'reasoning', because: 'it has no signature' }
  return { fields: { ...sampled?.fields, messages: kept }, losses: [...(sampled?.losses ?? []), unsigned] }
}

function keepsThreads(headers: Envelope['headers'], betas: Json | undefined): boolean {
  const asked = String(headers['anthropic-beta'] ?? '').split(',')
  const passed = asked.map((beta) => beta.trim()).filter((beta) => passes(beta, betas))
  return passed.some((beta) => beta.startsWith(threads))
}

type Spoken = JsonObject & { readonly content: readonly Json[] }

function hasUnsigned(turn: Json): turn is Spoken {
  return isObject(turn) && Array.isArray(turn.content) && turn.content.some(isUnsigned)
}

/** An empty signature is one that the upstream itself has given. */
function isUnsigned(block: Json): boolean {
  if (!isObject(block)) return false
  if (block.type === 'redacted_thinking') return typeof block.data !== 'string'
  return block.type === 'thinking' && typeof block.signature !== 'string'
}

/** The turn without these blocks; undefined if nothing else is in it. */
function without(turn: Spoken): JsonObject | undefined {
  const content = turn.content.filter((block) => !isUnsigned(block))
  return content.length === 0 ? undefined : { ...turn, content }
}

/** Whether a beta feature is forwarded: all of them, unless the offer has a list. */
function passes(beta: string, betas: Json | undefined): boolean {
  return Array.isArray(betas) ? betas.includes(beta) : true
}

/** Data is JSON, which has no line feeds, so these bytes are always a line. */
const stopLine = Buffer.from('event: message_stop\n')
const emptyLine = '\n\n'
const nothing = new Uint8Array()

/** Ends a stream at its first `message_stop`. Some upstreams send a second one. */
export function keeper({ id }: Asked): StreamKeeper {
  let isOver = false
  return {
    pass(events) {
      if (isOver) return nothing
      const stop = events.indexOf(stopLine)
      if (stop < 0) return events
      isOver = true
      return events.subarray(0, events.indexOf(emptyLine, stop) + emptyLine.length)
    },
    large: () => !isOver,
    end: (failure) => (failure && !isOver ? [errorFrame(failure, id)] : []),
  }
}

/** The gateway does not store the conversation. The `error_code` makes official clients send all of it. */
export function threadRefused(): GatewayError {
  const reason = 'Threads are not held here: send the whole conversation without `thread`.'
  return new GatewayError('invalid_request', { reason }, { details: { error_code: 'thread_unsupported_request' } })
}
