import type { Choice, ProviderPreset, Traits } from '../../engine/index.ts'

/** Known properties of a vendor or local server that speaks chat completions. */
export interface Preset {
  readonly base_url: string
  readonly endpoint_base_urls?: Readonly<Record<string, string>>
  /** The usual environment variable of the key, shown in the reference. Absent: no key is needed. */
  readonly variable?: string
  /** Its name in telemetry (semantic conventions of OpenTelemetry), if that is another one. */
  readonly telemetry?: string
  /** Protocols in addition to chat completions. */
  readonly offers?: readonly string[]
  /** Traits that differ from the chat codec's defaults. */
  readonly traits?: Traits
  /** Fields of its own by which a client chooses a model, a tier or a paid extra. */
  readonly choices?: readonly Choice[]
  /** Path of mapeval below the base URL, if it differs from the default. */
  readonly mapeval?: string
}

/** Presets as they are shown to choose from. */
export function shownPresets(presets: ReadonlyMap<string, Preset>): readonly ProviderPreset[] {
  return [...presets].map(([name, { base_url, variable, telemetry }]) => ({
    name,
    base_url,
    ...(variable === undefined ? {} : { env: variable }),
    ...(telemetry === undefined ? {} : { telemetry }),
  }))
}

/** Fields of routers, which serve the models of many vendors (openrouter.ai/docs, docs.litellm.ai). */
export const routerChoices: readonly Choice[] = [
  { path: 'models[]', chooses: 'model', answers: true },
  { path: 'fallbacks[]', chooses: 'model', answers: true },
  { path: 'fallbacks[].model', chooses: 'model', answers: true },
  { path: 'route', chooses: 'tier', free: ['fallback'] },
  { path: 'provider', chooses: 'tier' },
  { path: 'preset', chooses: 'tier' },
  { path: 'plugins[].model', chooses: 'model' },
  { path: 'plugins[].allowed_models[]', chooses: 'model', answers: true },
  { path: 'plugins[].id', chooses: 'extra', values: ['web'], price: 'searches' },
  { path: 'plugins[].id', chooses: 'extra', free: ['web', 'response-healing', 'context-compression'] },
  { path: 'tools[].type', chooses: 'extra', values: ['openrouter:web_search'], price: 'searches' },
  { path: 'tools[].type', chooses: 'extra', values: ['openrouter:*'] },
  { path: 'tools[].parameters.model', chooses: 'model' },
]

const maxTokens = { max_tokens_field: 'max_tokens' } as const

const openrouter: Preset = {
  base_url: 'https://openrouter.ai/api/v1',
  variable: 'OPENROUTER_API_KEY',
  offers: ['responses', 'embeddings'],
  choices: routerChoices,
  traits: {
    ...maxTokens,
    cache_control: true,
    files: true,
    audio: true,
    top_k: true,
    verbosity: true,
    web_search: true,
  },
}

/** Presets by the word in `preset:`. */
export const presets: ReadonlyMap<string, Preset> = new Map<string, Preset>([
  ['cerebras', { base_url: 'https://api.cerebras.ai/v1', variable: 'CEREBRAS_API_KEY' }],
  [
    'deepinfra',
    {
      base_url: 'https://api.deepinfra.com/v1/openai',
      variable: 'DEEPINFRA_API_KEY',
      offers: ['embeddings'],
      traits: maxTokens,
    },
  ],
  [
    'deepseek',
    {
      base_url: 'https://api.deepseek.com/v1',
      variable: 'DEEPSEEK_API_KEY',
      traits: {
        ...maxTokens,
        json_schema: false,
        strict: false,
        images: false,
        reasoning_content: true,
        user_field: false,
      },
    },
  ],
  [
    'fireworks',
    {
      base_url: 'https://api.fireworks.ai/inference/v1',
      variable: 'FIREWORKS_API_KEY',
      offers: ['embeddings'],
      traits: { ...maxTokens, top_k: true, reasoning_content: true },
    },
  ],
  [
    'groq',
    {
      base_url: 'https://api.groq.com/openai/v1',
      variable: 'GROQ_API_KEY',
      offers: ['speech', 'transcriptions', 'translations'],
      traits: { logprobs: false, service_tier: true },
      // console.groq.com/docs/compound
      choices: [
        { path: 'compound_custom.models.answering_model', chooses: 'model', answers: true },
        { path: 'compound_custom.models.reasoning_model', chooses: 'model', answers: true },
        { path: 'tools[].type', chooses: 'extra', values: ['browser_search', 'code_interpreter'] },
      ],
    },
  ],
  ['huggingface', { base_url: 'https://router.huggingface.co/v1', variable: 'HF_TOKEN', traits: maxTokens }],
  ['llamacpp', { base_url: 'http://127.0.0.1:8080/v1', offers: ['embeddings'], traits: { ...maxTokens, top_k: true } }],
  [
    'lmstudio',
    {
      base_url: 'http://127.0.0.1:1234/v1',
      offers: ['responses', 'embeddings'],
      traits: { ...maxTokens, top_k: true },
    },
  ],
  [
    'mistral',
    {
      base_url: 'https://api.mistral.ai/v1',
      variable: 'MISTRAL_API_KEY',
      telemetry: 'mistral_ai',
      offers: ['embeddings', 'transcriptions'],
      traits: { ...maxTokens, stream_usage: false, user_field: false, logprobs: false, reasoning_effort: false },
    },
  ],
  [
    'moonshot',
    {
      base_url: 'https://api.moonshot.ai/v1',
      variable: 'MOONSHOT_API_KEY',
      telemetry: 'moonshot_ai',
      traits: { ...maxTokens, reasoning_content: true },
      // platform.kimi.ai/docs/pricing/tools; no usage says how often they ran.
      choices: [{ path: 'tools[].type', chooses: 'extra', values: ['builtin_function'] }],
    },
  ],
  [
    'nvidia',
    {
      base_url: 'https://integrate.api.nvidia.com/v1',
      variable: 'NVIDIA_API_KEY',
      offers: ['embeddings'],
      traits: maxTokens,
    },
  ],
  ['openrouter', openrouter],
  [
    'perplexity',
    {
      base_url: 'https://api.perplexity.ai',
      endpoint_base_urls: { chat: 'https://api.perplexity.ai/chat/completions' },
      variable: 'PERPLEXITY_API_KEY',
      traits: {
        ...maxTokens,
        parallel_tool_calls: false,
        stream_usage: false,
        user_field: false,
        logprobs: false,
        web_search: true,
      },
    },
  ],
  [
    'sambanova',
    {
      base_url: 'https://api.sambanova.ai/v1',
      variable: 'SAMBANOVA_API_KEY',
      offers: ['embeddings'],
      traits: maxTokens,
    },
  ],
  ['sglang', { base_url: 'http://127.0.0.1:30000/v1', offers: ['embeddings'], traits: { ...maxTokens, top_k: true } }],
  [
    'together',
    {
      base_url: 'https://api.together.xyz/v1',
      variable: 'TOGETHER_API_KEY',
      offers: ['embeddings', 'images', 'speech', 'transcriptions'],
      traits: { ...maxTokens, top_k: true, user_field: false },
    },
  ],
  [
    'vllm',
    {
      base_url: 'http://127.0.0.1:8000/v1',
      offers: ['responses', 'embeddings', 'transcriptions', 'translations'],
      traits: { ...maxTokens, top_k: true },
    },
  ],
  [
    'xai',
    {
      base_url: 'https://api.x.ai/v1',
      variable: 'XAI_API_KEY',
      telemetry: 'x_ai',
      offers: ['responses', 'images'],
      // docs.x.ai/docs/guides/live-search
      choices: [{ path: 'search_parameters', chooses: 'extra', price: 'searches' }],
    },
  ],
  [
    'zai',
    {
      base_url: 'https://api.z.ai/api/paas/v4',
      variable: 'ZAI_API_KEY',
      traits: { ...maxTokens, reasoning_content: true },
      // docs.z.ai/api-reference/llm/chat-completion; no usage says how often they ran.
      choices: [{ path: 'tools[].type', chooses: 'extra', values: ['web_search', 'retrieval'] }],
    },
  ],
])

/**
 * Presets of the bridges, by their type. The second, alpha route of `openrouter` needs configuration:
 * `endpoint_base_urls: { decisions: https://openrouter.ai/api/alpha/decisions }`.
 */
export const bridgePresets: ReadonlyMap<string, ReadonlyMap<string, Preset>> = new Map([
  [
    'bridge_a',
    new Map<string, Preset>([
      ['typesafe', { base_url: 'https://api.typesafe.ai/v1', variable: 'TYPESAFE_API_KEY', mapeval: '/systemone' }],
    ]),
  ],
  ['bridge_b', new Map<string, Preset>([['openrouter', { ...openrouter, mapeval: '/systemone' }]])],
  [
    'bridge_c',
    new Map<string, Preset>([
      ['ollama', { base_url: 'http://127.0.0.1:11434/v1', traits: maxTokens, mapeval: '/systemone' }],
    ]),
  ],
])
