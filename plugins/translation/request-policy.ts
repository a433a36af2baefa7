import { defineService } from '../../engine/index.ts'
import type { ConfigOf } from '../../engine/index.ts'

const settings = {
  type: 'object',
  additionalProperties: false,
  description: 'Policies for requests and answers.',
  properties: {
    max_body_bytes: {
      type: 'integer',
      minimum: 1_024,
      maximum: 67_108_864,
      default: 67_108_864,
      'x-unit': 'bytes',
      description: 'Most bytes of a body that is no form; a pipeline may say another limit. Beyond it: 413.',
    },
    answer_model: {
      enum: ['upstream', 'gateway'],
      default: 'upstream',
      description:
        "The model name in answers. upstream: the provider's name; gateway: the name of the model's own record, except in stream events larger than `resilience.max_event_bytes`, which are not parsed.",
    },
    lost_content: {
      enum: ['refuse', 'describe'],
      default: 'refuse',
      description:
        'An image or file of the last turn that the provider cannot be given. refuse: 400, unless another candidate takes it; describe: a text such as `[file omitted]` in its place. Those of earlier turns, and files given by an address that cannot be fetched, are always described.',
    },
    prompt_caching: {
      enum: ['off', 'asked', 'auto'],
      default: 'auto',
      description:
        'Cache marks in requests to messages and converse upstreams, for clients whose protocol has none. off: never; asked: for requests with a prompt_cache_key; auto: also once the history holds an answer.',
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
  summary: 'Settings for how requests and answers are translated.',
  settings,
})
