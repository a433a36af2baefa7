import { GatewayError } from '../../engine/index.ts'
import { defined, requireChosen, toolsByName } from '../../engine/kit.ts'
import type { Format, GenerateRequest, Item, Json, JsonObject, Message, ReasoningWish } from '../../engine/index.ts'
import { effectiveTools, requalified } from './effective-tools.ts'
import { parseInputItem } from './parse-items.ts'
import { parseParts } from './parse-parts.ts'
import { ciphertext } from './reasoning.ts'
import { parseToolChoice } from './tools.ts'
import { boolean, dotted, isList, number, object, objects, protocol, text, without } from './values.ts'

/** Fields that have a neutral form, and those for the gateway only. */
const understood = new Set(
  (
    'model input instructions tools tool_choice parallel_tool_calls max_output_tokens temperature top_p ' +
    'frequency_penalty presence_penalty top_logprobs reasoning text safety_identifier prompt_cache_key ' +
    'service_tier metadata store stream include truncation user background routing type generate stream_id'
  ).split(' '),
)
const reasoningFields = new Set(['effort', 'summary', 'generate_summary'])
const textFields = new Set(['format', 'verbosity'])
export const logprobs = 'message.output_text.logprobs'

/** Parses a validated request body into the neutral form. */
export function parse(body: JsonObject): GenerateRequest {
  const format = readFormat(object(body['text'])?.['format'])
  const top = number(body['top_logprobs'])
  const safety = text(body['safety_identifier'])
  const tools = effectiveTools(body)
  const find = toolsByName(tools)
  const items = [...readInstructions(body['instructions']), ...readInput(body['input'])]
  const toolChoice = parseToolChoice(body['tool_choice'])
  requireChosen(tools, toolChoice, protocol)
  return defined({
    items: items.map((item) => requalified(item, find)),
    tools,
    toolChoice,
    parallelTools: boolean(body['parallel_tool_calls']),
    maxOutputTokens: number(body['max_output_tokens']),
    temperature: number(body['temperature']),
    topP: number(body['top_p']),
    frequencyPenalty: number(body['frequency_penalty']),
    presencePenalty: number(body['presence_penalty']),
    logprobs: includes(body).includes(logprobs) || (top ?? 0) > 0 ? (top ?? 0) : undefined,
    reasoning: parseWish(body['reasoning']),
    format,
    verbosity: text(object(body['text'])?.['verbosity']),
    user: safety ?? text(body['user']),
    cacheKey: text(body['prompt_cache_key']),
    serviceTier: text(body['service_tier']),
    metadata: object(body['metadata']),
    store: boolean(body['store']),
    stream: body['stream'] === true,
    streamUsage: true,
    rest: readRest(body, safety !== undefined),
  })
}

function readInstructions(instructions: Json | undefined): readonly Item[] {
  if (isList(instructions)) return readItems(instructions, 'instructions')
  const content = parseParts(instructions)
  return content.length > 0 ? [{ type: 'message', role: 'system', content } satisfies Message] : []
}

function readInput(input: Json | undefined): readonly Item[] {
  if (typeof input === 'string') return [{ type: 'message', role: 'user', content: parseParts(input) }]
  return readItems(input, 'input')
}

/** The items, except those that only add tools. */
function readItems(list: Json | undefined, at: string): readonly Item[] {
  return objects(list).flatMap((item, index) =>
    item['type'] === 'additional_tools' ? [] : parseInputItem(item, `${at}[${index}]`),
  )
}

function includes(body: JsonObject): readonly Json[] {
  return isList(body['include']) ? body['include'] : []
}

function parseWish(value: Json | undefined): ReasoningWish | undefined {
  const wish = object(value)
  const effort = text(wish?.['effort'])
  const summary = text(wish?.['summary']) ?? text(wish?.['generate_summary'])
  return effort === undefined && summary === undefined ? undefined : defined({ effort, summary })
}

/** Throws `invalid_value` for an unknown type. */
function readFormat(value: Json | undefined): Format | undefined {
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
      return defined({
        type: 'schema' as const,
        name: text(name),
        description: text(description),
        schema,
        strict: boolean(strict),
      })
    }
    default: {
      const reason = 'it must be one of "text", "json_object", "json_schema"'
      throw new GatewayError('invalid_value', { param: 'text.format.type', reason })
    }
  }
}

function readRest(body: JsonObject, userApart: boolean) {
  const reasoning = without(object(body['reasoning']) ?? {}, reasoningFields)
  const others = without(object(body['text']) ?? {}, textFields)
  // Without storage, ciphertext is always requested upstream, so only a stored conversation needs the field.
  const include = includes(body).filter((word) => word !== logprobs && (word !== ciphertext || body['store'] === true))
  const given = Object.entries(without(body, understood)).filter(([, value]) => value !== undefined && value !== null)
  const fields: JsonObject = defined({
    ...Object.fromEntries(given),
    truncation: body['truncation'] === 'auto' ? 'auto' : undefined,
    ...dotted('reasoning', reasoning),
    ...dotted('text', others),
    include: include.length > 0 ? include : undefined,
    user: userApart ? text(body['user']) : undefined,
  })
  const penalised = number(body['frequency_penalty']) !== undefined || number(body['presence_penalty']) !== undefined
  return Object.keys(fields).length > 0 || penalised ? { protocol, fields } : undefined
}
