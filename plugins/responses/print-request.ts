import { createHash } from 'node:crypto'
import { defined, Losses, takenSampling } from '../../engine/kit.ts'
import type {
  Format,
  GenerateRequest,
  JsonObject,
  Printed,
  PrintTarget,
  ReasoningWish,
  Tool,
} from '../../engine/index.ts'
import { logprobs } from './parse-request.ts'
import { printItems } from './print-items.ts'
import { ciphertext } from './reasoning.ts'
import { naming, printChoice, printTools } from './print-tools.ts'
import { traitsOf } from './traits.ts'
import { isList, noSuchField, protocol, undotted } from './values.ts'
import { isSearch, sources } from './web-search.ts'

const tiers = new Set(['auto', 'default', 'flex', 'scale', 'priority', 'fast', 'ultrafast'])

/** Most characters of `safety_identifier` and `prompt_cache_key`. */
const keyLimit = 64

/**
 * Prints a neutral request for an upstream of this protocol. The upstream stores nothing unless the client requests it,
 * so reasoning is sent as ciphertext, and items have no ids.
 */
export function print(request: GenerateRequest, target: PrintTarget): Printed<JsonObject> {
  const losses = new Losses(protocol)
  const printing = { losses, traits: traitsOf(target.offer) }
  const { include, user, ...rest } = losses.own(request.rest, { because: noSuchField })
  const { inner: reasoning, outer } = undotted('reasoning', rest)
  const { inner: text, outer: own } = undotted('text', outer)
  const names = naming(request.tools, printing)
  const chosen = printChoice(request, names, printing)
  const tools = printTools(chosen.tools, names, printing)
  const stored = request.store === true
  const { instructions, input } = printItems(request.items, {
    ...printing,
    naming: names,
    origin: target.origin,
    stored,
  })
  const sealed = !stored && printing.traits.encrypted_reasoning && reasons(request, input)
  const wanted = [
    ...(isList(include) ? include : []),
    ...(sealed ? [ciphertext] : []),
    ...(request.logprobs === undefined ? [] : [logprobs]),
    // Clients of other protocols always see the results.
    ...(chosen.tools.some(searchesForOthers) && tools.some(isSearch) ? [sources] : []),
  ]
  const penalties = printPenalties(request)
  const { topK: _, ...sampled } = request
  const sampling = takenSampling(sampled, target, losses)
  unsupported(request, Object.keys(penalties), losses)
  if (tools.length === 0 && typeof chosen.choice === 'object') losses.add('tool_choice', 'there is no tool to choose')
  const body = defined({
    ...own,
    model: target.model,
    instructions,
    input,
    tools: tools.length > 0 ? tools : undefined,
    tool_choice: tools.length > 0 ? chosen.choice : undefined,
    parallel_tool_calls: tools.length > 0 ? request.parallelTools : undefined,
    max_output_tokens: request.maxOutputTokens,
    temperature: sampling.temperature,
    top_p: sampling.topP,
    ...penalties,
    top_logprobs: request.logprobs || undefined,
    reasoning: filled({ ...reasoning, ...printWish(request.reasoning) }),
    text: filled({ ...text, ...defined({ format: printFormat(request.format), verbosity: request.verbosity }) }),
    user,
    safety_identifier: shortened(request.user),
    prompt_cache_key: shortened(request.cacheKey ?? request.user),
    service_tier: printTier(request.serviceTier, losses),
    metadata: request.metadata,
    store: stored,
    include: wanted.length > 0 ? [...new Set(wanted)] : undefined,
    stream: request.stream || undefined,
  })
  return { body, losses: losses.list(), restore: names.restore, ...(request.stop ? { cuts: request.stop } : {}) }
}

function searchesForOthers(tool: Tool): boolean {
  return tool.type === 'opaque' && tool.search !== undefined && tool.protocol !== protocol
}

/** Whether to request ciphertext: models without reasoning reject it. */
function reasons({ reasoning }: GenerateRequest, input: readonly JsonObject[]): boolean {
  const asked = reasoning !== undefined && reasoning.effort !== 'none' && reasoning.budget !== 0
  return asked || input.some(({ type }) => type === 'reasoning')
}

/** Only some upstreams have penalties, so only clients of this protocol can send them. */
function printPenalties({ rest, frequencyPenalty, presencePenalty }: GenerateRequest): JsonObject {
  if (rest?.protocol !== protocol) return {}
  return defined({ frequency_penalty: frequencyPenalty, presence_penalty: presencePenalty })
}

function unsupported(request: GenerateRequest, printed: readonly string[], losses: Losses): void {
  const fields = {
    top_k: request.topK,
    seed: request.seed,
    frequency_penalty: request.frequencyPenalty,
    presence_penalty: request.presencePenalty,
  }
  for (const field of Object.keys(defined(fields))) if (!printed.includes(field)) losses.add(field, noSuchField)
}

/** Prints the reasoning options. A budget of tokens becomes an effort of about the same cost. */
function printWish(wish: ReasoningWish | undefined): JsonObject {
  const { budget, summary } = wish ?? {}
  const effort = wish?.effort ?? (budget === undefined ? undefined : effortOf(budget))
  return defined({ effort, summary: summary === 'none' ? undefined : summary })
}

function effortOf(budget: number): string {
  if (budget <= 0) return 'none'
  if (budget < 4096) return 'low'
  return budget < 16_384 ? 'medium' : 'high'
}

function printFormat(format: Format | undefined): JsonObject | undefined {
  switch (format?.type) {
    case undefined:
      return undefined
    case 'text':
      return { type: 'text' }
    case 'json':
      return { type: 'json_object' }
    case 'schema': {
      const { name, description, schema, strict } = format
      return defined({ type: 'json_schema', name: name ?? 'answer', description, schema, strict })
    }
  }
}

function printTier(tier: string | undefined, losses: Losses): string | undefined {
  if (tier === undefined || tiers.has(tier)) return tier
  losses.add('service_tier', 'the responses protocol has no such tier')
  return undefined
}

function filled(value: JsonObject): JsonObject | undefined {
  return Object.keys(value).length > 0 ? value : undefined
}

/** The key, or its hash if it is too long, which identifies the same cache or user. */
function shortened(key: string | undefined): string | undefined {
  if (key === undefined || key.length <= keyLimit) return key
  return createHash('sha256').update(key).digest('hex')
}
