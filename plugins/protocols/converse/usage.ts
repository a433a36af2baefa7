import type { Json, JsonObject } from '../../../engine/index.ts'
import { isObject } from '../../../engine/kit.ts'

/**
 * The usage of an answer in the words of the messages protocol, which counts in the same way: `inputTokens` are those
 * that were neither read from a cache nor written to one.
 */
export function usageFields(usage: Json | undefined): JsonObject {
  if (!isObject(usage)) return {}
  const { inputTokens, outputTokens, cacheReadInputTokens: read, cacheWriteInputTokens: written, cacheDetails } = usage
  const hour = Array.isArray(cacheDetails)
    ? cacheDetails.find((detail): detail is JsonObject => isObject(detail) && detail['ttl'] === '1h')
    : undefined
  return {
    input_tokens: inputTokens ?? null,
    output_tokens: outputTokens ?? null,
    cache_read_input_tokens: read ?? null,
    cache_creation_input_tokens: written ?? null,
    ...(hour ? { cache_creation: { ephemeral_1h_input_tokens: hour['inputTokens'] ?? null } } : {}),
  }
}
