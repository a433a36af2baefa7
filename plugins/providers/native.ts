import { defineProvider } from '../../engine/index.ts'
import { baseUrl, openUpstream } from '../../engine/kit.ts'
import type { Offering, Traits } from '../../engine/index.ts'
import { conversationsProperty, httpProperties, httpSecrets, needsKey, traitsProperty } from './config.ts'
import { nativeSampling } from './sampling.ts'
import { sessionHeaders } from './session-headers.ts'

export const mediaProtocols = ['embeddings', 'images', 'image-edits', 'speech', 'transcriptions', 'translations']
const protocols = ['responses', 'compact', 'input-tokens', 'chat', 'decisions', ...mediaProtocols, 'realtime']

/** Traits of the vendor's own chat completions that not every server of the protocol has. */
export const chatTraits = {
  system_role: 'developer',
  custom_tools: true,
  allowed_tools: true,
  files: true,
  audio: true,
  user_field: 'safety_identifier',
  prompt_cache_key: true,
  service_tier: true,
  verbosity: true,
  metadata: true,
  sampling: nativeSampling,
}

/** Traits of the offer of responses: the vendor stores them, and whose copy a conversation continues from. */
export function responsesTraits(conversations: string): Traits {
  return { stores: true, conversations, sampling: nativeSampling }
}

/** The vendor's own responses, chat completions, decisions, embeddings, images, audio and realtime sessions, with a bearer key. */
export default defineProvider({
  name: 'native',
  summary: "The vendor's own responses, chat completions, decisions, embeddings, images, audio and realtime sessions.",
  config: {
    type: 'object',
    additionalProperties: false,
    required: ['base_url'],
    anyOf: needsKey,
    properties: {
      base_url: baseUrl,
      ...httpProperties,
      conversations: conversationsProperty,
      traits: {
        ...traitsProperty,
        description: 'Capabilities of its models: traits of the codecs chat and responses.',
      },
    },
  },
  secrets: httpSecrets,
  destinations: [],
  offers: ({ conversations, traits }): readonly Offering[] =>
    protocols.map((protocol) => {
      if (protocol === 'chat') return { protocol, traits: { ...chatTraits, ...traits } }
      return protocol === 'responses'
        ? { protocol, traits: { ...responsesTraits(conversations), ...traits } }
        : { protocol }
    }),
  open: (config, host) =>
    openUpstream(config, host, {
      protocols,
      credential: 'bearer',
      perDial: sessionHeaders,
      models: [{ path: '/models' }],
    }),
})
