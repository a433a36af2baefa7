import { isObject } from '../../../engine/kit.ts'
import type { Codec, DecideReply, Json, JsonObject, Usage } from '../../../engine/index.ts'

/**
 * The disjoint buckets of `{ input_tokens, input_tokens_details, … }`, whose input includes cached tokens. Absent
 * counts are 0. Without a number of input tokens, there are no buckets.
 */
export function parseUsage(value: Json | undefined): Pick<DecideReply, 'usage' | 'rawUsage'> {
  if (!isObject(value)) return {}
  const { input_tokens, cached_tokens, cache_write_tokens, output_tokens, reasoning_tokens } = countsOf(value)
  if (count(value['input_tokens']) === undefined) return { rawUsage: value }
  const usage: Usage = {
    input: Math.max(0, input_tokens - cached_tokens - cache_write_tokens),
    cacheRead: cached_tokens,
    cacheWrite: cache_write_tokens,
    output: Math.max(0, output_tokens - reasoning_tokens),
    reasoning: reasoning_tokens,
  }
  return { usage, rawUsage: value }
}

/** The upstream's own report if it is complete; otherwise one with every field, 0 for absent ones. */
export function printUsage({ usage, rawUsage }: DecideReply): JsonObject {
  if (rawUsage && isComplete(rawUsage)) return rawUsage
  const told = rawUsage ? countsOf(rawUsage) : countsOfBuckets(usage)
  return {
    input_tokens: told.input_tokens,
    input_tokens_details: { cache_write_tokens: told.cache_write_tokens, cached_tokens: told.cached_tokens },
    output_tokens: told.output_tokens,
    output_tokens_details: { reasoning_tokens: told.reasoning_tokens },
    total_tokens: told.total_tokens ?? told.input_tokens + told.output_tokens,
  }
}

/** Reads the usage and the model of a whole answer; there are no streams. */
export const meter: Codec['meter'] = {
  reply(body) {
    if (!isObject(body)) return {}
    const { usage } = parseUsage(body['usage'])
    const { model } = body
    const cost = isObject(body['usage']) ? body['usage']['cost'] : undefined
    return {
      ...(usage ? { usage } : {}),
      ...(typeof cost === 'number' && cost >= 0 && Number.isFinite(cost) ? { cost } : {}),
      ...(typeof model === 'string' ? { model } : {}),
    }
  },
  stream: () => ({ complete: false }),
}

interface Counts {
  readonly input_tokens: number
  readonly cached_tokens: number
  readonly cache_write_tokens: number
  readonly output_tokens: number
  readonly reasoning_tokens: number
  readonly total_tokens?: number | undefined
}

function countsOf(raw: JsonObject): Counts {
  const { input_tokens_details: input, output_tokens_details: output } = raw
  return {
    input_tokens: count(raw['input_tokens']) ?? 0,
    cached_tokens: detail(input, 'cached_tokens') ?? 0,
    cache_write_tokens: detail(input, 'cache_write_tokens') ?? 0,
    output_tokens: count(raw['output_tokens']) ?? 0,
    reasoning_tokens: detail(output, 'reasoning_tokens') ?? 0,
    total_tokens: count(raw['total_tokens']),
  }
}

function countsOfBuckets(usage: Usage | undefined): Counts {
  const { input, cacheRead, cacheWrite, output, reasoning } = usage ?? nothing
  return {
    input_tokens: input + cacheRead + cacheWrite,
    cached_tokens: cacheRead,
    cache_write_tokens: cacheWrite,
    output_tokens: output + reasoning,
    reasoning_tokens: reasoning,
  }
}

const nothing: Usage = { input: 0, cacheRead: 0, cacheWrite: 0, output: 0, reasoning: 0 }

function isComplete(raw: JsonObject): boolean {
  const { input_tokens_details: input, output_tokens_details: output } = raw
  return [
    count(raw['input_tokens']),
    detail(input, 'cached_tokens'),
    detail(input, 'cache_write_tokens'),
    count(raw['output_tokens']),
    detail(output, 'reasoning_tokens'),
    count(raw['total_tokens']),
  ].every((value) => value !== undefined)
}

function detail(details: Json | undefined, field: string): number | undefined {
  return isObject(details) ? count(details[field]) : undefined
}

function count(value: Json | undefined): number | undefined {
  return Number.isSafeInteger(value) && (value as number) >= 0 ? (value as number) : undefined
}
