import type { JsonObject } from '../../../../engine/index.ts'
import { passedOn } from './wire.ts'

const text = { type: 'string' } as const
const textOrNull = { type: ['string', 'null'] } as const

const yesOrNo = {
  type: ['object', 'null'],
  additionalProperties: false,
  properties: { true: textOrNull, false: textOrNull },
} as const
const values = { type: 'object', minProperties: 1, maxProperties: 255, additionalProperties: textOrNull } as const
const levels = { type: 'array', minItems: 2, maxItems: 26, items: text } as const

/** A question of one type. Each type is a condition, so that an error has the inner path. */
function question(type: string, criteria: JsonObject, required: readonly string[]): JsonObject {
  const properties = { type: text, instructions: text, criteria }
  return {
    if: { required: ['type'], properties: { type: { const: type } } },
    // oxlint-disable-next-line unicorn/no-thenable -- a JSON Schema keyword
    then: { type: 'object', required, additionalProperties: false, properties },
  }
}

/**
 * JSON Schema of a request body (POST /v1/mapeval). Other fields are rejected.
 * Limits are the largest of all upstreams. An upstream with lower limits answers with its own error.
 */
export const schema: JsonObject = {
  type: 'object',
  examples: [
    { model: 'my-model', state: 'Hello.', questions: { polite: { type: 'noul', instructions: 'Is it polite?' } } },
  ],
  required: ['model', 'state', 'questions'],
  additionalProperties: false,
  properties: {
    model: { type: 'string', minLength: 1 },
    state: { type: ['string', 'object', 'array'] },
    questions: {
      type: 'object',
      minProperties: 1,
      additionalProperties: {
        type: 'object',
        required: ['type'],
        properties: { type: { enum: ['noul', 'choice', 'score'] } },
        allOf: [
          question('noul', yesOrNo, ['instructions']),
          question('choice', values, ['instructions', 'criteria']),
          question('score', levels, ['instructions', 'criteria']),
        ],
      },
    },
    images: { type: ['array', 'null'], items: text },
    ...Object.fromEntries(passedOn.map((field) => [field, {}])),
  },
}
