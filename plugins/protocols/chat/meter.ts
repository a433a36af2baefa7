import { isObject, parsedObject } from '../../../engine/kit.ts'
import type { Frame, Json, JsonObject, Metered } from '../../../engine/index.ts'
import { parseStop } from './stop.ts'
import { parseUsage } from './usage.ts'

/** Measures a whole answer. */
export function meterReply(body: Json): Metered {
  if (!isObject(body)) return {}
  const [choice] = Array.isArray(body['choices']) ? body['choices'] : []
  const message = isObject(choice) && isObject(choice['message']) ? choice['message'] : {}
  const calls = Array.isArray(message['tool_calls']) && message['tool_calls'].length > 0
  const held = { calls: calls || isObject(message['function_call']), refused: typeof message['refusal'] === 'string' }
  const metered = named(body)
  const stop = stopOf(choice, held)
  if (stop !== undefined) metered.stop = stop
  const usage = usageOf(body)
  if (usage) metered.usage = usage
  return metered
}

/** Measures a relayed stream. It is complete with `[DONE]` or at least a finish, and without an error. */
export function meterStream(first: readonly Frame[], last: readonly Frame[]): Metered & { readonly complete: boolean } {
  let usage: Metered['usage']
  let stop: string | undefined
  let finished = false
  let failed = false
  // Searched from the end: nothing before the finish adds more.
  for (let at = last.length - 1; at >= 0 && !finished; at--) {
    const data = (last[at] as Frame).data
    if (data === '[DONE]') continue
    if (!telling(data)) continue
    const chunk = parsedObject(data)
    if (!chunk) continue
    if (chunk['error']) failed = true
    usage ??= usageOf(chunk)
    const [choice] = Array.isArray(chunk['choices']) ? chunk['choices'] : []
    if (!isObject(choice) || typeof choice['finish_reason'] !== 'string' || choice['finish_reason'] === '') continue
    finished = true
    stop = stopOf(choice, { calls: choice['finish_reason'] === 'stop' && last.some(calling), refused: false })
  }
  const done = last.at(-1)?.data === '[DONE]'
  return {
    ...headOf(first),
    ...(stop === undefined ? {} : { stop }),
    ...(usage ? { usage } : {}),
    complete: (done || finished) && !failed,
  }
}

/** Bytes of content, reasoning and calls in a chunk. */
export function said({ data }: Frame): number {
  const choices = parsedObject(data)?.['choices']
  let bytes = 0
  for (const choice of Array.isArray(choices) ? choices : [])
    if (isObject(choice) && isObject(choice['delta'])) bytes += saidIn(choice['delta'])
  return bytes
}

function saidIn({ content, refusal, reasoning_content: thought, reasoning, tool_calls: calls }: JsonObject): number {
  let bytes = size(content) + size(refusal) + (size(thought) || size(reasoning))
  for (const call of Array.isArray(calls) ? calls : [])
    if (isObject(call) && isObject(call['function']))
      bytes += size(call['function']['name']) + size(call['function']['arguments'])
  return bytes
}

function size(text: Json | undefined): number {
  return typeof text === 'string' ? Buffer.byteLength(text) : 0
}

/** The id and the model, of the first chunk that has them. */
function headOf(first: readonly Frame[]): Metered {
  for (const { data } of first) {
    const chunk = parsedObject(data)
    if (chunk?.['id']) return named(chunk)
  }
  return {}
}

function named({ id, model }: JsonObject): { -readonly [K in keyof Metered]: Metered[K] } {
  const hasId = typeof id === 'string' && id !== ''
  if (typeof model !== 'string' || model === '') return hasId ? { id } : {}
  return hasId ? { id, model } : { model }
}

function usageOf({ usage, choices }: JsonObject): Metered['usage'] {
  const choice = Array.isArray(choices) ? choices[0] : undefined
  return parseUsage(usage ?? (isObject(choice) ? choice['usage'] : undefined))
}

function stopOf(choice: Json | undefined, held: { calls: boolean; refused: boolean }): string | undefined {
  const reason = isObject(choice) ? choice['finish_reason'] : undefined
  if (typeof reason !== 'string') return undefined
  // Without all frames, the upstream's `finish_reason` is used: a call may be in the missing ones.
  return reason === 'tool_calls' || reason === 'function_call' ? 'tool' : (parseStop(reason, held) ?? reason)
}

/** Whether a frame may contain the end of the stream, without parsing it. */
function telling(data: string): boolean {
  return data.includes('"usage"') || data.includes('"error"') || !/"finish_reason":\s{0,8}null/.test(data)
}

function calling({ data }: Frame): boolean {
  return data.includes('"tool_calls":[')
}
