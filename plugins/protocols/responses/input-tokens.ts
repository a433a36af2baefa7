import { defineCodec } from '../../../engine/index.ts'
import { error } from './failure.ts'
import { schema } from './schema.ts'

const { model, input, instructions, previous_response_id, conversation, tools, tool_choice } = schema.properties
const { parallel_tool_calls, reasoning, text, truncation } = schema.properties

/** `POST /v1/responses/input_tokens`: how long a request would be. Answers `{ object, input_tokens }`. */
export default defineCodec({
  protocol: 'input-tokens',
  operation: 'count',
  summary: 'Counts the input tokens of a responses request.',
  schema: {
    type: 'object',
    required: ['model'],
    properties: {
      model,
      input: { ...input, type: ['string', 'array', 'null'] },
      instructions,
      previous_response_id,
      conversation,
      tools,
      tool_choice,
      parallel_tool_calls,
      reasoning,
      text,
      truncation,
    },
  },
  head: (body) => ({ model: body['model'] as string, stream: false, background: false }),
  error,
  meter: { reply: () => ({}), stream: () => ({ complete: true }) },
})
