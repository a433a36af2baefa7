import { upstreamProperties } from '../../engine/kit.ts'

const address = (description: string) => ({ type: 'string', minLength: 1, description }) as const

const { api_key, ...others } = upstreamProperties

/** Settings that every provider over HTTP has here, as properties of its schema. */
export const httpProperties = {
  api_key,
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
  ...others,
} as const

/** What an upstream's chat completions take and give, in the words of the chat codec's traits. */
export const traitsProperty = {
  type: 'object',
  additionalProperties: {
    anyOf: [{ type: 'boolean' }, { type: 'string' }, { type: 'array', items: { type: 'string' } }],
  },
  description:
    "What its chat completions can and cannot do, where that differs from the preset; the chat codec's traits.",
} as const
