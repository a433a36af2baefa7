import { amendedSampling, isObject, parsedObject } from '../../../engine/kit.ts'
import type { Amendment, Asked, Envelope, Frame, Hidden, JsonObject, Offer } from '../../../engine/index.ts'

/**
 * Leaves out the sampling that the model refuses, and requests the usage of every stream, even if its client did not
 * (platform.openai.com/docs/api-reference/chat/create, `stream_options`).
 */
export function amend({ body }: Pick<Envelope, 'body'>, offer: Offer, model: string): Amendment | undefined {
  const sampled = amendedSampling(body, body['reasoning_effort'], { offer, model })
  if (body['stream'] !== true || asksUsage(body) || offer.traits?.['stream_usage'] === false) return sampled
  const { stream_options: options } = body
  const asking = { stream_options: { ...(isObject(options) ? options : {}), include_usage: true } }
  return { ...sampled, fields: { ...sampled?.fields, ...asking } }
}

/**
 * Part of `prompt_tokens`. V8 searches for up to six bytes in a third of the time, and few words have an underscore.
 */
const usageChunk: Hidden = { sign: Buffer.from('_token'), is: isUsageChunk }

/**
 * Hides the chunk of usage, which has no choice, from clients that did not request it: they may expect a choice in
 * every chunk. They ignore `usage: null` in other chunks, and a usage beside a choice, so these bytes stay.
 */
export function hides(body: JsonObject): Hidden | undefined {
  return asksUsage(body) ? undefined : usageChunk
}

function asksUsage({ stream_options: options }: JsonObject): boolean {
  return isObject(options) && options['include_usage'] === true
}

function isUsageChunk({ data }: Frame): boolean {
  const chunk = parsedObject(data)
  if (!chunk || chunk['error'] || !isObject(chunk['usage'])) return false
  const { choices = [] } = chunk
  return choices === null || (Array.isArray(choices) && choices.length === 0)
}

/** Marks a finish without parsing the chunk. Nearly every stream has one. */
const finished = /"finish_reason"\s{0,8}:\s{0,8}"/

/**
 * The missing finish of a stream that its upstream ends with `[DONE]`: official clients reject a stream without one.
 */
export function close(_: Asked, last?: Frame): readonly Frame[] {
  if (last === undefined || finished.test(last.data) || !last.data.includes('"delta"')) return []
  const chunk = parsedObject(last.data)
  const [choice] = Array.isArray(chunk?.['choices']) ? chunk['choices'] : []
  // A chunk after the finish may have a choice, such as the results of a content filter, but no delta.
  if (!isObject(choice) || !isObject(choice['delta']) || typeof choice['finish_reason'] === 'string') return []
  const calls = Array.isArray(choice['delta']['tool_calls'])
  const finish = { index: 0, delta: {}, finish_reason: calls ? 'tool_calls' : 'stop' }
  return [{ data: JSON.stringify({ ...chunk, choices: [finish] }) }, { data: '[DONE]' }]
}
