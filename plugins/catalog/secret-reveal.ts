import { defineService } from '../../engine/index.ts'
import type { ConfigOf } from '../../engine/index.ts'

const settings = {
  type: 'object',
  additionalProperties: false,
  description: 'Secrets of providers.',
  properties: {
    reveal_keys: {
      type: 'boolean',
      title: 'Show keys of providers',
      default: true,
      description: 'Whether an admin who repeats the password may see the secrets of a provider.',
    },
  },
} as const

declare module '../../engine/index.ts' {
  interface Services {
    secret_reveal: ConfigOf<typeof settings>
  }
}

export default defineService({
  name: 'secret_reveal',
  section: 'security',
  summary: 'Whether the secrets of providers are ever shown.',
  settings,
})
