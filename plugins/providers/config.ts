import { upstreamProperties } from '../../engine/kit.ts'

const address = (description: string) => ({ type: 'string', minLength: 1, description }) as const

const { api_key, api_keys, ...others } = upstreamProperties

/** Settings of every shipped provider over HTTP, as properties of its schema. */
export const httpProperties = {
  api_key,
  api_keys,
  endpoint_base_urls: {
    type: 'object',
    additionalProperties: false,
    description:
      'Addresses of operations that are not below the base URL. An address without a path, or with a path that ends in /v1, is a base URL; any other is the full address of the operation.',
    properties: {
      chat: address('Address of chat completions.'),
      responses: address('Address of responses; compaction and token counting are below it.'),
      messages: address('Address of messages; token counting is below it.'),
      embeddings: address('Address of embeddings.'),
      images: address('Address of images.'),
      audio: address('Address of speech, transcriptions and translations.'),
      decisions: address('Address of decisions.'),
      mapeval: address('Address of mapeval.'),
      realtime: address('Address of realtime sessions.'),
    },
  },
  ...others,
} as const

/** The secret settings of every shipped provider over HTTP. */
export const httpSecrets = ['api_key', 'api_keys'] as const

/** For providers that cannot be used without a key. */
export const needsKey = [{ required: ['api_key'] }, { required: ['api_keys'] }] as const

/** Capabilities of an upstream's chat completions, as traits of the chat codec. */
export const traitsProperty = {
  type: 'object',
  additionalProperties: {
    anyOf: [
      { type: 'boolean' },
      { type: 'string' },
      { type: 'array', items: { type: 'string' } },
      { type: 'object', additionalProperties: { type: 'string' } },
    ],
  },
  description: 'Capabilities of its chat completions that differ from the preset: traits of the chat codec.',
} as const

/** For providers that store responses themselves. */
export const conversationsProperty = {
  enum: ['gateway', 'vendor'],
  default: 'gateway',
  description:
    "Whose copy a response continues from if both have stored it. gateway: each turn sends the whole conversation; vendor: each turn sends the client's own bytes, so that hidden reasoning is kept.",
} as const
