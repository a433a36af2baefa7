import { isObject, parsedObject } from '../../../engine/kit.ts'
import type { Amendment, Asked, Envelope, Frame, Hidden, JsonObject, Offer } from '../../../engine/index.ts'

/**
 * The usage of every stream is wanted, though its client may not have asked for it
 * (platform.openai.com/docs/api-reference/chat/create, `stream_options`).
 */
export function amend({ body }: Pick<Envelope, 'body'>, { traits }: Offer): Amendment | undefined {
  if (body['stream'] !== true || asksUsage(body) || traits?.['stream_usage'] === false) return undefined
  const { stream_options: options } = body
  return { fields: { stream_options: { ...(isObject(options) ? options : {}), include_usage: true } } }
}

/** Of `prompt_tokens`: V8 searches for up to six bytes in a third of the time, and few words have an underscore. */
const usageChunk: Hidden = { sign: Buffer.from('_token'), is: isUsageChunk }

/**
 * The chunk of usage has no choice, and clients that did not ask for it may look for one in every chunk. The null that
 * usage is in all other chunks, or a usage beside a choice, they pass over: these bytes stay.
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

/** The sign of a finish, told without reading the chunk: nearly every stream has one. */
const finished = /"finish_reason"\s{0,8}:\s{0,8}"/

/**
 * The finish that a stream lacks though its upstream ends it with `[DONE]`: official clients refuse a stream without.
 */
export function close(_: Asked, last?: Frame): readonly Frame[] {
  if (last === undefined || finished.test(last.data) || !last.data.includes('"delta"')) return []
  const chunk = parsedObject(last.data)
  const [choice] = Array.isArray(chunk?.['choices']) ? chunk['choices'] : []
  // What follows a finish may have a choice, as the verdicts of a filter do, but no delta.
  if (!isObject(choice) || !isObject(choice['delta']) || typeof choice['finish_reason'] === 'string') return []
  const calls = Array.isArray(choice['delta']['tool_calls'])
  const finish = { index: 0, delta: {}, finish_reason: calls ? 'tool_calls' : 'stop' }
  return [{ data: JSON.stringify({ ...chunk, choices: [finish] }) }, { data: '[DONE]' }]
}
