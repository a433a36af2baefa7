import { definePlugin, defineProvider, defineRecord } from 'sluice'
import type { ConfigOf } from 'sluice'

const schema = {
  type: 'object',
  additionalProperties: false,
  required: ['name'],
  properties: {
    name: { type: 'string', description: 'What it is called.' },
    pin: { type: 'integer', description: 'What opens it.' },
    servers: {
      type: 'array',
      description: 'Where it is.',
      items: {
        type: 'object',
        additionalProperties: false,
        required: ['url'],
        properties: {
          url: { type: 'string', description: 'Address.' },
          token: { type: 'string', description: 'What it shows there.' },
        },
      },
    },
  },
} as const

declare module 'sluice' {
  interface Records {
    vault: ConfigOf<typeof schema>
  }
}

/** Secrets that are no text, and secrets in a list of objects. */
const vault = defineRecord({
  name: 'vault',
  summary: 'Vaults.',
  place: 'vaults',
  schema,
  secrets: ['pin', 'token'],
})

const locked = defineProvider({
  name: 'locked',
  summary: 'Answers whoever has its key.',
  config: {
    type: 'object',
    additionalProperties: false,
    required: ['api_key'],
    properties: {
      api_key: { type: 'string', description: 'Key.' },
      region: { type: 'string', description: 'Where it stands.' },
    },
  } as const,
  secrets: ['api_key'],
  offers: () => [{ operation: 'generate' }],
  open: () => ({}),
})

export default definePlugin({ name: 'vaults', summary: 'Vaults.', records: [vault], providers: [locked] })
