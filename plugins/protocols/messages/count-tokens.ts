import { defineCodec } from '../../../engine/index.ts'
import type { JsonObject } from '../../../engine/index.ts'
import { dialect } from './errors.ts'

const textOrNull = { type: ['string', 'null'] } as const
const objectOrNull = { type: ['object', 'null'] } as const
const block = { type: 'object', required: ['type'], properties: { type: { type: 'string' } } } as const

/** A list or a scalar, as a condition rather than alternatives, so that an error has the path inside the list. */
function listOr(items: JsonObject, plain: JsonObject): JsonObject {
  // A JSON Schema keyword, never awaited.
  // oxlint-disable-next-line unicorn/no-thenable
  return { if: { type: 'array' }, then: { type: 'array', items }, else: plain }
}

/** The `count_tokens` request of the messages protocol: its body without `max_tokens`. Answers `{ input_tokens }`. */
export default defineCodec({
  protocol: 'count-tokens',
  operation: 'count',
  summary: 'Counts the input tokens of a messages request.',
  address: { key: 'messages', path: '/messages', below: '/count_tokens' },
  idHeader: 'request-id',
  schema: {
    type: 'object',
    examples: [{ model: 'my-model', messages: [{ role: 'user', content: 'Hello.' }] }],
    required: ['model', 'messages'],
    properties: {
      model: { type: 'string', minLength: 1 },
      messages: {
        type: 'array',
        minItems: 1,
        maxItems: 100_000,
        items: {
          type: 'object',
          required: ['role', 'content'],
          properties: { role: { enum: ['user', 'assistant', 'system'] }, content: listOr(block, { type: 'string' }) },
        },
      },
      system: listOr(block, textOrNull),
      tools: { type: ['array', 'null'], items: { type: 'object' } },
      tool_choice: objectOrNull,
      thinking: objectOrNull,
      output_config: objectOrNull,
    },
  },
  head: ({ model }) => ({ model: model as string, stream: false, background: false }),
  error: dialect,
  meter: { reply: () => ({}), stream: () => ({ complete: true }) },
})
