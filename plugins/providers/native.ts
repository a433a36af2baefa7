import { defineProvider } from '../../engine/index.ts'
import type { Traits } from '../../engine/index.ts'
import { baseUrl, httpProperties } from './config.ts'
import { offerOf, openUpstream } from './upstream.ts'

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
function traitsOf(protocol: string, conversations: string): Traits | undefined {
  if (protocol === 'chat') return chatTraits
  return protocol === 'responses' ? { stores: true, conversations } : undefined
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
  offers: ({ conversations }) => protocols.map((protocol) => offerOf(protocol, traitsOf(protocol, conversations))),
  open: (config, host) => openUpstream(config, protocols, { authorization: `Bearer ${config.api_key}` }, host),
})
