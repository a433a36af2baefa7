import { duration, durationSchema, hasCredentials, isTooShort, tooShort } from '../../engine/kit.ts'
import type { ConfigOf, SectionReport } from '../../engine/index.ts'

/** Settings of the request log in the section `logging`. */
export const loggingSchema = {
  type: 'object',
  additionalProperties: false,
  description: 'What is logged.',
  properties: {
    capture: {
      enum: ['off', 'errors', 'all'],
      title: 'Keep bodies',
      default: 'off',
      description:
        'Requests whose bodies are kept, with those of their answers: none, those that did not complete, or all. Secrets are removed, binary content is replaced by its size, and what is kept is encrypted.',
    },
    capture_max_bytes: {
      type: 'integer',
      title: 'Longest body',
      minimum: 1_024,
      maximum: 1_048_576,
      default: 65_536,
      'x-unit': 'bytes',
      description: 'Bytes that are kept of each body; the rest is cut.',
    },
    capture_retention: {
      ...durationSchema,
      title: 'Keep bodies for',
      default: '7d',
      description: 'Time after which bodies are deleted; 0s: never.',
    },
    retention: {
      ...durationSchema,
      title: 'Keep requests for',
      default: '90d',
      description: 'Time after which requests are deleted from the log; 0s: never. Sums and the audit log stay.',
    },
    headers: {
      type: 'array',
      title: 'Headers',
      maxItems: 16,
      default: [],
      items: {
        type: 'string',
        pattern: '^[\\w!#$%&*+.^`|~-]+$',
        patternErrorMessage: 'must be the name of a header',
      },
      description: 'Headers of requests that the log keeps. Those with credentials are not accepted.',
    },
    client_address: {
      type: 'boolean',
      title: 'Client address',
      default: false,
      description: 'Whether the log keeps the IP addresses of clients.',
    },
  },
} as const

export type LoggingSettings = ConfigOf<typeof loggingSchema>

/** Refuses headers with credentials. */
export function checkLogging(
  { headers, capture, retention, capture_retention: kept }: LoggingSettings,
  report: SectionReport,
): void {
  if (retention !== '0s' && isTooShort(retention)) report(['retention'], tooShort, 'service', 'warning')
  else if (capture !== 'off' && retention !== '0s' && (kept === '0s' || duration(kept) > duration(retention)))
    report(
      ['capture_retention'],
      `is longer than retention (${retention}), with which bodies go, too`,
      'service',
      'warning',
    )
  headers.forEach((name, index) => {
    if (hasCredentials(name)) report(['headers', index], `the header "${name}" has credentials, which are not logged`)
  })
}
