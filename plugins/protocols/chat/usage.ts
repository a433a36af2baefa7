import { isObject } from '../../../engine/kit.ts'
import type { Json, JsonObject, Usage } from '../../../engine/index.ts'

/**
 * The disjoint buckets of a `usage` object, whose counts overlap: `prompt_tokens` includes cached tokens, and
 * `completion_tokens` includes reasoning. Undefined if a count is missing or is no integer of at least 0.
 */
export function parseUsage(value: Json | undefined): Usage | undefined {
  if (!isObject(value)) return undefined
  const prompt = count(value['prompt_tokens'])
  const completion = count(value['completion_tokens'])
  const cacheRead = detail(value['prompt_tokens_details'], 'cached_tokens')
  const cacheWrite = detail(value['prompt_tokens_details'], 'cache_write_tokens')
  const reasoning = detail(value['completion_tokens_details'], 'reasoning_tokens')
  if (prompt === undefined || completion === undefined) return undefined
  if (cacheRead === undefined || cacheWrite === undefined || reasoning === undefined) return undefined
  // Some servers count reasoning in addition to the completion, which only their total reveals.
  const apart = reasoning > 0 && value['total_tokens'] === prompt + completion + reasoning
  const input = Math.max(0, prompt - cacheRead - cacheWrite)
  const output = apart ? completion : Math.max(0, completion - reasoning)
  const { audio: inputAudio, image: inputImage } = partsOf(value['prompt_tokens_details'], input)
  const { audio: outputAudio, image: outputImage } = partsOf(value['completion_tokens_details'], output)
  const usage: Writable<Usage> = { input, cacheRead, cacheWrite, output, reasoning }
  if (inputAudio > 0) usage.inputAudio = inputAudio
  if (inputImage > 0) usage.inputImage = inputImage
  if (outputAudio > 0) usage.outputAudio = outputAudio
  if (outputImage > 0) usage.outputImage = outputImage
  const searches = searchesIn(value)
  if (searches > 0) usage.searches = searches
  const cost = costIn(value)
  if (cost !== undefined) usage.cost = cost
  return usage
}

type Writable<T> = { -readonly [K in keyof T]: T[K] }

/**
 * The web searches that a vendor reports; the protocol has no word for them (openrouter.ai/docs: `server_tool_use`;
 * docs.perplexity.ai: `num_search_queries`).
 */
function searchesIn({ server_tool_use: tools, num_search_queries: queries }: JsonObject): number {
  return count(isObject(tools) ? tools['web_search_requests'] : queries) ?? 0
}

/**
 * What a vendor says that the answer costs, in USD (openrouter.ai/docs/use-cases/usage-accounting,
 * docs.perplexity.ai). With a key of the account's own at the vendor behind, its bill is a part of it.
 */
function costIn({ cost, is_byok: own, cost_details: details }: JsonObject): number | undefined {
  const told = isObject(cost) ? cost['total_cost'] : cost
  const beside = own === true ? (isObject(details) ? details['upstream_inference_cost'] : undefined) : 0
  if (typeof told !== 'number' || typeof beside !== 'number') return undefined
  const sum = told + beside
  return sum >= 0 && sum <= 1e6 ? sum : undefined
}

/** The audio and image tokens of a bucket, at most its size: the upstream's counts may include cached tokens. */
function partsOf(details: Json | undefined, bucket: number): { readonly audio: number; readonly image: number } {
  const audio = Math.min(bucket, detail(details, 'audio_tokens') ?? 0)
  return { audio, image: Math.min(bucket - audio, detail(details, 'image_tokens') ?? 0) }
}

/** The buckets as a `usage` object. */
export function printUsage(usage: Usage): JsonObject {
  const { input, cacheRead, cacheWrite, output, reasoning, inputAudio, outputAudio } = usage
  const prompt = input + cacheRead + cacheWrite
  const completion = output + reasoning
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    prompt_tokens_details: {
      cached_tokens: cacheRead,
      cache_write_tokens: cacheWrite,
      ...(inputAudio === undefined ? {} : { audio_tokens: inputAudio }),
    },
    completion_tokens_details: {
      reasoning_tokens: reasoning,
      ...(outputAudio === undefined ? {} : { audio_tokens: outputAudio }),
    },
  }
}

/** A count of a details object; 0 if absent. */
function detail(details: Json | undefined, field: string): number | undefined {
  const value = isObject(details) ? details[field] : undefined
  return value === undefined || value === null ? 0 : count(value)
}

function count(value: Json | undefined): number | undefined {
  return Number.isSafeInteger(value) && (value as number) >= 0 ? (value as number) : undefined
}
