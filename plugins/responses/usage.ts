import { isObject } from '../../engine/kit.ts'
import type { Json, JsonObject, Usage } from '../../engine/index.ts'

/** A count of tokens; undefined if it is invalid. */
function count(value: Json | undefined): number | undefined {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined
}

/** A count of a details object; 0 if absent. */
function detail(details: Json | undefined, name: string): number | undefined {
  if (details === undefined || details === null) return 0
  if (!isObject(details)) return undefined
  return details[name] === undefined || details[name] === null ? 0 : count(details[name])
}

/**
 * Parses `usage` into disjoint buckets. `input_tokens` includes cache reads and writes, and `output_tokens` includes
 * reasoning. Undefined if any count is no integer of at least 0.
 */
export function parseUsage(usage: Json | undefined): Usage | undefined {
  if (!isObject(usage)) return undefined
  const input = count(usage['input_tokens'])
  const output = count(usage['output_tokens'])
  const cacheRead = detail(usage['input_tokens_details'], 'cached_tokens')
  const cacheWrite = detail(usage['input_tokens_details'], 'cache_write_tokens')
  const reasoning = detail(usage['output_tokens_details'], 'reasoning_tokens')
  if (input === undefined || output === undefined) return undefined
  if (cacheRead === undefined || cacheWrite === undefined || reasoning === undefined) return undefined
  return {
    input: Math.max(0, input - cacheRead - cacheWrite),
    cacheRead,
    cacheWrite,
    output: Math.max(0, output - reasoning),
    reasoning,
  }
}

/** The reverse of `parseUsage`; null if unknown. */
export function printUsage(usage: Usage | undefined): JsonObject | null {
  if (!usage) return null
  const input = usage.input + usage.cacheRead + usage.cacheWrite
  const output = usage.output + usage.reasoning
  return {
    input_tokens: input,
    input_tokens_details: { cached_tokens: usage.cacheRead, cache_write_tokens: usage.cacheWrite },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: usage.reasoning },
    total_tokens: input + output,
  }
}
