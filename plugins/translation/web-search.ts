import { defineService } from '../../engine/index.ts'
import type { ConfigOf } from '../../engine/index.ts'

const domains = (description: string) =>
  ({
    type: 'array',
    maxItems: 100,
    items: {
      type: 'string',
      minLength: 1,
      maxLength: 256,
      pattern: '^[^\\s/:]+(/\\S*)?$',
      patternErrorMessage: 'must be a host, with a path or none, and no scheme',
    },
    default: [],
    description,
  }) as const

const settings = {
  type: 'object',
  additionalProperties: false,
  description: "What becomes of a provider's search of the web that a client asks for.",
  properties: {
    mode: {
      enum: ['native', 'off'],
      default: 'native',
      description: 'native: the tool goes to providers that know it; off: to none. Where it does not go, it is a loss.',
    },
    allowed_domains: domains(
      'Only these domains, and what lies below them, are searched, whatever a client asks; [] = all.',
    ),
    blocked_domains: domains('Domains that are never searched, beside those a client blocks.'),
    context_size: {
      enum: ['low', 'medium', 'high', null],
      default: null,
      description: 'How much of what is found goes into the context where a client does not say it.',
    },
    max_uses: {
      type: ['integer', 'null'],
      minimum: 1,
      maximum: 100,
      default: null,
      description: 'Most searches of one answer, where the protocol of the provider can say it.',
    },
  },
} as const

declare module '../../engine/index.ts' {
  interface Services {
    web_search: ConfigOf<typeof settings>
  }
}

export default defineService({
  name: 'web_search',
  summary: 'Which searches of the web clients may ask for.',
  settings,
})
