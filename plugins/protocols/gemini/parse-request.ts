import type { Format, GenerateRequest, Json, JsonObject, Rest } from '../../../engine/index.ts'
import { isObject, requireChosen } from '../../../engine/kit.ts'
import { conversationItems, systemMessages } from './parse-contents.ts'
import { jsonSchema, parseChoice, parseTools } from './parse-tools.ts'
import { camelCased } from './spelling.ts'
import { parseThinking } from './thinking.ts'
import type { Content } from './wire.ts'
import { protocol } from './wire.ts'

/** Parses the body of `generateContent` into neutral form. */
export function parse(given: JsonObject): GenerateRequest {
  const body = camelCased(given)
  const { systemInstruction, contents, tools: declared, stream } = body
  const config = objectOf(body.generationConfig)
  const toolConfig = objectOf(body.toolConfig)
  const tools = parseTools(Array.isArray(declared) ? (declared as readonly JsonObject[]) : [])
  const toolChoice = parseChoice(toolConfig)
  requireChosen(tools, toolChoice, protocol)
  const format = formatOf(config)
  const rest = unknownFields(body, config, toolConfig)
  return {
    items: [
      ...systemMessages(systemInstruction as unknown as Content | null | undefined),
      ...conversationItems(contents as unknown as readonly Content[]),
    ],
    tools,
    ...(toolChoice ? { toolChoice } : {}),
    ...present('maxOutputTokens', config.maxOutputTokens),
    ...present('temperature', config.temperature),
    ...present('topP', config.topP),
    ...present('topK', config.topK),
    ...(Array.isArray(config.stopSequences) && config.stopSequences.length > 0
      ? { stop: config.stopSequences as readonly string[] }
      : {}),
    ...present('seed', config.seed),
    ...present('presencePenalty', config.presencePenalty),
    ...present('frequencyPenalty', config.frequencyPenalty),
    ...(config.responseLogprobs === true ? { logprobs: Number(config.logprobs ?? 0) } : {}),
    ...(isObject(config.thinkingConfig) ? { reasoning: parseThinking(config.thinkingConfig) } : {}),
    ...(format ? { format } : {}),
    ...tierOf(body.serviceTier),
    stream: stream === true,
    ...(rest ? { rest } : {}),
  }
}

const objectOf = (value: Json | undefined): JsonObject => (isObject(value) ? value : {})

/** A field to spread, unless the client left it out or sent null; the schema has checked its type. */
function present(name: keyof GenerateRequest, value: Json | undefined): Partial<GenerateRequest> {
  return value === undefined || value === null ? {} : { [name]: value }
}

function formatOf(config: JsonObject): Format | undefined {
  const { responseMimeType: type, responseSchema: own } = config
  const schema = config.responseJsonSchema ?? config._responseJsonSchema
  if (isObject(schema)) return { type: 'schema', schema }
  if (isObject(own)) return { type: 'schema', schema: jsonSchema(own) }
  return type === 'application/json' ? { type: 'json' } : undefined
}

function tierOf(tier: Json | undefined): Pick<GenerateRequest, 'serviceTier'> {
  if (typeof tier !== 'string') return {}
  const known = tier.toLowerCase()
  return { serviceTier: known === 'standard' ? 'default' : known }
}

/** Fields with a neutral form, and `routing`, which belongs to the gateway and is not forwarded. */
const known = `model stream contents systemInstruction tools toolConfig generationConfig serviceTier routing`.split(' ')
const knownOfConfig = `maxOutputTokens temperature topP topK stopSequences seed presencePenalty frequencyPenalty
  responseLogprobs logprobs thinkingConfig responseSchema responseJsonSchema _responseJsonSchema`.split(/\s+/)

function unknownFields(body: JsonObject, config: JsonObject, toolConfig: JsonObject): Rest | undefined {
  const { responseMimeType: type, candidateCount: count, ...others } = without(config, knownOfConfig)
  const plain = type === 'application/json' || type === 'text/plain'
  const generationConfig = {
    ...others,
    ...(type === undefined || plain ? {} : { responseMimeType: type }),
    ...(count === undefined || count === 1 ? {} : { candidateCount: count }),
  }
  const fields = {
    ...without(body, known),
    ...filled('generationConfig', generationConfig),
    ...filled('toolConfig', without(toolConfig, ['functionCallingConfig'])),
  }
  return Object.keys(fields).length > 0 ? { protocol, fields } : undefined
}

function filled(name: string, value: JsonObject): JsonObject {
  return Object.keys(value).length > 0 ? { [name]: value } : {}
}

function without(object: JsonObject, names: readonly string[]): JsonObject {
  return Object.fromEntries(
    Object.entries(object).filter(([name, value]) => !names.includes(name) && value !== null && value !== undefined),
  )
}

/** Whether a body asks for the vendor's web search. */
export function searches(body: JsonObject): boolean {
  const { tools } = body
  return (
    Array.isArray(tools) && tools.some((tool) => isObject(tool) && isObject(tool.googleSearch ?? tool.google_search))
  )
}
