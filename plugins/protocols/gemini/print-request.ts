import type { GenerateRequest, Json, JsonObject, Printed, PrintTarget } from '../../../engine/index.ts'
import { Losses, isObject, takenSampling, toolNames } from '../../../engine/kit.ts'
import { contents, systemParts } from './print-contents.ts'
import type { Printing } from './printing.ts'
import { printThinking } from './thinking.ts'
import { printTools } from './print-tools.ts'
import { traitsOf } from './traits.ts'
import { protocol } from './wire.ts'

/** Most characters of a function's name. */
const nameLimit = 64
/** Most stop sequences that the vendor takes. */
const stopLimit = 5

/**
 * Prints a request body for an upstream of this protocol, with the traits of `geminiTraits`. The model and whether to
 * stream stand in its address.
 */
export function print(request: GenerateRequest, target: PrintTarget): Printed<JsonObject> {
  const names = toolNames(request.tools, nameLimit)
  const losses = new Losses(protocol)
  const printing: Printing = { target, traits: traitsOf(target.offer.traits), names, losses }
  const system = systemParts(request, printing)
  const said = contents(request, printing)
  const tools = printTools(request, printing)
  const { generationConfig: ownConfig, toolConfig: _, ...rest } = losses.own(request.rest)
  const config = { ...(ownConfig as JsonObject | undefined), ...generationConfig(request, printing) }
  const { stop = [] } = request
  unsaid(request, losses)
  return {
    body: {
      ...rest,
      ...(system.length > 0 ? { systemInstruction: { parts: system } } : {}),
      contents: said,
      ...tools,
      ...(Object.keys(config).length > 0 ? { generationConfig: config } : {}),
      ...serviceTier(request, losses),
    },
    losses: losses.list(),
    ...(stop.length > stopLimit ? { cuts: stop.slice(stopLimit) } : {}),
    restore: names.restore('as-functions'),
  }
}

function generationConfig(request: GenerateRequest, printing: Printing): JsonObject {
  const { stop = [], logprobs, reasoning } = request
  const thinking = printThinking(reasoning, printing)
  const fields: Record<string, Json | undefined> = {
    ...takenSampling(request, printing.target, printing.losses),
    maxOutputTokens: request.maxOutputTokens,
    stopSequences: stop.length > 0 ? stop.slice(0, stopLimit) : undefined,
    seed: request.seed,
    presencePenalty: request.presencePenalty,
    frequencyPenalty: request.frequencyPenalty,
    responseLogprobs: logprobs === undefined ? undefined : true,
    logprobs: logprobs === 0 ? undefined : logprobs,
    thinkingConfig: thinking,
    ...answerFormat(request, printing.losses),
  }
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))
}

function answerFormat({ format }: GenerateRequest, losses: Losses): JsonObject {
  switch (format?.type) {
    case 'json':
      return { responseMimeType: 'application/json' }
    case 'schema':
      if (format.description !== undefined)
        losses.add('response_format.description', 'formats have no description here')
      return { responseMimeType: 'application/json', responseJsonSchema: format.schema }
    default:
      return {}
  }
}

function serviceTier({ serviceTier: tier }: GenerateRequest, losses: Losses): JsonObject {
  if (tier === undefined || tier === 'auto') return {}
  if (tier === 'default') return { serviceTier: 'standard' }
  if (tier === 'flex' || tier === 'priority') return { serviceTier: tier }
  losses.add('service_tier', 'the upstream has no such tier')
  return {}
}

/** Records fields that this protocol lacks, by the names that clients use. */
function unsaid(request: GenerateRequest, losses: Losses): void {
  const fields = {
    verbosity: request.verbosity,
    user: request.user,
    metadata: request.metadata,
    prompt_cache_key: request.cacheKey,
    store: request.store || undefined,
  }
  for (const [field, value] of Object.entries(fields))
    if (value !== undefined) losses.add(field, 'the protocol has no such field')
  if (request.items.some(hasMark)) losses.add('cache_control', 'the protocol has no cache marks')
}

function hasMark(item: GenerateRequest['items'][number]): boolean {
  if (item.type === 'message' || item.type === 'result')
    return (
      item.content.some((part) => 'cache' in part && part.cache !== undefined) ||
      ('cache' in item && isObject(item.cache))
    )
  return item.type === 'call' && item.cache !== undefined
}
