import { defineProvider } from '../../engine/index.ts'
import { baseUrl, openUpstream } from '../../engine/kit.ts'
import type { Traits } from '../../engine/index.ts'
import { conversationsProperty, httpProperties, httpSecrets, needsKey } from './config.ts'
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
}

/** Traits of the offer of a protocol: the vendor stores responses, and whose copy a conversation continues from. */
function traitsOf(protocol: string, conversations: string): { readonly traits?: Traits } {
  if (protocol === 'chat') return { traits: chatTraits }
  return protocol === 'responses' ? { traits: { stores: true, conversations } } : {}
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
    },
  },
  secrets: httpSecrets,
  offers: ({ conversations }) => protocols.map((protocol) => ({ protocol, ...traitsOf(protocol, conversations) })),
  open: (config, host) =>
    openUpstream(config, host, {
      protocols,
      credential: 'bearer',
      perDial: sessionHeaders,
      models: [{ path: '/models' }],
    }),
})
