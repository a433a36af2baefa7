import { defineProvider } from '../../engine/index.ts'
import { baseUrl, openUpstream } from '../../engine/kit.ts'
import type { Traits } from '../../engine/index.ts'
import { httpProperties } from './config.ts'

const media = ['embeddings', 'images', 'image-edits', 'speech', 'transcriptions', 'translations']
const protocols = ['responses', 'compact', 'input-tokens', 'chat', 'decisions', ...media]

/** What the vendor's own chat completions do beyond what every server of that protocol does. */
const chatTraits = {
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

/** What an offer of a protocol says of it: the vendor keeps responses, and who of us two a conversation goes on from. */
function traitsOf(protocol: string, conversations: string): { readonly traits?: Traits } {
  if (protocol === 'chat') return { traits: chatTraits }
  return protocol === 'responses' ? { traits: { stores: true, conversations } } : {}
}

/** The vendor's own responses, chat completions, decisions, embeddings, images and audio, with a bearer key. */
export default defineProvider({
  name: 'native',
  summary: "The vendor's own responses, chat completions, decisions, embeddings, images and audio.",
  config: {
    type: 'object',
    additionalProperties: false,
    required: ['base_url', 'api_key'],
    properties: {
      base_url: baseUrl,
      ...httpProperties,
      conversations: {
        enum: ['gateway', 'vendor'],
        default: 'gateway',
        description:
          "Whose copy a response goes on from that both have stored. gateway: the whole conversation is sent with each turn; vendor: the client's own bytes are, so that hidden reasoning lives on.",
      },
    },
  },
  secrets: ['api_key'],
  offers: ({ conversations }) => protocols.map((protocol) => ({ protocol, ...traitsOf(protocol, conversations) })),
  open: (config, host) =>
    openUpstream(config, host, {
      protocols,
      headers: { authorization: `Bearer ${config.api_key}` },
      models: '/models',
    }),
})
