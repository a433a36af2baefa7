import { Ajv2020 } from 'ajv/dist/2020.js'
import type { ValidateFunction } from 'ajv/dist/2020.js'

/**
 * What the Open Responses specification (2026-04-24) and the types of the official client require of answers, as JSON
 * Schemas. Objects may hold more than is listed; what is listed under `required` must be there.
 */

const string = { type: 'string' } as const
const filled = { type: 'string', minLength: 1 } as const
const index = { type: 'integer', minimum: 0 } as const
const number = { type: 'number' } as const
const truth = { type: 'boolean' } as const

type Properties = Readonly<Record<string, object>>

/** An object that must have all of `properties`, and may have those of `more`. */
function object(properties: Properties, more: Properties = {}): object {
  return { type: 'object', required: Object.keys(properties), properties: { ...properties, ...more } }
}

function list(items: object): object {
  return { type: 'array', items }
}

function maybe(schema: object): object {
  return { anyOf: [schema, { type: 'null' }] }
}

/** One of several objects, told apart by their `type`. */
function typed(schemas: Readonly<Record<string, object>>): object {
  return {
    type: 'object',
    required: ['type'],
    properties: { type: { enum: Object.keys(schemas) } },
    allOf: Object.entries(schemas).map(([type, then]) => ({
      if: { properties: { type: { const: type } }, required: ['type'] },
      then,
    })),
  }
}

const token = { token: string, logprob: number, bytes: list(index) }
const logprob = object({ ...token, top_logprobs: list(object(token)) })
const annotation = typed({
  url_citation: object({ url: string, title: string, start_index: index, end_index: index }),
  file_citation: object({ file_id: string, index, filename: string }),
})
const summaryText = object({ type: { const: 'summary_text' }, text: string })
const content = typed({
  output_text: object({ text: string, annotations: list(annotation) }, { logprobs: list(logprob) }),
  refusal: object({ refusal: string }),
})
const contentPart = typed({
  output_text: object({ text: string, annotations: list(annotation) }, { logprobs: list(logprob) }),
  refusal: object({ refusal: string }),
  reasoning_text: object({ text: string }),
})

const status = { enum: ['in_progress', 'completed', 'incomplete'] } as const
const call = { id: filled, call_id: filled, name: filled, status }
const items = {
  message: object(
    { id: filled, role: { const: 'assistant' }, status, content: list(content) },
    { phase: { enum: ['commentary', 'final_answer'] } },
  ),
  reasoning: object(
    { id: filled, summary: list(summaryText) },
    { encrypted_content: filled, status, content: list(object({ type: { const: 'reasoning_text' }, text: string })) },
  ),
  function_call: object({ ...call, arguments: string }, { namespace: filled }),
  custom_tool_call: object({ id: filled, call_id: filled, name: filled, input: string }, { namespace: filled, status }),
  function_call_output: object({ id: filled, call_id: filled, output: { type: ['string', 'array'] }, status }),
  compaction: object({ id: filled, encrypted_content: filled }),
  web_search_call: object({ id: filled, status: filled, action: { type: 'object' } }),
  file_search_call: object({ id: filled, status: filled, queries: list(string) }),
  code_interpreter_call: object({ id: filled, status: filled, container_id: string }),
  image_generation_call: object({ id: filled, status: filled, result: { type: ['string', 'null'] } }),
  mcp_call: object({ id: filled, server_label: string, name: string, arguments: string }),
  mcp_list_tools: object({ id: filled, server_label: string, tools: { type: 'array' } }),
}
const item = typed(items)

const usage = object({
  input_tokens: index,
  input_tokens_details: object({ cached_tokens: index, cache_write_tokens: index }),
  output_tokens: index,
  output_tokens_details: object({ reasoning_tokens: index }),
  total_tokens: index,
})

const tool = {
  type: 'object',
  required: ['type'],
  if: { properties: { type: { const: 'function' } } },
  then: object({
    name: filled,
    description: { type: ['string', 'null'] },
    parameters: { type: ['object', 'null'] },
    strict: { type: ['boolean', 'null'] },
  }),
}

const response = object(
  {
    id: { type: 'string', pattern: '^resp_' },
    object: { const: 'response' },
    created_at: index,
    completed_at: maybe(index),
    status: { enum: ['queued', 'in_progress', 'completed', 'failed', 'incomplete', 'cancelled'] },
    error: maybe(object({ code: filled, message: filled })),
    incomplete_details: maybe(object({ reason: { enum: ['max_output_tokens', 'content_filter'] } })),
    instructions: { type: ['string', 'array', 'null'] },
    metadata: { type: 'object' },
    model: filled,
    output: list(item),
    parallel_tool_calls: truth,
    previous_response_id: { type: ['string', 'null'] },
    temperature: number,
    top_p: number,
    presence_penalty: number,
    frequency_penalty: number,
    tool_choice: { anyOf: [{ enum: ['none', 'auto', 'required'] }, object({ type: filled })] },
    tools: list(tool),
    top_logprobs: index,
    truncation: { enum: ['auto', 'disabled'] },
    text: object({ format: object({ type: { enum: ['text', 'json_object', 'json_schema'] } }) }),
    reasoning: maybe(object({ effort: { type: ['string', 'null'] }, summary: { type: ['string', 'null'] } })),
    usage: maybe(usage),
    max_output_tokens: maybe(index),
    max_tool_calls: maybe(index),
    store: truth,
    background: truth,
    service_tier: filled,
    safety_identifier: { type: ['string', 'null'] },
    prompt_cache_key: { type: ['string', 'null'] },
    user: { type: ['string', 'null'] },
    access_programs: { type: ['object', 'null'] },
  },
  // The client library makes it itself.
  { output_text: false as unknown as object },
)

/** The answer of the compact route: messages of the user as they were sent, and items that stand for the rest. */
const compaction = object({
  id: { type: 'string', pattern: '^resp_' },
  object: { const: 'response.compaction' },
  created_at: index,
  output: list(
    typed({
      message: object({ id: filled, role: { const: 'user' }, status, content: list(object({ type: filled })) }),
      compaction: items.compaction,
    }),
  ),
  usage,
})

const place = { output_index: index, item_id: filled }
const inContent = { ...place, content_index: index }
const inSummary = { ...place, summary_index: index }
const events: Readonly<Record<string, Properties>> = {
  'response.created': { response },
  'response.in_progress': { response },
  'response.completed': { response },
  'response.incomplete': { response },
  'response.failed': { response },
  'response.output_item.added': { output_index: index, item },
  'response.output_item.done': { output_index: index, item },
  'response.content_part.added': { ...inContent, part: contentPart },
  'response.content_part.done': { ...inContent, part: contentPart },
  'response.output_text.delta': { ...inContent, delta: string, logprobs: list(logprob) },
  'response.output_text.done': { ...inContent, text: string, logprobs: list(logprob) },
  'response.output_text.annotation.added': { ...inContent, annotation_index: index, annotation },
  'response.refusal.delta': { ...inContent, delta: string },
  'response.refusal.done': { ...inContent, refusal: string },
  'response.function_call_arguments.delta': { ...place, delta: string },
  'response.function_call_arguments.done': { ...place, arguments: string },
  'response.custom_tool_call_input.delta': { ...place, delta: string },
  'response.custom_tool_call_input.done': { ...place, input: string },
  'response.reasoning_summary_part.added': { ...inSummary, part: summaryText },
  'response.reasoning_summary_part.done': { ...inSummary, part: summaryText },
  'response.reasoning_summary_text.delta': { ...inSummary, delta: string },
  'response.reasoning_summary_text.done': { ...inSummary, text: string },
  'response.reasoning_text.delta': { ...inContent, delta: string },
  'response.reasoning_text.done': { ...inContent, text: string },
  'response.web_search_call.in_progress': place,
  'response.web_search_call.searching': place,
  'response.web_search_call.completed': place,
  'response.image_generation_call.partial_image': { ...place, partial_image_b64: string, partial_image_index: index },
  error: {
    code: { type: ['string', 'null'] },
    message: filled,
    param: { type: ['string', 'null'] },
    error: object({
      type: filled,
      code: { type: ['string', 'null'] },
      message: filled,
      param: { type: ['string', 'null'] },
    }),
  },
}
const event = typed(
  Object.fromEntries(
    Object.entries(events).map(([type, fields]) => [type, object({ sequence_number: index, ...fields })]),
  ),
)

const ajv = new Ajv2020({ strict: false, ownProperties: true, allErrors: true })
const valid = { response: ajv.compile(response), event: ajv.compile(event), compaction: ajv.compile(compaction) }

/** What is wrong with a response object, an event or a compacted conversation by its schema; nothing when it is as it shall be. */
export function flaws(kind: keyof typeof valid, value: unknown): readonly string[] {
  const validate: ValidateFunction = valid[kind]
  if (validate(value)) return []
  return (validate.errors ?? [])
    .filter(({ keyword }) => keyword !== 'if')
    .map(({ instancePath, message }) => `${instancePath} ${message}`)
}
