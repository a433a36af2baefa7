import { isObject } from '../../spec/json.ts'
import type { Json, JsonObject } from '../../spec/json.ts'
import type { Usage } from '../../spec/usage.ts'

/** The kind of output whose tokens an answer does not split by kind. */
export type OutputKind = 'text' | 'audio' | 'image'

/**
 * The disjoint buckets of `{ input_tokens, output_tokens }` or of `{ prompt_tokens, completion_tokens? }`. Undefined
 * if a count is missing or is no integer of at least 0, and for usage in seconds.
 * @param output the kind of output that is not split by kind
 */
export function tokenUsage(value: Json | undefined, output: OutputKind = 'text'): Usage | undefined {
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
  const outputs = partsOf(made, namesKinds(split) ? kindsOf(split) : { audio: 0, image: 0, [output]: made })
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

/** Whether details split by kind, and do not just tell something else, such as reasoning. */
function namesKinds(details: JsonObject | undefined): boolean {
  return ['text_tokens', 'audio_tokens', 'image_tokens'].some((kind) => count(details?.[kind]) !== undefined)
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
