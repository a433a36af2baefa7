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
      description: 'Storage limits of each API key. Beyond them, requests that store are rejected with 429.',
      properties: {
        bytes: {
          type: 'integer',
          minimum: 0,
          default: 1_073_741_824,
          'x-unit': 'bytes',
          description: 'Most bytes of all stored responses, compressed, with each turn stored once.',
        },
        count: { type: 'integer', minimum: 0, default: 10_000, description: 'Most stored responses.' },
        background: {
          type: 'integer',
          minimum: 0,
          default: 100,
          description: 'Most background responses that have not ended.',
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
  summary: 'Storage limits of API keys.',
  section: 'request_policy',
  settings,
  check({ stored_responses: limits }, report) {
    for (const field of ['bytes', 'count'] as const)
      if (limits[field] === 0)
        report(
          ['stored_responses', field],
          'refuses every request that stores; with allow_store: false they are answered, and nothing is stored',
          'service',
          'warning',
        )
  },
})
