import { isObject, objectAfter, parsedObject } from '../../../engine/kit.ts'
import type { Codec, Json, JsonObject, Metered, Usage } from '../../../engine/index.ts'

/** The kind of output whose tokens an answer does not split by kind. */
type Output = 'text' | 'audio' | 'image'

/**
 * Reads `usage` and `model` of an answer. The last event of a stream has one of the types `ends`, or, for servers with
 * their own event shapes, is followed by `[DONE]`.
 */
export function meter(ends: readonly string[], output: Output = 'text'): Codec['meter'] {
  return {
    reply: (body) => metered(body, output),
    stream(_first, last) {
      const event = last.findLast(({ data }) => data.startsWith('{'))
      const body = event && parsedObject(event.data)
      const ended = isObject(body) && ends.some((type) => type === body['type'])
      const complete = ended || last.at(-1)?.data === '[DONE]'
      return { ...(complete && body ? metered(body, output) : {}), complete }
    },
  }
}

/**
 * Like `meter`, for streams whose last event contains a whole image. That event is larger than the tail that a meter
 * receives, so a tail without a whole event means that it arrived. Its usage follows the image, and its output tokens
 * are those of the image (platform.openai.com/docs/api-reference/images-streaming).
 */
export function pictureMeter(end: string): Codec['meter'] {
  const plain = meter([end], 'image')
  return {
    ...plain,
    reply: (body) => ({ ...plain.reply(body), ...svgUsage(body) }),
    stream: (first, last) => (last.length === 0 ? { complete: true } : plain.stream(first, last)),
    torn(rest) {
      const usage = usageOf(objectAfter(rest, '"usage":'), 'image')
      return usage && { usage }
    },
    delivers: [end],
  }
}

/** The usage of the model that wrote the SVG, which has its own price (`svg_usage`). */
function svgUsage(body: Json): Pick<Metered, 'further'> {
  const { svg_usage: told } = object(body) ?? {}
  const usage = usageOf(told, 'text')
  const model = object(told)?.['model']
  return usage && typeof model === 'string' ? { further: [{ model, usage }] } : {}
}

function metered(body: Json, output: Output): Metered {
  if (!isObject(body)) return {}
  const usage = usageOf(body['usage'], output)
  const { model } = body
  return { ...(usage ? { usage } : {}), ...(typeof model === 'string' ? { model } : {}) }
}

/**
 * The disjoint buckets of `{ input_tokens, output_tokens }` or of `{ prompt_tokens, completion_tokens? }`. Undefined
 * if a count is missing or is no integer of at least 0, and for usage in seconds.
 */
function usageOf(value: Json | undefined, output: Output): Usage | undefined {
  if (!isObject(value)) return undefined
  const read = count(value['input_tokens'] ?? value['prompt_tokens'])
  const made = count(
    value['output_tokens'] ?? value['completion_tokens'] ?? (value['prompt_tokens'] === undefined ? undefined : 0),
  )
  // Images use the plural, transcripts and speech the singular.
  const details = object(value['input_tokens_details'] ?? value['input_token_details'])
  const cacheRead = count(details?.['cached_tokens'] ?? 0)
  if (read === undefined || made === undefined || cacheRead === undefined || cacheRead > read) return undefined
  const input = read - cacheRead
  const inputs = partsOf(input, kindsOf(details), kindsOf(object(details?.['cached_tokens_details'])))
  const split = object(value['output_tokens_details'] ?? value['output_token_details'])
  const outputs = partsOf(made, split ? kindsOf(split) : { audio: 0, image: 0, [output]: made })
  return {
    input,
    ...(inputs.audio > 0 ? { inputAudio: inputs.audio } : {}),
    ...(inputs.image > 0 ? { inputImage: inputs.image } : {}),
    cacheRead,
    cacheWrite: 0,
    output: made,
    ...(outputs.audio > 0 ? { outputAudio: outputs.audio } : {}),
    ...(outputs.image > 0 ? { outputImage: outputs.image } : {}),
    reasoning: 0,
  }
}

/** Tokens by kind; those of no kind are text. */
interface Kinds {
  readonly audio: number
  readonly image: number
}

function kindsOf(details: JsonObject | undefined): Kinds {
  return { audio: count(details?.['audio_tokens']) ?? 0, image: count(details?.['image_tokens']) ?? 0 }
}

/** The audio and image tokens of a bucket without those from a cache, together at most as many as the bucket has. */
function partsOf(bucket: number, all: Kinds, cached: Kinds = { audio: 0, image: 0 }): Kinds {
  const audio = Math.min(bucket, Math.max(0, all.audio - cached.audio))
  return { audio, image: Math.min(bucket - audio, Math.max(0, all.image - cached.image)) }
}

function object(value: Json | undefined): JsonObject | undefined {
  return isObject(value) ? value : undefined
}

function count(value: Json | undefined): number | undefined {
  return Number.isSafeInteger(value) && (value as number) >= 0 ? (value as number) : undefined
}
