import { durationSchema } from '../spec/duration.ts'

const limit = (description: string) => ({ ...durationSchema, description }) as const

/** The base address of a provider, as a property of its schema. */
export const baseUrl = {
  type: 'string',
  minLength: 1,
  description: "The provider's address as its own client libraries take it; one without a path gets /v1.",
} as const

/** Settings of every HTTP provider, as properties of its schema. */
export const upstreamProperties = {
  api_key: {
    type: 'string',
    pattern: '^[\\x21-\\x7e]+$',
    patternErrorMessage: 'must be printable ASCII characters without spaces',
    description: 'Key that the gateway shows to the provider, best taken from the environment: ${NAME}.',
  },
  headers: {
    type: 'object',
    additionalProperties: {
      type: 'string',
      pattern: '^[\\t\\x20-\\x7e\\x80-\\xff]*$',
      patternErrorMessage: 'must be one line of characters that headers may hold',
    },
    description: 'Further headers of every request to the provider.',
  },
  timeouts: {
    type: 'object',
    additionalProperties: false,
    description: "Limits of this provider. They go before the pipeline's and those of `resilience.timeouts`.",
    properties: {
      connect: limit('How long it may take to get a connection, by itself or by waiting for a free one.'),
      first_byte: limit('How long the provider may take to begin its answer.'),
      idle: limit('How long an answer that has begun may be silent.'),
      total: limit('How long a whole answer may take.'),
    },
  },
  max_connections: {
    type: 'integer',
    minimum: 1,
    description: 'Most connections to one address at a time. Unset: as many as there are requests.',
  },
} as const
