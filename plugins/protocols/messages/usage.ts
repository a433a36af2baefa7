import type { JsonObject, Usage } from '../../../engine/index.ts'
import { isObject } from '../../../engine/kit.ts'

/**
 * Parses usage into disjoint buckets. `input_tokens` has only uncached input; `output_tokens` includes thinking. Counts
 * of caches and thinking may be absent or null. Any other count that is no number of tokens makes the whole usage
 * unknown.
 */
export function parseUsage(wire: unknown): Usage | undefined {
  if (!isObject(wire)) return undefined
  const details = wire.output_tokens_details
  const input = count(wire.input_tokens)
  const output = count(wire.output_tokens)
  const cacheRead = count(wire.cache_read_input_tokens ?? 0)
  const cacheWrite = written(wire)
  const { long = 0 } = split(wire) ?? {}
  const reasoning = count(isObject(details) ? (details.thinking_tokens ?? 0) : 0)
  if (input === undefined || output === undefined || cacheRead === undefined) return undefined
  if (cacheWrite === undefined || reasoning === undefined || reasoning > output) return undefined
  const hour = long > 0 && long <= cacheWrite ? { cacheWriteHour: long } : {}
  return { input, cacheRead, cacheWrite, ...hour, output: output - reasoning, reasoning, ...searchesIn(wire) }
}

/** The searches of the vendor's own tool (platform.claude.com/docs/en/agents-and-tools/tool-use/web-search-tool). */
function searchesIn({ server_tool_use: wire }: JsonObject): Pick<Usage, 'searches'> {
  const searches = isObject(wire) ? (count(wire.web_search_requests) ?? 0) : 0
  return searches > 0 ? { searches } : {}
}

/** The total of cache writes, or the sum over their lifetimes if the total is absent. */
function written(wire: JsonObject): number | undefined {
  if (wire.cache_creation_input_tokens !== undefined && wire.cache_creation_input_tokens !== null)
    return count(wire.cache_creation_input_tokens)
  if (!isObject(wire.cache_creation)) return 0
  const { short, long } = split(wire) ?? {}
  return short === undefined || long === undefined ? undefined : short + long
}

/** Cache writes by lifetime: 5 minutes, and an hour. */
function split({ cache_creation: wire }: JsonObject) {
  if (!isObject(wire)) return undefined
  return { short: count(wire.ephemeral_5m_input_tokens ?? 0), long: count(wire.ephemeral_1h_input_tokens ?? 0) }
}

function count(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined
}

/** Prints the buckets as usage; zeros if unknown, because official clients read the counts without a check. */
export function printUsage(usage: Usage | undefined): JsonObject {
  if (!usage) return { input_tokens: 0, output_tokens: 0 }
  return {
    input_tokens: usage.input,
    cache_creation_input_tokens: usage.cacheWrite,
    cache_read_input_tokens: usage.cacheRead,
    ...printSplit(usage),
    output_tokens: usage.output + usage.reasoning,
    ...(usage.reasoning > 0 ? { output_tokens_details: { thinking_tokens: usage.reasoning } } : {}),
  }
}

function printSplit({ cacheWrite, cacheWriteHour: long }: Usage): JsonObject {
  if (long === undefined) return {}
  return { cache_creation: { ephemeral_5m_input_tokens: cacheWrite - long, ephemeral_1h_input_tokens: long } }
}

/** Merges the running totals of a stream: present counters replace earlier ones, absent and null ones do not. */
export function mergeUsage(known: unknown, update: unknown): JsonObject {
  const merged: Record<string, JsonObject[string]> = isObject(known) ? { ...known } : {}
  if (!isObject(update)) return merged
  for (const [name, value] of Object.entries(update)) if (value !== null && value !== undefined) merged[name] = value
  return merged
}
