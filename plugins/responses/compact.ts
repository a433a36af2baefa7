import { defineCodec } from '../../engine/index.ts'
import { beside, input } from './beside.ts'
import { meter } from './meter.ts'
import { schema } from './schema.ts'

const { model, instructions, previous_response_id, prompt_cache_key, service_tier } = schema.properties

/**
 * `POST /v1/responses/compact`: shortens a conversation and keeps its meaning. Answers `{ id, object:
 * "response.compaction", created_at, output, usage }`; `output` has the user messages and one `compaction` item.
 */
export default defineCodec({
  protocol: 'compact',
  operation: 'compact',
  summary: 'Compacts a conversation of the responses API.',
  address: { key: 'responses', path: '/responses', below: '/compact' },
  schema: {
    type: 'object',
    examples: [{ model: 'my-model', input: 'Hello.' }],
    required: ['model'],
    properties: {
      model,
      input,
      instructions,
      previous_response_id,
      prompt_cache_key,
      service_tier,
    },
  },
  choices: [{ path: 'service_tier', chooses: 'tier', free: ['auto', 'default'] }],
  ...beside,
  meter,
})
