import { isObject } from '../../engine/kit.ts'
import type { Json, JsonObject, Usage } from '../../engine/index.ts'
import { objects } from './values.ts'
import { parseSearch } from './web-search.ts'

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
    ...costIn(usage),
  }
}

/** What a vendor says that the answer costs, in USD; the protocol has no word for it. */
function costIn({ cost }: JsonObject): Pick<Usage, 'cost'> {
  return typeof cost === 'number' && cost >= 0 && cost <= 1e6 ? { cost } : {}
}

/**
 * The usage of a response, with its web searches: those that the provider bills, where it tells, otherwise its items
 * (platform.openai.com/docs/api-reference/responses/object: `tool_usage`).
 */
export function usageOf(response: JsonObject): Usage | undefined {
  const usage = parseUsage(response['usage'])
  if (!usage) return undefined
  const { tool_usage: tools } = response
  const told = isObject(tools) && isObject(tools['web_search']) ? count(tools['web_search']['num_requests']) : undefined
  const searches = told ?? objects(response['output']).filter(isMade).length
  return searches > 0 ? { ...usage, searches } : usage
}

/** Whether an item is a search that was made; opening and reading pages is none. */
function isMade(item: JsonObject): boolean {
  const search = parseSearch(item)
  return search !== undefined && search.failed === undefined
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
