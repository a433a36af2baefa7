import { Refusal, defineProvider } from '../../engine/index.ts'
import { addressOf, baseUrl, defined, isObject, openUpstream } from '../../engine/kit.ts'
import type { ModelList } from '../../engine/kit.ts'
import type { Call, JsonObject, Offering, Provider } from '../../engine/index.ts'
import { httpProperties, traitsProperty } from './config.ts'
import { claudeSampling } from './sampling.ts'

const protocol = 'converse'

const { api_key, api_keys: _several, endpoint_base_urls: _nowhere, ...others } = httpProperties

const secret = {
  type: 'string',
  pattern: '^[\\x21-\\x7e]+$',
  patternErrorMessage: 'must be printable ASCII characters without spaces',
} as const

/** Models of many vendors in Amazon Bedrock, spoken to in its Converse API. */
export default defineProvider({
  name: 'bedrock',
  summary: "Amazon Bedrock's Converse: models of many vendors, with signed requests or an API key.",
  config: {
    type: 'object',
    additionalProperties: false,
    examples: [{ region: 'us-east-1', api_key: 'secret' }],
    anyOf: [{ required: ['api_key'] }, { required: ['access_key_id', 'secret_access_key'] }],
    properties: {
      region: {
        type: 'string',
        pattern: '^[a-z0-9-]+$',
        patternErrorMessage: 'must be the name of a region, such as us-east-1',
        description: 'Region of the models, such as us-east-1. Required without a base_url, and for signed requests.',
      },
      base_url: { ...baseUrl, description: "Address of the API. Unset: the region's own." },
      api_key: { ...api_key, description: 'API key of Bedrock, sent as a bearer token instead of a signature.' },
      access_key_id: { ...secret, description: 'Access key id, with which requests are signed (SigV4).' },
      secret_access_key: { ...secret, description: 'Secret access key that belongs to it.' },
      session_token: {
        type: 'string',
        pattern: '^[\\x21-\\x7e]*$',
        patternErrorMessage: 'must be printable ASCII characters without spaces',
        description: 'Session token of temporary credentials. Empty: the credentials are not temporary.',
      },
      guardrail: {
        type: 'object',
        additionalProperties: false,
        required: ['guardrailIdentifier', 'guardrailVersion'],
        description: 'Guardrail for every request.',
        properties: {
          guardrailIdentifier: { type: 'string', minLength: 1, description: 'Its id or ARN.' },
          guardrailVersion: { type: 'string', minLength: 1, description: 'Its version, or DRAFT.' },
        },
      },
      model_fields: {
        type: 'object',
        additionalProperties: true,
        description: 'Further fields of the models, for every request: additionalModelRequestFields.',
      },
      ...others,
      traits: { ...traitsProperty, description: 'Capabilities of its models: traits of the codec converse.' },
    },
  } as const,
  secrets: ['api_key', 'secret_access_key', 'session_token'],
  destinations: ['region'],
  offers: ({ guardrail, model_fields, traits }): readonly Offering[] => [
    {
      protocol,
      traits: defined({
        sampling: claudeSampling,
        guardrail,
        model_fields: model_fields as JsonObject | undefined,
        ...traits,
      }),
    },
  ],
  open(config, host) {
    const { api_key, region } = config
    if (
      config.base_url === undefined &&
      region !== undefined &&
      !/^[a-z]{2,8}(-[a-z]{1,16}){1,3}-\d{1,2}$/.test(region)
    )
      throw new Refusal('must be the name of a region, such as us-east-1', ['region'])
    const base_url = config.base_url ?? regional(region)
    const settings = { ...config, base_url }
    const models = listsAt(base_url)
    if (api_key !== undefined)
      return told(openUpstream(settings, host, { protocols: [protocol], credential: 'bearer', models }))
    const signer = openSigner(config)
    const { path = '', streamed = path, prefix } = host.upstreamCodec(protocol).address ?? {}
    const signed = new WeakMap<Call, readonly string[]>()
    const upstream = openUpstream(settings, host, {
      protocols: [protocol],
      perCall: (call) => signed.get(call) ?? [],
      models,
      perList: (url) => signer('GET', url.href),
    })
    const addressed = (call: Call) =>
      addressOf(settings, protocol, call.stream ? streamed : path, prefix).href.replace(
        '%7Bmodel%7D',
        // A name that is not well formed is refused when it is sent.
        encodeURIComponent(call.model.toWellFormed()),
      )
    return told({
      ...upstream,
      async send(call) {
        signed.set(call, await signer('POST', addressed(call), call.body.bytes))
        return upstream.send(call)
      },
    })
  },
})

/**
 * Where models are listed that Converse takes by name: foundation models by their id, the vendor's inference profiles
 * by their id, those of the account by their ARN (API reference: ListFoundationModels, ListInferenceProfiles). The
 * vendor serves the lists at a host of their own; at any other address, they are asked for where the models are.
 */
function listsAt(base: string): readonly ModelList[] {
  const base_url = base.replace(/^(https?:\/\/)bedrock-runtime(?=[.-])/, '$1bedrock')
  const list = (path: string, field: string, name: string): ModelList => ({
    path,
    base_url,
    names: ({ [field]: entries }) => {
      if (!Array.isArray(entries)) return undefined
      const named = entries.map((entry) => (isObject(entry) ? entry[name] : undefined))
      return named.filter((one) => typeof one === 'string')
    },
    next: ({ nextToken }) => (typeof nextToken === 'string' && nextToken !== '' ? { nextToken } : undefined),
  })
  const profiles = (type: string, name: string) =>
    list(`/inference-profiles?maxResults=1000&type=${type}`, 'inferenceProfileSummaries', name)
  return [
    list('/foundation-models?byInferenceType=ON_DEMAND&byOutputModality=TEXT', 'modelSummaries', 'modelId'),
    profiles('SYSTEM_DEFINED', 'inferenceProfileId'),
    profiles('APPLICATION', 'inferenceProfileArn'),
  ]
}

function regional(region: string | undefined): string {
  if (region === undefined) throw new Refusal('region is needed where there is no base_url', ['region'])
  return `https://bedrock-runtime.${region}.amazonaws.com${region.startsWith('cn-') ? '.cn' : ''}`
}

interface Credentials {
  readonly region?: string | undefined
  readonly access_key_id?: string | undefined
  readonly secret_access_key?: string | undefined
  readonly session_token?: string | undefined
}

/** Signs one request: the header lines of its signature (SigV4), which is valid for some minutes. */
type Signer = (method: string, url: string, body?: Buffer) => Promise<readonly string[]>

function openSigner({ region, access_key_id, secret_access_key, session_token }: Credentials): Signer {
  if (region === undefined) throw new Refusal('region is needed to sign requests', ['region'])
  const credentials = {
    accessKeyId: access_key_id ?? '',
    secretAccessKey: secret_access_key ?? '',
    ...(session_token ? { sessionToken: session_token } : {}),
  }
  const cache = new Map<string, ArrayBuffer>()
  return async (method, url, body) => {
    // Loaded with the first request: few gateways need it.
    const { AwsV4Signer } = await import('aws4fetch')
    const given = { ...credentials, method, url, region, service: 'bedrock', cache, ...(body ? { body } : {}) }
    const { headers } = await new AwsV4Signer(given).sign()
    return [...headers].flat()
  }
}

/**
 * Statuses by the type of an error, where the vendor's status means something else to clients, or differs from service
 * to service: throttling and expired signatures are also a 400 (API reference: Common Errors).
 */
const statuses: ReadonlyMap<string, number> = new Map([
  ['ModelErrorException', 502],
  ['ModelTimeoutException', 504],
  ['ServiceQuotaExceededException', 429],
  ['ThrottlingException', 429],
  ['TooManyRequestsException', 429],
  ['ExpiredTokenException', 403],
  ['IncompleteSignature', 403],
  ['RequestExpired', 403],
])

/** The provider, with the statuses of errors that their type tells (`x-amzn-errortype: <namespace>#<type>:<more>`). */
function told<P extends Required<Pick<Provider, 'send'>>>(provider: P): P {
  return {
    ...provider,
    async send(call) {
      const answer = await provider.send(call)
      const [, type = ''] = /^(?:[^:]*#)?([^:]*)/.exec(answer.headers['x-amzn-errortype'] ?? '') ?? []
      return { ...answer, status: answer.status < 400 ? answer.status : (statuses.get(type) ?? answer.status) }
    },
  }
}
