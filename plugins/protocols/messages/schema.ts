import type { JsonObject } from '../../../engine/index.ts'

const text = { type: 'string' } as const
const textOrNull = { type: ['string', 'null'] } as const
const flag = { type: ['boolean', 'null'] } as const
const cache = {
  type: ['object', 'null'],
  properties: { type: text, ttl: textOrNull },
} as const

function choice(condition: JsonObject, then: JsonObject, otherwise: JsonObject): JsonObject {
  // A JSON Schema keyword, never awaited.
  // oxlint-disable-next-line unicorn/no-thenable
  return { if: condition, then, else: otherwise }
}

/** Required fields of an object of the given type; objects of unknown types may have any fields. */
function when(type: string, required: readonly string[], properties: JsonObject): JsonObject {
  const condition = { type: 'object', required: ['type'], properties: { type: { const: type } } }
  return choice(condition, { type: 'object', required, properties }, {})
}

function block(type: string, required: readonly string[], properties: JsonObject): JsonObject {
  return when(type, required, { ...properties, cache_control: cache })
}

/** A list or a scalar, as a condition rather than alternatives, so that an error has the path inside the list. */
function listOr(items: JsonObject, plain: JsonObject): JsonObject {
  return choice({ type: 'array' }, { type: 'array', items }, plain)
}

const media = {
  type: 'object',
  required: ['type'],
  properties: { type: text },
  allOf: [
    when('base64', ['media_type', 'data'], { media_type: text, data: text }),
    when('text', ['data'], { media_type: text, data: text }),
    when('url', ['url'], { url: text }),
    when('file', ['file_id'], { file_id: text }),
    when('content', ['content'], {
      content: listOr({ type: 'object', required: ['type'], properties: { type: text, text } }, text),
    }),
  ],
}

const parts = [
  block('text', ['text'], { text, citations: { type: ['array', 'null'], items: { type: 'object' } } }),
  block('image', ['source'], { source: media }),
  block('document', ['source'], {
    source: media,
    title: textOrNull,
    context: textOrNull,
    citations: { type: ['object', 'null'], properties: { enabled: { type: 'boolean' } } },
  }),
  block('search_result', ['source', 'title', 'content'], {
    source: text,
    title: text,
    content: { type: 'array', items: { type: 'object', required: ['text'], properties: { text } } },
  }),
] as const

const typed = { type: 'object', required: ['type'], properties: { type: text } } as const

const turnBlock = {
  ...typed,
  allOf: [
    ...parts,
    block('thinking', ['thinking'], { thinking: text, signature: textOrNull }),
    block('redacted_thinking', [], { data: textOrNull }),
    block('tool_use', ['id', 'name', 'input'], { id: text, name: text, input: { type: 'object' } }),
    block('tool_result', ['tool_use_id'], {
      tool_use_id: text,
      is_error: flag,
      content: listOr({ ...typed, allOf: parts }, textOrNull),
    }),
  ],
}

const turn = {
  type: 'object',
  required: ['role', 'content'],
  properties: { role: { enum: ['user', 'assistant', 'system'] }, content: listOr(turnBlock, text) },
}

const clientTool = {
  type: 'object',
  required: ['name'],
  properties: { name: text, description: textOrNull, input_schema: { type: ['object', 'null'] }, strict: flag },
}

/** Tools of the vendor have a dated type and other fields. */
const tool = {
  type: 'object',
  properties: { type: textOrNull, cache_control: cache },
  ...choice({ required: ['type'], properties: { type: { type: 'string', not: { const: 'custom' } } } }, {}, clientTool),
}

/** JSON Schema of a request body. Unknown fields and block types are allowed. */
export const schema: JsonObject = {
  type: 'object',
  examples: [{ model: 'my-model', max_tokens: 100, messages: [{ role: 'user', content: 'Hello.' }] }],
  required: ['model', 'messages', 'max_tokens'],
  properties: {
    model: { type: 'string', minLength: 1 },
    messages: { type: 'array', minItems: 1, items: turn },
    // A larger number would be rounded on its way.
    max_tokens: { type: 'integer', minimum: 0, maximum: Number.MAX_SAFE_INTEGER },
    system: listOr({ type: 'object', required: ['text'], properties: { text, cache_control: cache } }, textOrNull),
    stream: flag,
    temperature: { type: ['number', 'null'], minimum: 0, maximum: 2 },
    top_p: { type: ['number', 'null'], minimum: 0, maximum: 1 },
    top_k: { type: ['integer', 'null'], minimum: 0 },
    stop_sequences: { type: ['array', 'null'], items: text },
    tools: { type: ['array', 'null'], items: tool },
    tool_choice: {
      type: ['object', 'null'],
      required: ['type'],
      properties: { type: text, name: text, disable_parallel_tool_use: flag },
      allOf: [when('tool', ['name'], { name: text })],
    },
    thinking: {
      type: ['object', 'null'],
      required: ['type'],
      properties: { type: text, budget_tokens: { type: 'integer', minimum: 0 }, display: textOrNull },
      allOf: [when('enabled', ['budget_tokens'], { budget_tokens: { type: 'integer' } })],
    },
    output_config: {
      type: ['object', 'null'],
      properties: { effort: textOrNull, format: { type: ['object', 'null'] } },
    },
    metadata: { type: ['object', 'null'], properties: { user_id: textOrNull } },
    service_tier: textOrNull,
    cache_control: cache,
    thread: { type: ['object', 'null'] },
  },
}
