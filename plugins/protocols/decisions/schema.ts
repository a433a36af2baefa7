import type { JsonObject } from '../../../engine/index.ts'

const text = { type: 'string' } as const
const textOrNull = { type: ['string', 'null'] } as const

/** An object with exactly these fields; those whose name ends in `?` are optional. */
function fields(properties: JsonObject): JsonObject {
  const bare = Object.entries(properties).map(([name, schema]) => [name.replace('?', ''), schema] as const)
  const required = Object.keys(properties).filter((name) => !name.endsWith('?'))
  return { type: 'object', required, additionalProperties: false, properties: Object.fromEntries(bare) }
}

/** Objects distinguished by `type`. Each type is a condition, so that an error has the inner path. */
function kinds(schemas: Readonly<Record<string, JsonObject>>): JsonObject {
  const conditions = Object.entries(schemas).map(([type, schema]) => ({
    if: { required: ['type'], properties: { type: { const: type } } },
    // oxlint-disable-next-line unicorn/no-thenable -- a JSON Schema keyword
    then: fields({ type: text, ...schema }),
  }))
  const type = { enum: Object.keys(schemas) }
  return { type: 'object', required: ['type'], properties: { type }, allOf: conditions }
}

const choice = fields({ value: { type: ['string', 'boolean'] }, 'description?': text })
const level = fields({ label: text, 'description?': text })
const common = { 'name?': text, instructions: text }

const question = kinds({
  predicate: common,
  choice: { ...common, choices: { type: 'array', minItems: 1, maxItems: 255, items: choice } },
  score: { ...common, levels: { type: 'array', minItems: 2, maxItems: 26, items: level } },
})

const part = kinds({
  input_text: { text },
  // `check` requires inline images, with a readable error.
  input_image: { 'image_url?': textOrNull, 'file_id?': textOrNull, 'detail?': textOrNull },
})

const message = fields({
  'type?': { const: 'message' },
  role: { const: 'user' },
  content: { type: ['string', 'array'], minItems: 1, items: part },
})

/**
 * JSON Schema of a request body (POST /v1/decisions). Other fields are rejected.
 * Limits are the largest of all upstreams. An upstream with lower limits answers with its own error.
 */
export const schema: JsonObject = {
  ...fields({
    model: { type: 'string', minLength: 1 },
    input: { type: ['string', 'array'], minItems: 1, items: message },
    questions: { type: 'array', minItems: 1, items: question },
    'safety_identifier?': textOrNull,
  }),
  examples: [{ model: 'my-model', input: 'Hello.', questions: [{ type: 'predicate', instructions: 'Is it polite?' }] }],
}
