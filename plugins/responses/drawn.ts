import { objectAfter, parsedObject, tokenUsage } from '../../engine/kit.ts'
import type { JsonObject, Metered } from '../../engine/index.ts'
import { object, objects, text } from './values.ts'

const tool = 'image_generation'

/**
 * What the pictures of a response used, which its own usage leaves out: they have the prices of the model that drew them
 * (platform.openai.com/docs/api-reference/responses/object: `tool_usage`). Without its name, they have none.
 */
export function drawn({ tool_usage: used, tools }: JsonObject): Metered['further'] {
  const told = object(object(used)?.['image_gen'])
  if (!told) return undefined
  const cached = object(told['cached_tokens_details'])?.['cached_image_tokens'] ?? 0
  const details = {
    ...object(told['input_tokens_details']),
    cached_tokens: told['cached_tokens'] ?? 0,
    cached_tokens_details: { image_tokens: cached },
  }
  const usage = tokenUsage({ ...told, input_tokens_details: details }, 'image')
  if (!usage || usage.input + usage.cacheRead + usage.output === 0) return undefined
  const model = text(objects(tools).find(({ type }) => type === tool)?.['model'])
  return [{ model: model ?? '', usage }]
}

/** The fields that `drawn` and `usageOf` read, from the end of a response that is too large to be kept. */
export function usedAtEnd(end: string): JsonObject {
  const tools = end.slice(end.lastIndexOf('"tool_usage":'))
  const at = end.lastIndexOf(`"${tool}"`)
  const drawing = at < 0 ? undefined : parsedObject(end.slice(end.lastIndexOf('{', at), end.indexOf('}', at) + 1))
  return {
    usage: objectAfter(end, '"usage":') ?? null,
    tool_usage: {
      image_gen: objectAfter(tools, '"image_gen":') ?? null,
      web_search: objectAfter(tools, '"web_search":') ?? null,
    },
    tools: drawing ? [drawing] : [],
  }
}
