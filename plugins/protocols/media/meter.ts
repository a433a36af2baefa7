import { isObject, objectAfter, parsedObject } from '../../../engine/kit.ts'
import type { Codec, Json, Metered, Usage } from '../../../engine/index.ts'

/**
 * Reads `usage` and `model` of an answer. The last event of a stream has one of the types `ends`, or, for servers with
 * their own event shapes, is followed by `[DONE]`.
 */
export function meter(ends: readonly string[]): Codec['meter'] {
  return {
    reply: metered,
    stream(_first, last) {
      const event = last.findLast(({ data }) => data.startsWith('{'))
      const body = event && parsedObject(event.data)
      const ended = isObject(body) && ends.some((type) => type === body['type'])
      const complete = ended || last.at(-1)?.data === '[DONE]'
      return { ...(complete && body ? metered(body) : {}), complete }
    },
  }
}

/**
 * Like `meter`, for streams whose last event contains a whole image. That event is larger than the tail that a meter
 * receives, so a tail without a whole event means that it arrived. Its usage follows the image
 * (platform.openai.com/docs/api-reference/images-streaming).
 */
export function pictureMeter(ends: readonly string[]): Codec['meter'] {
  const plain = meter(ends)
  return {
    ...plain,
    stream: (first, last) => (last.length === 0 ? { complete: true } : plain.stream(first, last)),
    torn(end) {
      const usage = usageOf(objectAfter(end, '"usage":'))
      return usage && { usage }
    },
  }
}

function metered(body: Json): Metered {
  if (!isObject(body)) return {}
  const usage = usageOf(body['usage'])
  const { model } = body
  return { ...(usage ? { usage } : {}), ...(typeof model === 'string' ? { model } : {}) }
}

/**
 * The disjoint buckets of `{ input_tokens, output_tokens }` or of `{ prompt_tokens, completion_tokens? }`. Undefined
 * if a count is missing or is no integer of at least 0, and for usage in seconds.
 */
function usageOf(value: Json | undefined): Usage | undefined {
  if (!isObject(value)) return undefined
  const input = count(value['input_tokens'] ?? value['prompt_tokens'])
  const output = count(
    value['output_tokens'] ?? value['completion_tokens'] ?? (value['prompt_tokens'] === undefined ? undefined : 0),
  )
  // Images use the one name, transcripts and speech the other.
  const details = value['input_tokens_details'] ?? value['input_token_details']
  const cacheRead = count((isObject(details) ? details['cached_tokens'] : undefined) ?? 0)
  if (input === undefined || output === undefined || cacheRead === undefined || cacheRead > input) return undefined
  const uncached = input - cacheRead
  return {
    input: uncached,
    ...partsOf(details, uncached, 'input'),
    cacheRead,
    cacheWrite: 0,
    output,
    ...partsOf(value['output_tokens_details'], output, 'output'),
    reasoning: 0,
  }
}

/** The audio and image tokens of a bucket, if reported. */
function partsOf(details: Json | undefined, bucket: number, side: 'input' | 'output'): Partial<Usage> {
  const told = isObject(details) ? details : {}
  const audio = Math.min(bucket, count(told['audio_tokens']) ?? 0)
  const image = Math.min(bucket - audio, count(told['image_tokens']) ?? 0)
  return {
    ...(audio > 0 ? { [`${side}Audio`]: audio } : {}),
    ...(image > 0 ? { [`${side}Image`]: image } : {}),
  }
}

function count(value: Json | undefined): number | undefined {
  return Number.isSafeInteger(value) && (value as number) >= 0 ? (value as number) : undefined
}
