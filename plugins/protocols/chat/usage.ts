import { isObject } from '../../../engine/kit.ts'
import type { Json, JsonObject, Usage } from '../../../engine/index.ts'

/**
 * The disjoint buckets of a `usage` object. Its counts include one another: `prompt_tokens` holds what was cached,
 * `completion_tokens` holds the reasoning. Undefined when a count is missing or is no whole number from 0.
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
  // Some servers count reasoning beside the completion; only their total tells.
  const apart = reasoning > 0 && value['total_tokens'] === prompt + completion + reasoning
  return {
    input: Math.max(0, prompt - cacheRead - cacheWrite),
    cacheRead,
    cacheWrite,
    output: apart ? completion : Math.max(0, completion - reasoning),
    reasoning,
  }
}

/** The buckets as a `usage` object. */
export function printUsage({ input, cacheRead, cacheWrite, output, reasoning }: Usage): JsonObject {
  const prompt = input + cacheRead + cacheWrite
  const completion = output + reasoning
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    prompt_tokens_details: { cached_tokens: cacheRead, cache_write_tokens: cacheWrite },
    completion_tokens_details: { reasoning_tokens: reasoning },
  }
}

/** A count inside a details object: 0 where nothing is said. */
function detail(details: Json | undefined, field: string): number | undefined {
  const value = isObject(details) ? details[field] : undefined
  return value === undefined || value === null ? 0 : count(value)
}

function count(value: Json | undefined): number | undefined {
  return Number.isSafeInteger(value) && (value as number) >= 0 ? (value as number) : undefined
}
