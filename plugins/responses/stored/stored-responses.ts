import { defineService } from '../../../engine/index.ts'
import type { ConfigOf } from '../../../engine/index.ts'

const settings = {
  type: 'object',
  additionalProperties: false,
  description: 'Policies for requests and answers.',
  properties: {
    stored_responses: {
      type: 'object',
      additionalProperties: false,
      default: {},
      description: 'What one API key may have stored; beyond it, requests that store are refused with 429.',
      properties: {
        bytes: {
          type: 'integer',
          minimum: 0,
          default: 1_073_741_824,
          description: 'Bytes of its stored responses together, as they are kept: compressed, each turn once.',
        },
        count: { type: 'integer', minimum: 0, default: 10_000, description: 'Stored responses.' },
        background: {
          type: 'integer',
          minimum: 0,
          default: 100,
          description: 'Responses in the background that have not ended.',
        },
      },
    },
  },
} as const

declare module '../../../engine/index.ts' {
  interface Services {
    stored_responses: ConfigOf<typeof settings>
  }
}

export default defineService({
  name: 'stored_responses',
  summary: 'What API keys may have stored.',
  section: 'request_policy',
  settings,
})
