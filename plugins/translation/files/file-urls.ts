import { defineService } from '../../../engine/index.ts'
import { durationSchema } from '../../../engine/kit.ts'
import type { ConfigOf } from '../../../engine/index.ts'

const settings = {
  type: 'object',
  additionalProperties: false,
  description: 'What clients may make the gateway do.',
  properties: {
    file_urls: {
      type: 'object',
      additionalProperties: false,
      default: {},
      description: 'Files that clients name by their address, for providers that take only their bytes.',
      properties: {
        fetch: { type: 'boolean', default: true, description: 'Fetch them; else such a request is refused.' },
        allow_private: {
          type: 'boolean',
          default: false,
          description:
            'Also fetch from private networks and this machine, and from any port. For gateways whose clients are trusted with what is there.',
        },
        max_bytes: {
          type: 'integer',
          minimum: 1,
          maximum: 67_108_864,
          default: 20_971_520,
          description: 'Most bytes one file may have.',
        },
        timeout: {
          ...durationSchema,
          default: '10s',
          description: 'How long fetching all files of a request may take.',
        },
      },
    },
  },
} as const

declare module '../../../engine/index.ts' {
  interface Services {
    file_urls: ConfigOf<typeof settings>
  }
}

export default defineService({
  name: 'file_urls',
  section: 'security',
  summary: 'Which files the gateway fetches for clients.',
  settings,
})
