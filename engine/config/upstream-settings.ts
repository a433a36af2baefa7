import { durationSchema } from '../spec/duration.ts'

const limit = (description: string) => ({ ...durationSchema, description }) as const

const key = {
  type: 'string',
  pattern: '^[\\x21-\\x7e]+$',
  patternErrorMessage: 'must be printable ASCII characters without spaces',
} as const

/** The base address of a provider, as a property of its schema. */
export const baseUrl = {
  type: 'string',
  minLength: 1,
  description: "The provider's address as its own client libraries take it; one without a path gets /v1.",
} as const

/** Settings of every HTTP provider, as properties of its schema. */
export const upstreamProperties = {
  api_key: {
    ...key,
    description: 'API key of the gateway at the provider. In a file, it is best taken from the environment: ${NAME}.',
  },
  api_keys: {
    type: 'array',
    minItems: 1,
    maxItems: 32,
    uniqueItems: true,
    items: key,
    description:
      'Several API keys instead of one, used in turn. A key rests after the provider has refused it (10m), or found it too busy: as long as it says, otherwise `resilience.cooldown`.',
  },
  headers: {
    type: 'object',
    additionalProperties: {
      type: 'string',
      pattern: '^[\\t\\x20-\\x7e\\x80-\\xff]*$',
      patternErrorMessage: 'must be one line of characters that headers may hold',
    },
    description: 'Additional headers for every request to the provider.',
  },
  timeouts: {
    type: 'object',
    additionalProperties: false,
    description:
      'Timeouts of this provider. They take precedence over those of the pipeline and of `resilience.timeouts`.',
    properties: {
      connect: limit('How long it may take to open a connection, or to wait for a free one.'),
      first_byte: limit('How long the provider may take to start its answer.'),
      idle: limit('How long an answer may be silent after its start.'),
      total: limit('How long a whole answer may take.'),
    },
  },
  max_connections: {
    type: 'integer',
    minimum: 1,
    description: 'Maximum connections to one address at a time. Unset: unlimited.',
  },
} as const
