import { GatewayError } from '../../../engine/index.ts'
import type { Format, GenerateRequest, Item, Json, JsonObject, Message, ReasoningWish } from '../../../engine/index.ts'
import { readInputItem } from './items.ts'
import { readParts } from './parts.ts'
import { readTools, readToolChoice } from './tools.ts'
import { boolean, isList, known, number, object, objects, protocol, text, without } from './values.ts'

/** Fields that have a place in the neutral form, and those that speak to the gateway alone. */
const understood = new Set(
  (
    'model input instructions tools tool_choice parallel_tool_calls max_output_tokens temperature top_p ' +
    'top_logprobs reasoning text safety_identifier prompt_cache_key service_tier metadata store stream ' +
    'include user background routing type generate stream_id'
  ).split(' '),
)
const reasoningFields = new Set(['effort', 'summary', 'generate_summary'])
const textFields = new Set(['format', 'verbosity'])
const ciphertext = 'reasoning.encrypted_content'
export const logprobs = 'message.output_text.logprobs'

/** A request body, valid by `schema`, in the neutral form. */
export function parse(body: JsonObject): GenerateRequest {
  const format = readFormat(object(body['text'])?.['format'])
  const top = number(body['top_logprobs'])
  const safety = text(body['safety_identifier'])
  return known({
    items: [...readInstructions(body['instructions']), ...readInput(body['input'])],
    tools: [...readTools(body['tools'], 'tools'), ...additionalTools(body['input'])],
    toolChoice: readToolChoice(body['tool_choice']),
    parallelTools: boolean(body['parallel_tool_calls']),
    maxOutputTokens: number(body['max_output_tokens']),
    temperature: number(body['temperature']),
    topP: number(body['top_p']),
    logprobs: includes(body).includes(logprobs) || (top ?? 0) > 0 ? (top ?? 0) : undefined,
    reasoning: readWish(body['reasoning']),
    format: format === 'native' ? undefined : format,
    verbosity: text(object(body['text'])?.['verbosity']),
    user: safety ?? text(body['user']),
    cacheKey: text(body['prompt_cache_key']),
    serviceTier: text(body['service_tier']),
    metadata: object(body['metadata']),
    store: boolean(body['store']),
    stream: body['stream'] === true,
    streamUsage: true,
    rest: readRest(body, format === 'native', safety !== undefined),
  })
}

function readInstructions(instructions: Json | undefined): readonly Item[] {
  if (isList(instructions)) return objects(instructions).map(readInputItem)
  const content = readParts(instructions)
  return content.length > 0 ? [{ type: 'message', role: 'system', content } satisfies Message] : []
}

function readInput(input: Json | undefined): readonly Item[] {
  if (typeof input === 'string') return [{ type: 'message', role: 'user', content: readParts(input) }]
  return objects(input)
    .filter(({ type }) => type !== 'additional_tools')
    .map(readInputItem)
}

function additionalTools(input: Json | undefined) {
  if (!isList(input)) return []
  return input.flatMap((item, index) => {
    const value = object(item)
    return value?.['type'] === 'additional_tools' ? readTools(value['tools'], `input[${index}].tools`) : []
  })
}

function includes(body: JsonObject): readonly Json[] {
  return isList(body['include']) ? body['include'] : []
}

function readWish(value: Json | undefined): ReasoningWish | undefined {
  const wish = object(value)
  const effort = text(wish?.['effort'])
  const summary = text(wish?.['summary']) ?? text(wish?.['generate_summary'])
  return effort === undefined && summary === undefined ? undefined : known({ effort, summary })
}

/** `native`: a format that only this protocol has. */
function readFormat(value: Json | undefined): Format | 'native' | undefined {
  const format = object(value)
  switch (format?.['type']) {
    case undefined:
      return undefined
    case 'text':
      return { type: 'text' }
    case 'json_object':
      return { type: 'json' }
    case 'json_schema': {
      const schema = object(format?.['schema'])
      if (!schema)
        throw new GatewayError('invalid_value', { param: 'text.format.schema', reason: 'a schema is needed' })
      const { name, description, strict } = format ?? {}
      return known({
        type: 'schema' as const,
        name: text(name),
        description: text(description),
        schema,
        strict: boolean(strict),
      })
    }
    default:
      return 'native'
  }
}

function readRest(body: JsonObject, nativeFormat: boolean, userApart: boolean) {
  const reasoning = without(object(body['reasoning']) ?? {}, reasoningFields)
  const words = object(body['text']) ?? {}
  const others = { ...without(words, textFields), ...(nativeFormat ? known({ format: words['format'] }) : {}) }
  // Whether ciphertext is asked for upstream follows from `store`; only a stored conversation has to say it.
  const include = includes(body).filter((word) => word !== logprobs && (word !== ciphertext || body['store'] === true))
  const given = Object.entries(without(body, understood)).filter(([, value]) => value !== undefined && value !== null)
  const fields: JsonObject = known({
    ...Object.fromEntries(given),
    reasoning: Object.keys(reasoning).length > 0 ? reasoning : undefined,
    text: Object.keys(others).length > 0 ? others : undefined,
    include: include.length > 0 ? include : undefined,
    user: userApart ? text(body['user']) : undefined,
  })
  return Object.keys(fields).length > 0 ? { protocol, fields } : undefined
}
