import { defineService } from '../../engine/index.ts'
import type { ConfigOf } from '../../engine/index.ts'

const settings = {
  type: 'object',
  additionalProperties: false,
  description: 'What is made of requests and answers.',
  properties: {
    max_body_bytes: {
      type: 'integer',
      minimum: 1_024,
      maximum: 67_108_864,
      default: 67_108_864,
      description: 'Most bytes of a body that is no form; a pipeline may say another limit. Beyond it: 413.',
    },
    answer_model: {
      enum: ['upstream', 'gateway'],
      default: 'upstream',
      description:
        "The model that answers name: upstream: the provider's word for what answered; gateway: the name of the model's own record, but in events of streams beyond `resilience.max_event_bytes`, which pass unread.",
    },
    prompt_caching: {
      enum: ['off', 'asked', 'auto'],
      default: 'asked',
      description:
        'Cache marks toward messages upstreams for clients that cannot set them: off: never; asked: for requests with a prompt_cache_key; auto: always.',
    },
  },
} as const

declare module '../../engine/index.ts' {
  interface Services {
    request_policy: ConfigOf<typeof settings>
  }
}

export default defineService({
  name: 'request_policy',
  summary: 'What is made of requests and answers on their way through.',
  settings,
})
