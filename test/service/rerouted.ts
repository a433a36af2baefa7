import { definePlugin, defineProvider } from '../../engine/index.ts'
import { baseUrl, openUpstream, upstreamProperties } from '../../engine/kit.ts'

/** Has the address of a vendor, and connects to a server of the test instead. */
const rerouted = defineProvider({
  name: 'rerouted',
  summary: 'Chat completions of a server that stands in for a vendor.',
  config: {
    type: 'object',
    additionalProperties: false,
    required: ['base_url', 'server'],
    properties: {
      base_url: baseUrl,
      server: { type: 'string', description: 'Address of the server in place of the vendor.' },
      ...upstreamProperties,
    },
  } as const,
  secrets: ['api_key', 'api_keys'],
  destinations: ['server'],
  offers: () => [{ protocol: 'chat' }],
  open: ({ server, ...config }, host) =>
    openUpstream({ ...config, base_url: server }, host, { protocols: ['chat'], credential: 'bearer' }),
})

export default definePlugin({ name: 'rerouted', summary: 'A stand-in for vendors.', providers: [rerouted] })
