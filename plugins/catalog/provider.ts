import { defineRecord } from '../../engine/index.ts'
import type { ConfigOf } from '../../engine/index.ts'
import { recordName } from '../../engine/kit.ts'

const schema = {
  type: 'object',
  required: ['name', 'type'],
  properties: {
    name: { ...recordName, description: 'Name of the provider.' },
    type: { type: 'string', description: 'Type of the provider, which determines its further fields.' },
    enabled: {
      type: 'boolean',
      default: true,
      description: 'Whether the provider is used; if false, it is off, as if its key were not set.',
    },
    allow_private: {
      type: 'boolean',
      default: false,
      description:
        'Whether a provider that is not declared in the file may be at private, loopback or link-local addresses.',
    },
  },
} as const

declare module '../../engine/index.ts' {
  interface Records {
    provider: ConfigOf<typeof schema>
  }
}

export default defineRecord({
  name: 'provider',
  summary: 'The providers that serve models. A provider whose ${VARIABLE} is unset is off.',
  place: 'providers',
  schema,
  optional: true,
  switch: 'enabled',
  typed: 'provider',
})
