import { Refusal, defineProvider } from '../../engine/index.ts'
import { baseUrl, openUpstream } from '../../engine/kit.ts'
import type { Offering } from '../../engine/index.ts'
import { conversationsProperty, httpProperties, httpSecrets, needsKey, traitsProperty } from './config.ts'
import { chatTraits, mediaProtocols, responsesTraits } from './native.ts'
import { nativeSampling } from './sampling.ts'
import { sessionHeaders } from './session-headers.ts'

/** Protocols whose path names the deployment, where the API has a version; those of responses take it from the body. */
const deployed = ['chat', ...mediaProtocols]
const responses = ['responses', 'compact', 'input-tokens']
const sessions = 'realtime'
/** The first version of the API that has responses. Versions are dates, such as `2024-10-21` and `2025-04-01-preview`. */
const withResponses = '2025-03-01'

const { api_key, api_keys, endpoint_base_urls: _nowhere, ...others } = httpProperties

/**
 * Deployments of the native vendor's models in Azure: the addresses are those of its API without a version (`/v1/…`),
 * or with one (learn.microsoft.com/azure/foundry/openai/api-version-lifecycle).
 */
export default defineProvider({
  name: 'azure',
  summary:
    "Azure's deployments of native models: responses, chat completions, embeddings, images, audio and realtime sessions.",
  config: {
    type: 'object',
    additionalProperties: false,
    required: ['base_url'],
    anyOf: needsKey,
    properties: {
      base_url: {
        ...baseUrl,
        description:
          'Address of the resource, such as https://name.openai.azure.com/openai; one without a path gets /openai.',
      },
      api_key,
      api_keys,
      auth: {
        enum: ['api-key', 'bearer'],
        default: 'api-key',
        description: 'How to send the key: in the header api-key, or as a bearer token of Microsoft Entra ID.',
      },
      api_version: {
        type: 'string',
        pattern: '^\\d{4}-\\d\\d-\\d\\d(-[\\w.]+)?$',
        patternErrorMessage: 'must be a version of the API, such as 2024-10-21',
        description:
          'Version of the API, such as 2024-10-21: requests then go to /deployments/<model>/…?api-version=…. Unset: to /v1/…, which has no versions.',
      },
      ...others,
      conversations: conversationsProperty,
      traits: traitsProperty,
    },
  } as const,
  secrets: httpSecrets,
  destinations: [],
  offers: ({ api_version, conversations, traits }): readonly Offering[] =>
    protocolsOf(api_version).map((protocol) => {
      // Versions of the API lag behind the vendor, and refuse fields that they do not know.
      if (protocol === 'chat')
        return {
          protocol,
          traits: { sampling: nativeSampling, ...(api_version === undefined ? chatTraits : {}), ...traits },
        }
      return protocol === 'responses'
        ? { protocol, traits: { ...responsesTraits(conversations), ...traits } }
        : { protocol }
    }),
  open(config, host) {
    const { api_version, auth, traits: _traits, conversations: _conversations, ...settings } = config
    const credential = auth === 'bearer' ? auth : (key: string) => ({ 'api-key': key })
    const openAt = (path: string, protocols: readonly string[], version?: string) => {
      const base_url = addressOf(config.base_url, path, version)
      const parts = { protocols, credential, perDial: sessionHeaders, models: [{ path: '/models' }] }
      return openUpstream({ ...settings, base_url }, host, parts)
    }
    if (api_version === undefined) return openAt('/v1', protocolsOf(api_version))
    const one = openAt('/deployments/{model}', deployed, api_version)
    const shared = openAt('', responses, api_version)
    // Sessions have no versions (as in the official client).
    const live = openAt('/v1', [sessions])
    return {
      ...live,
      ...shared,
      send: (call) => (deployed.includes(call.protocol) ? one : shared).send(call),
    }
  },
})

function protocolsOf(version: string | undefined): readonly string[] {
  return version === undefined || version >= withResponses
    ? [...responses, ...deployed, sessions]
    : [...deployed, sessions]
}

/** The address below which operations are served. One that cannot be parsed is refused where it is opened. */
function addressOf(base: string, path: string, version: string | undefined): string {
  const url = URL.parse(base)
  if (!url) return base
  const [, rest] = /\/(v1|deployments)\/./.exec(url.pathname) ?? []
  if (rest !== undefined) throw new Refusal(`base_url must be what comes before "/${rest}"`, ['base_url'])
  const below = url.pathname.replace(/\/{1,64}$/, '').replace(/\/v1$/, '')
  url.pathname = (below || '/openai') + path
  if (version !== undefined) url.searchParams.set('api-version', version)
  return url.href
}
