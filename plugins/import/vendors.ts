/** How the gateway speaks to a vendor that LiteLLM names. */
export interface Vendor {
  readonly type: 'native' | 'compatible' | 'azure' | 'messages' | 'bedrock' | 'gemini'
  readonly preset?: string
  /** The usual address, with its path. */
  readonly base?: string
  /** The variable of an address that has no usual one. */
  readonly baseVariable?: string
  /** The usual variable of the key; absent: there need not be one. */
  readonly variable?: string
  /** What differs, for whoever imports. */
  readonly advice?: string
}

const preset = (name: string, variable: string): Vendor => ({ type: 'compatible', preset: name, variable })
const server = (base: string, variable: string): Vendor => ({ type: 'compatible', base, variable })
const local = (base: string | undefined, baseVariable: string): Vendor =>
  base === undefined ? { type: 'compatible', baseVariable } : { type: 'compatible', base, baseVariable }

const openai: Vendor = { type: 'native', base: 'https://api.openai.com/v1', variable: 'OPENAI_API_KEY' }
const azure: Vendor = { type: 'azure', baseVariable: 'AZURE_API_BASE', variable: 'AZURE_API_KEY' }
const ollama = local('http://localhost:11434/v1', 'OLLAMA_API_BASE')
const vllm = local(undefined, 'HOSTED_VLLM_API_BASE')
const cohere = server('https://api.cohere.ai/compatibility/v1', 'COHERE_API_KEY')
const completions = 'text completions are served as chat completions alone'

/** Vendors by the first part of a model's name in LiteLLM (docs.litellm.ai/docs/providers), with its usual addresses. */
export const vendors: ReadonlyMap<string, Vendor> = new Map<string, Vendor>([
  ['openai', openai],
  ['text-completion-openai', { ...openai, advice: completions }],
  ['custom_openai', local(undefined, 'OPENAI_LIKE_API_BASE')],
  ['openai_like', local(undefined, 'OPENAI_LIKE_API_BASE')],
  ['litellm_proxy', local(undefined, 'LITELLM_PROXY_API_BASE')],
  ['hosted_vllm', vllm],
  ['vllm', vllm],
  ['lm_studio', local(undefined, 'LM_STUDIO_API_BASE')],
  ['ollama', ollama],
  ['ollama_chat', ollama],
  ['llamafile', local('http://127.0.0.1:8080/v1', 'LLAMAFILE_API_BASE')],
  ['docker_model_runner', local('http://localhost:22088/engines/llama.cpp/v1', 'DOCKER_MODEL_RUNNER_API_BASE')],
  ['xinference', local('http://127.0.0.1:9997/v1', 'XINFERENCE_API_BASE')],
  ['azure', azure],
  ['azure_text', { ...azure, advice: completions }],
  ['anthropic', { type: 'messages', base: 'https://api.anthropic.com/v1', variable: 'ANTHROPIC_API_KEY' }],
  ['bedrock', { type: 'bedrock' }],
  ['bedrock_converse', { type: 'bedrock' }],
  ['gemini', { type: 'gemini', variable: 'GEMINI_API_KEY' }],
  ['groq', preset('groq', 'GROQ_API_KEY')],
  ['mistral', preset('mistral', 'MISTRAL_API_KEY')],
  ['deepseek', preset('deepseek', 'DEEPSEEK_API_KEY')],
  ['xai', preset('xai', 'XAI_API_KEY')],
  ['openrouter', preset('openrouter', 'OPENROUTER_API_KEY')],
  ['perplexity', preset('perplexity', 'PERPLEXITYAI_API_KEY')],
  ['cerebras', preset('cerebras', 'CEREBRAS_API_KEY')],
  ['sambanova', preset('sambanova', 'SAMBANOVA_API_KEY')],
  ['deepinfra', preset('deepinfra', 'DEEPINFRA_API_KEY')],
  ['moonshot', preset('moonshot', 'MOONSHOT_API_KEY')],
  ['zai', preset('zai', 'ZAI_API_KEY')],
  ['huggingface', preset('huggingface', 'HUGGINGFACE_API_KEY')],
  ['together_ai', preset('together', 'TOGETHERAI_API_KEY')],
  ['fireworks_ai', preset('fireworks', 'FIREWORKS_AI_API_KEY')],
  ['nvidia_nim', preset('nvidia', 'NVIDIA_NIM_API_KEY')],
  [
    'azure_ai',
    {
      type: 'compatible',
      baseVariable: 'AZURE_AI_API_BASE',
      variable: 'AZURE_AI_API_KEY',
      advice:
        'try it: the address must be one that serves chat completions, such as https://<name>.services.ai.azure.com/openai/v1',
    },
  ],
  ['cohere', cohere],
  ['cohere_chat', cohere],
  ['github', server('https://models.inference.ai.azure.com', 'GITHUB_API_KEY')],
  ['databricks', { type: 'compatible', baseVariable: 'DATABRICKS_API_BASE', variable: 'DATABRICKS_API_KEY' }],
  ['novita', server('https://api.novita.ai/v3/openai', 'NOVITA_API_KEY')],
  ['nebius', server('https://api.studio.nebius.ai/v1', 'NEBIUS_API_KEY')],
  ['hyperbolic', server('https://api.hyperbolic.xyz/v1', 'HYPERBOLIC_API_KEY')],
  ['lambda_ai', server('https://api.lambda.ai/v1', 'LAMBDA_API_KEY')],
  ['featherless_ai', server('https://api.featherless.ai/v1', 'FEATHERLESS_AI_API_KEY')],
  ['friendliai', server('https://api.friendli.ai/serverless/v1', 'FRIENDLIAI_API_KEY')],
  ['dashscope', server('https://dashscope-intl.aliyuncs.com/compatible-mode/v1', 'DASHSCOPE_API_KEY')],
  ['volcengine', server('https://ark.cn-beijing.volces.com/api/v3', 'VOLCENGINE_API_KEY')],
  ['scaleway', server('https://api.scaleway.ai/v1', 'SCW_SECRET_KEY')],
  ['ovhcloud', server('https://oai.endpoints.kepler.ai.cloud.ovh.net/v1', 'OVHCLOUD_API_KEY')],
  ['nscale', server('https://inference.api.nscale.com/v1', 'NSCALE_API_KEY')],
  ['minimax', server('https://api.minimax.io/v1', 'MINIMAX_API_KEY')],
  ['wandb', server('https://api.inference.wandb.ai/v1', 'WANDB_API_KEY')],
  ['poe', server('https://api.poe.com/v1', 'POE_API_KEY')],
  ['vercel_ai_gateway', server('https://ai-gateway.vercel.sh/v1', 'VERCEL_AI_GATEWAY_API_KEY')],
  ['codestral', server('https://codestral.mistral.ai/v1', 'CODESTRAL_API_KEY')],
  ['meta_llama', server('https://api.llama.com/compat/v1', 'LLAMA_API_KEY')],
  ['ai21', server('https://api.ai21.com/studio/v1', 'AI21_API_KEY')],
  ['ai21_chat', server('https://api.ai21.com/studio/v1', 'AI21_API_KEY')],
  ['aiml', server('https://api.aimlapi.com/v1', 'AIML_API_KEY')],
  ['anyscale', server('https://api.endpoints.anyscale.com/v1', 'ANYSCALE_API_KEY')],
  ['baseten', server('https://inference.baseten.co/v1', 'BASETEN_API_KEY')],
  ['galadriel', server('https://api.galadriel.com/v1', 'GALADRIEL_API_KEY')],
  ['inception', server('https://api.inceptionlabs.ai/v1', 'INCEPTION_API_KEY')],
  ['morph', server('https://api.morphllm.com/v1', 'MORPH_API_KEY')],
  ['v0', server('https://api.v0.dev/v1', 'V0_API_KEY')],
  ['cometapi', server('https://api.cometapi.com/v1', 'COMETAPI_KEY')],
])

const noCodec =
  'no provider type speaks its API; where it has an endpoint for chat completions, use a compatible provider'

/** Vendors that the gateway does not speak to, by the beginning of their names, and what to do instead. */
const unspoken: readonly (readonly [prefix: string, advice: string])[] = [
  [
    'vertex_ai',
    'use provider type gemini with an API key, or a compatible provider at the endpoint of Vertex for chat completions',
  ],
  ['sagemaker', noCodec],
  ['watsonx', noCodec],
  ['replicate', noCodec],
  ['cloudflare', noCodec],
  ['snowflake', noCodec],
  ['oci', noCodec],
  ['triton', noCodec],
  ['voyage', noCodec],
  ['jina_ai', noCodec],
  ['deepgram', noCodec],
  ['elevenlabs', noCodec],
  ['infinity', noCodec],
  ['nlp_cloud', noCodec],
  ['petals', noCodec],
  ['predibase', noCodec],
  ['palm', 'use provider type gemini with an API key'],
  ['aleph_alpha', noCodec],
  ['maritalk', noCodec],
  ['gigachat', noCodec],
  ['predictionguard', noCodec],
  ['assemblyai', noCodec],
  ['stability', noCodec],
  ['recraft', noCodec],
  ['fal_ai', noCodec],
  ['runwayml', noCodec],
  ['topaz', noCodec],
  ['dify', noCodec],
  ['langgraph', noCodec],
  ['github_copilot', noCodec],
]

/** Why models of a vendor cannot be taken over; undefined: they can. */
export function unspokenBecause(vendor: string): string | undefined {
  if (vendors.has(vendor)) return undefined
  const [, advice] = unspoken.find(([prefix]) => vendor.startsWith(prefix)) ?? []
  return advice ?? `"${vendor}" is no vendor that is known here; ${noCodec}`
}

/** A vendor, and the name of the model there. */
export interface VendorModel {
  readonly vendor: string
  readonly model: string
}

/** Whose model a name of LiteLLM means: `<vendor>/<name>`, or a bare name. */
export function vendorOf(name: string, custom: string | undefined): VendorModel {
  const [first = '', ...rest] = name.split('/')
  if (custom !== undefined)
    return { vendor: custom, model: first === custom && rest.length > 0 ? rest.join('/') : name }
  if (rest.length > 0) return { vendor: first, model: rest.join('/') }
  return { vendor: name.startsWith('claude-') ? 'anthropic' : 'openai', model: name }
}

/** Words between a vendor and the name of a model that only say how LiteLLM speaks to it. */
const ways: Readonly<Record<string, RegExp>> = {
  bedrock: /^(?:converse|invoke|converse_like)\//,
  bedrock_converse: /^(?:converse|invoke)\//,
  openai: /^(?:responses|chat)\//,
  azure: /^(?:responses|o_series|gpt5_series)\//,
}

/** The name that the vendor has for a model. */
export function upstreamName({ vendor, model }: VendorModel): { readonly upstream: string; readonly region?: string } {
  const bare = model.replace(ways[vendor] ?? /^(?!)/, '')
  if (vendor.startsWith('bedrock')) {
    const [, region, rest] = /^([a-z]{2}(?:-[a-z]+){1,2}-\d)\/(.+)$/.exec(bare) ?? []
    return region === undefined || rest === undefined ? { upstream: bare } : { upstream: rest, region }
  }
  if (vendor === 'fireworks_ai' && bare !== '*' && !bare.startsWith('accounts/'))
    return { upstream: `accounts/fireworks/models/${bare}` }
  return { upstream: bare }
}

/** An address as LiteLLM reads it, for a provider of this type, and what differs. */
export function addressIn(
  vendor: string,
  known: Vendor,
  given: string,
): { readonly address: string; readonly told?: string } {
  const { type, preset: ready, variable } = known
  const isLocal = type === 'compatible' && ready === undefined && variable === undefined
  if (isLocal && /^(?!https?:)[\w.-]+(?::\d{1,5})?(?:\/\S*)?$/.test(given))
    return { address: addressFor(vendor, known, `http://${given}`), told: 'it is asked over http://' }
  const query = type === 'azure' ? given.indexOf('?') : -1
  if (query < 0) return { address: addressFor(vendor, known, given) }
  return {
    address: addressFor(vendor, known, given.slice(0, query)),
    told: 'the address has no query; api_version says the version of the API',
  }
}

/** An address as LiteLLM reads it, for a provider of this type. */
function addressFor(vendor: string, { type }: Vendor, given: string): string {
  const bare = given.replace(/\/{1,64}$/, '')
  if (type === 'azure') {
    const before = bare.replace(/\/(?:deployments|v1)(?:\/.{0,2048})?$/, '')
    return before.endsWith('/openai') ? before : `${before}/openai`
  }
  if (type === 'messages') {
    const before = bare.replace(/\/messages$/, '')
    return before.endsWith('/v1') ? before : `${before}/v1`
  }
  const before = type === 'bedrock' || type === 'gemini' ? bare : bare.replace(/\/chat\/completions$/, '')
  if (vendor.startsWith('ollama')) return before.endsWith('/v1') ? before : `${before}/v1`
  if (type !== 'compatible') return before
  return URL.parse(before)?.pathname === '/' ? `${before}/v1` : before
}
