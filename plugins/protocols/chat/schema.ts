import type { JsonObject } from '../../../engine/index.ts'

const text = { type: 'string' } as const
const textOrNull = { type: ['string', 'null'] } as const
const flagOrNull = { type: ['boolean', 'null'] } as const
const objectOrNull = { type: ['object', 'null'] } as const
const mark = { type: ['object', 'null'], properties: { ttl: textOrNull } } as const
const marks = { cache_control: mark, prompt_cache_breakpoint: mark } as const

/** Fields that an object must have if its `key` is `value`; other values allow any fields. */
function when(key: string, value: string, properties: JsonObject): JsonObject {
  return given(
    { type: 'object', required: [key], properties: { [key]: { const: value } } },
    { type: 'object', required: Object.keys(properties), properties },
  )
}

/** A condition rather than alternatives, so that an error has the inner path. */
function given(condition: JsonObject, met: JsonObject, otherwise: JsonObject = {}): JsonObject {
  // oxlint-disable-next-line unicorn/no-thenable -- a word of JSON Schema
  return { if: condition, then: met, else: otherwise }
}

const part = {
  type: 'object',
  required: ['type'],
  properties: { type: text, ...marks },
  allOf: [
    when('type', 'text', { text }),
    when('type', 'refusal', { refusal: text }),
    when('type', 'image_url', {
      image_url: { type: ['object', 'string'], required: ['url'], properties: { url: text, detail: textOrNull } },
    }),
    when('type', 'input_audio', {
      input_audio: { type: 'object', required: ['data', 'format'], properties: { data: text, format: text } },
    }),
    when('type', 'file', {
      file: { type: 'object', properties: { file_data: textOrNull, file_id: textOrNull, filename: textOrNull } },
    }),
  ],
}

const functionCall = { type: ['object', 'null'], required: ['name'], properties: { name: text } } as const

const call = {
  type: 'object',
  required: ['id'],
  properties: {
    id: text,
    type: textOrNull,
    function: functionCall,
    custom: { type: ['object', 'null'], required: ['name'], properties: { name: text, input: textOrNull } },
    ...marks,
  },
  anyOf: [
    { required: ['function'], properties: { function: { type: 'object' } } },
    { required: ['custom'], properties: { custom: { type: 'object' } } },
  ],
}

const message = {
  type: 'object',
  required: ['role'],
  properties: {
    role: text,
    content: given({ type: 'array' }, { items: part }, textOrNull),
    name: textOrNull,
    refusal: textOrNull,
    tool_calls: { type: ['array', 'null'], items: call },
    tool_call_id: textOrNull,
    function_call: functionCall,
    reasoning_content: textOrNull,
    reasoning: textOrNull,
    reasoning_details: { type: ['array', 'null'], items: { type: 'object' } },
    annotations: { type: ['array', 'null'], items: { type: 'object' } },
    audio: objectOrNull,
    ...marks,
  },
  allOf: [when('role', 'tool', { tool_call_id: text }), when('role', 'function', { name: text })],
}

const functionTool = {
  type: 'object',
  required: ['name'],
  properties: {
    name: { type: 'string', minLength: 1 },
    description: textOrNull,
    parameters: objectOrNull,
    strict: flagOrNull,
  },
} as const

const tool = {
  type: 'object',
  required: ['type'],
  properties: { type: text, ...marks },
  allOf: [
    when('type', 'function', { function: functionTool }),
    when('type', 'custom', {
      custom: {
        type: 'object',
        required: ['name'],
        properties: { name: { type: 'string', minLength: 1 }, description: textOrNull, format: objectOrNull },
      },
    }),
  ],
}

/** A larger number would be rounded on its way. */
const tokens = { type: ['integer', 'null'], minimum: 1, maximum: Number.MAX_SAFE_INTEGER } as const
const penalty = { type: ['number', 'null'], minimum: -2, maximum: 2 } as const

/** JSON Schema of a request body (POST /v1/chat/completions). Unknown fields are allowed. */
export const schema: JsonObject = {
  type: 'object',
  examples: [{ model: 'my-model', messages: [{ role: 'user', content: 'Hello.' }] }],
  required: ['model', 'messages'],
  properties: {
    model: { type: 'string', minLength: 1 },
    messages: { type: 'array', minItems: 1, items: message },
    tools: { type: ['array', 'null'], items: tool },
    functions: { type: ['array', 'null'], items: functionTool },
    tool_choice: { type: ['string', 'object', 'null'] },
    function_call: { type: ['string', 'object', 'null'] },
    web_search_options: objectOrNull,
    parallel_tool_calls: flagOrNull,
    max_completion_tokens: tokens,
    max_tokens: tokens,
    temperature: { type: ['number', 'null'], minimum: 0, maximum: 2 },
    top_p: { type: ['number', 'null'], minimum: 0, maximum: 1 },
    top_k: { type: ['integer', 'null'] },
    stop: { type: ['string', 'array', 'null'], items: text },
    seed: { type: ['integer', 'null'] },
    frequency_penalty: penalty,
    presence_penalty: penalty,
    logprobs: flagOrNull,
    top_logprobs: { type: ['integer', 'null'], minimum: 0, maximum: 20 },
    reasoning_effort: textOrNull,
    verbosity: textOrNull,
    response_format: {
      type: ['object', 'null'],
      required: ['type'],
      properties: { type: text },
      allOf: [
        when('type', 'json_schema', {
          json_schema: {
            type: 'object',
            required: ['name'],
            properties: { name: text, description: textOrNull, schema: objectOrNull, strict: flagOrNull },
          },
        }),
      ],
    },
    user: textOrNull,
    safety_identifier: textOrNull,
    prompt_cache_key: textOrNull,
    service_tier: textOrNull,
    metadata: objectOrNull,
    store: flagOrNull,
    stream: flagOrNull,
    stream_options: { type: ['object', 'null'], properties: { include_usage: flagOrNull } },
    n: { type: ['integer', 'null'], minimum: 1 },
  },
}
