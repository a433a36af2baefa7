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
  description: 'Policy for web searches by the provider that a client requests.',
  properties: {
    mode: {
      enum: ['native', 'off'],
      default: 'native',
      description: 'native: sends the tool to providers that have it; off: to none. A tool that is not sent is a loss.',
    },
    allowed_domains: domains(
      'Only these domains and their subdomains are searched, whatever a client requests; [] = all.',
    ),
    blocked_domains: domains('Domains that are never searched, in addition to those that a client blocks.'),
    context_size: {
      enum: ['low', 'medium', 'high', null],
      default: null,
      description: 'Size of the search context, for requests that do not set it.',
    },
    max_uses: {
      type: ['integer', 'null'],
      minimum: 1,
      maximum: 100,
      default: null,
      description: "Most searches per answer, if the provider's protocol has such a limit.",
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
  summary: 'Policy for the web searches that clients may request.',
  settings,
  check({ allowed_domains: allowed, blocked_domains: blocked }, report) {
    const warn = (path: (string | number)[], message: string) => report(path, message, 'service', 'warning')
    for (const [field, list] of Object.entries({ allowed_domains: allowed, blocked_domains: blocked }))
      for (const [at, domain] of list.entries())
        if (domain.startsWith('*.')) warn([field, at], `is no domain; did you mean "${domain.slice(2)}"?`)
    for (const [at, domain] of blocked.entries())
      if (allowed.includes(domain)) warn(['blocked_domains', at], `"${domain}" is allowed, too; it is never searched`)
  },
})
