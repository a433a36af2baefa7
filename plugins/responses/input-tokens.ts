import { defineCodec } from '../../engine/index.ts'
import { beside, input } from './beside.ts'
import { schema } from './schema.ts'

const { model, instructions, previous_response_id, conversation, tools, tool_choice } = schema.properties
const { parallel_tool_calls, reasoning, text, truncation } = schema.properties

/** `POST /v1/responses/input_tokens`: counts the input tokens of a request. Answers `{ object, input_tokens }`. */
export default defineCodec({
  protocol: 'input-tokens',
  operation: 'count',
  summary: 'Counts the input tokens of a responses request.',
  address: { key: 'responses', path: '/responses', below: '/input_tokens' },
  schema: {
    type: 'object',
    examples: [{ model: 'my-model', input: 'Hello.' }],
    required: ['model'],
    properties: {
      model,
      input,
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
  ...beside,
  meter: { reply: () => ({}), stream: () => ({ complete: true }) },
})
