import { durationSchema } from '../../engine/kit.ts'

const address = (description: string) => ({ type: 'string', minLength: 1, description }) as const
const limit = (description: string) => ({ ...durationSchema, description }) as const

/** Settings that every provider over HTTP has, as properties of its schema. */
export const httpProperties = {
  api_key: {
    type: 'string',
    pattern: '^[\\x21-\\x7e]+$',
    patternErrorMessage: 'must be printable ASCII characters without spaces',
    description: 'Key that the gateway shows to the provider, best taken from the environment: ${NAME}.',
  },
  endpoint_base_urls: {
    type: 'object',
    additionalProperties: false,
    description:
      'Operations that live elsewhere. An address without a path, or whose path ends in /v1, is a base; any other is the full address of the operation.',
    properties: {
      chat: address('Address of chat completions.'),
      responses: address('Address of responses; they are compacted and counted below it.'),
      messages: address('Address of messages; tokens are counted below it.'),
      embeddings: address('Address of embeddings.'),
      images: address('Address of images.'),
      audio: address('Address of speech, transcriptions and translations.'),
      decisions: address('Address of decisions.'),
      mapeval: address('Address of mapeval.'),
      realtime: address('Address of realtime sessions.'),
    },
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

/** The base address of a provider. */
export const baseUrl = address(
  "The provider's address as its own client libraries take it; one without a path gets /v1.",
)

/** What an upstream's chat completions take and give, in the words of the chat codec's traits. */
export const traitsProperty = {
  type: 'object',
  additionalProperties: {
    anyOf: [{ type: 'boolean' }, { type: 'string' }, { type: 'array', items: { type: 'string' } }],
  },
  description:
    "What its chat completions can and cannot do, where that differs from the preset; the chat codec's traits.",
} as const
