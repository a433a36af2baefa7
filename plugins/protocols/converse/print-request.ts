import type { GenerateRequest, Json, JsonObject, Printed, PrintTarget } from '../../../engine/index.ts'
import { Losses, defined, toolNames } from '../../../engine/kit.ts'
import { answerSchema } from '../messages/answer-schema.ts'
import { lengthUpTo, wantsMarks, worthwhile } from '../messages/cache-marks.ts'
import { formatInstruction, sampling, stopSequences, unsaid } from '../messages/print-request.ts'
import { systemBlocks, turns } from '../turns.ts'
import { DocumentNames } from './document-names.ts'
import { familyOf } from './family.ts'
import { printReasoning } from './print-reasoning.ts'
import { nameLimit, printTools } from './print-tools.ts'
import { blocksOf, unthought } from './print-turns.ts'
import { cachePoint, caches } from './printing.ts'
import type { Printing } from './printing.ts'
import { traitsOf } from './traits.ts'
import { protocol } from './wire.ts'

/**
 * Prints a request body of Converse and ConverseStream (docs.aws.amazon.com/bedrock, API_runtime_Converse), with the
 * traits of `converseTraits`. The model stands in the address.
 */
export function print(request: GenerateRequest, target: PrintTarget): Printed<JsonObject> {
  const names = toolNames(request.tools, nameLimit)
  const losses = new Losses(protocol)
  const printing: Printing = {
    target,
    traits: traitsOf(target),
    family: familyOf(target),
    names,
    documents: new DocumentNames(),
    losses,
  }
  const blocks = blocksOf(printing)
  const system = systemBlocks(request, blocks)
  const said = turns(request, blocks)
  const toolConfig = printTools(request, printing)
  const { any, tool } = toolConfig?.toolChoice ?? {}
  const forced = any !== undefined || tool !== undefined
  const reasoning = printReasoning(request, { forced, unthought: unthought(said) }, printing)
  const { temperature, top_p: topP, top_k: topK } = sampling(request, reasoning.thinking, printing)
  const stops = stopSequences(request)
  const format = answerFormat(request, printing)
  const takesMarks = wantsMarks(request, target, { cache_control: caches(printing) })
  losses.own(request.rest)
  const { metadata: _printed, ...others } = request
  unsaid(others, takesMarks, losses)
  if (request.user !== undefined) losses.add('user', 'the protocol has no such field')
  const prompt = {
    ...(system.length + format.instruction.length > 0 ? { system: [...system, ...format.instruction] } : {}),
    messages: said.map(({ role, blocks: content }) => ({ role, content })),
    ...(toolConfig ? { toolConfig } : {}),
  }
  const inferenceConfig = defined({
    maxTokens: reasoning.maxTokens,
    temperature,
    topP,
    stopSequences: stops.taken.length > 0 ? stops.taken : undefined,
  })
  const fields: JsonObject = { ...printing.traits.model_fields, ...reasoning.fields, ...topKField(topK, printing) }
  // The API itself does not tell which sequence ended the answer.
  const asked = stops.taken.length > 0 && printing.family === 'claude' ? ['/stop_sequence'] : []
  return {
    body: {
      ...(takesMarks ? withPoints(prompt) : prompt),
      ...filled('inferenceConfig', inferenceConfig),
      ...filled('outputConfig', { ...reasoning.output, ...format.field }),
      ...filled('additionalModelRequestFields', fields),
      ...filled('additionalModelResponseFieldPaths', asked),
      ...filled('guardrailConfig', printing.traits.guardrail),
      ...requestMetadata(request, losses),
      ...serviceTier(request, losses),
    },
    losses: losses.list(),
    ...(stops.refused.length > 0 ? { cuts: stops.refused } : {}),
    restore: names.restore('as-functions'),
  }
}

/** A field with a value that is not empty, to spread. */
function filled(name: string, value: object): JsonObject {
  return Object.keys(value).length > 0 ? { [name]: value as Json } : {}
}

/** The format of the answer: a field if the upstream has one that can say it, otherwise an instruction after the system text. */
function answerFormat({ format }: GenerateRequest, { traits, losses }: Printing) {
  if (!format || format.type === 'text') return { field: {}, instruction: [] }
  const schema = format.type === 'schema' && traits.json_schema ? answerSchema(format.schema, losses) : undefined
  if (format.type !== 'schema' || !schema)
    return { field: {}, instruction: [{ text: formatInstruction(format, losses) }] }
  const { name, description } = format
  const jsonSchema = defined({ schema: JSON.stringify(schema), name, description })
  return { field: { textFormat: { type: 'json_schema', structure: { jsonSchema } } }, instruction: [] }
}

/** `topK` is a field of models. */
function topKField(topK: number | undefined, { family, losses }: Printing): JsonObject {
  if (topK === undefined) return {}
  if (family === 'claude') return { top_k: topK }
  if (family === 'nova') return { inferenceConfig: { topK } }
  losses.add('top_k', 'the model has no such field')
  return {}
}

/** Most entries of the metadata, and what keys and values may consist of. */
const mostEntries = 16
const legal = /^[\w\s:@$#=/+,.-]{1,256}$/

function requestMetadata({ metadata }: GenerateRequest, losses: Losses): JsonObject {
  if (metadata === undefined) return {}
  const entries = Object.entries(metadata)
  const fits = ([key, value]: (typeof entries)[number]) =>
    legal.test(key) && typeof value === 'string' && (value === '' || legal.test(value))
  if (entries.length > 0 && entries.length <= mostEntries && entries.every(fits)) return { requestMetadata: metadata }
  losses.add('metadata', 'the upstream takes at most 16 short texts of certain characters')
  return {}
}

const tiers: ReadonlySet<string> = new Set(['default', 'flex', 'priority'])

function serviceTier({ serviceTier: type }: GenerateRequest, losses: Losses): JsonObject {
  if (type === undefined || type === 'auto') return {}
  if (tiers.has(type)) return { serviceTier: { type } }
  losses.add('service_tier', 'the upstream has no such tier')
  return {}
}

/** The part of a request that the next one repeats. */
interface Prompt {
  readonly system?: readonly JsonObject[]
  readonly toolConfig?: { readonly tools: readonly JsonObject[] }
  readonly messages: readonly { readonly role: string; readonly content: readonly JsonObject[] }[]
}

/**
 * The prompt with a cache point after the system text, after the tools, and at the end of the user's last turn. A prompt
 * that is short, or already has a point, stays unchanged.
 */
function withPoints<P extends Prompt>(prompt: P): P {
  const { system = [], toolConfig, messages } = prompt
  const tools = toolConfig?.tools ?? []
  const lists = [system, tools, ...messages.map(({ content }) => content)]
  if (lists.some((list) => list.some((block) => 'cachePoint' in block))) return prompt
  if (lengthUpTo(worthwhile, lists) < worthwhile) return prompt
  const last = messages.findLastIndex(({ role }) => role === 'user')
  return {
    ...prompt,
    ...(system.length > 0 ? { system: [...system, cachePoint] } : {}),
    ...(toolConfig && tools.length > 0 ? { toolConfig: { ...toolConfig, tools: [...tools, cachePoint] } } : {}),
    messages: messages.map((turn, at) => (at === last ? { ...turn, content: pointed(turn.content) } : turn)),
  }
}

/** A turn with a point at its end, where the API takes one: not after a document that is no PDF. */
function pointed(content: readonly JsonObject[]): readonly JsonObject[] {
  const document = content.at(-1)?.['document'] as { readonly format?: string } | undefined
  return document === undefined || document.format === 'pdf' ? [...content, cachePoint] : content
}
