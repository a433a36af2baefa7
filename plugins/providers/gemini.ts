import { Refusal, defineProvider } from '../../engine/index.ts'
import { baseUrl, isObject, openUpstream } from '../../engine/kit.ts'
import type { Call, Json, JsonObject, Provider } from '../../engine/index.ts'
import { httpProperties, httpSecrets, needsKey, traitsProperty } from './config.ts'

const protocols = ['gemini', 'gemini-embeddings', 'gemini-count-tokens']
/** Prefix of the vendor's resource names (`models/gemini-…`), which stands in the address already. */
const resource = 'models/'

const { endpoint_base_urls: _, ...properties } = httpProperties

/** Gemini's own API (ai.google.dev/api). Its model stands in the address, its key in a header of its own. */
export default defineProvider({
  name: 'gemini',
  summary: "Gemini's own API: generateContent, batchEmbedContents and countTokens.",
  config: {
    type: 'object',
    additionalProperties: false,
    anyOf: needsKey,
    properties: {
      base_url: {
        ...baseUrl,
        default: 'https://generativelanguage.googleapis.com/v1beta',
        description: "The provider's address with the version of its API; one without a path gets /v1beta.",
      },
      ...properties,
      traits: { ...traitsProperty, description: 'Capabilities of its models: traits of the gemini codec.' },
    },
  },
  secrets: httpSecrets,
  destinations: [],
  offers: ({ traits }) =>
    protocols.map((protocol) => ({ protocol, ...(traits && protocol === 'gemini' ? { traits } : {}) })),
  open(config, host): Provider {
    if (/\/openai\/?$/.test(config.base_url))
      throw new Refusal('base_url must be what comes before "/openai", where chat completions are served', ['base_url'])
    const upstream = openUpstream(config, host, {
      protocols,
      credential: (key) => ({ 'x-goog-api-key': key }),
      models: [{ path: '/models?pageSize=1000', names, next }],
    })
    return { ...upstream, send: (call) => upstream.send(bare(call)) }
  },
})

function bare(call: Call): Call {
  return call.model.startsWith(resource) ? { ...call, model: call.model.slice(resource.length) } : call
}

/** The names in `{ models: [{ name: 'models/…' }] }`, of models that can do something that this provider offers. */
function names({ models }: JsonObject): readonly string[] | undefined {
  if (!Array.isArray(models)) return undefined
  return models.flatMap((model) => {
    const name = isObject(model) && isServed(model) ? model['name'] : undefined
    return typeof name === 'string' ? [name.startsWith(resource) ? name.slice(resource.length) : name] : []
  })
}

/** Methods of the vendor that the protocols reach. The list of an embedding model names the one for a single content. */
const served: readonly Json[] = ['generateContent', 'embedContent', 'batchEmbedContents']

/** Models for pictures, videos and live sessions have other methods. A list that tells no methods leaves none out. */
function isServed({ supportedGenerationMethods: methods }: JsonObject): boolean {
  return !Array.isArray(methods) || methods.some((method: Json) => served.includes(method))
}

function next({ nextPageToken: pageToken }: JsonObject) {
  return typeof pageToken === 'string' && pageToken !== '' ? { pageToken } : undefined
}
