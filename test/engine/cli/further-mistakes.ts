import type { Mistake } from './mistakes.ts'

const far = '{ name: far, type: compatible, base_url: https://far.example/v1, api_key: some-key'
const key = 'key: some-secret-key-of-some-length-1'
const keyWith = (fields: string) => `api_keys:\n  - { name: web, ${key}, ${fields} }`
const pricing = (fields: string, beside = '') =>
  `- { name: large, provider: echo, ${beside}pricing: { cache_read: 1, cache_write: 1, ${fields} } }`
const server = (fields: string) => `mcp_servers:\n  - { name: tools, ${fields} }`
const atUrl = (fields: string) => server(`transport: http, url: https://tools.example/mcp, ${fields}`)
const judges = {
  providers: '- { name: near, type: native, base_url: https://near.example/v1, api_key: some-key }',
  models: `- { name: large, provider: echo, auto_eligible: true, quality_tier: premium, pricing: { input: 1, output: 2, cache_read: 1 } }
- { name: jury, provider: near, supports_mapeval: true, pricing: { input: 1, output: 2, cache_read: 1 } }`,
}
const judge = (fields: string, routing = 'enabled: true, ') =>
  `smart_routing: { ${routing}judge: { model: jury, ${fields} } }`

/** Prices and models. */
const models: readonly Mistake[] = [
  {
    mistake: 'a price of a thousand tokens',
    models:
      '- { name: large, provider: echo, pricing: { cache_read: 0, cache_write: 0, input: ▸0.0025, output: 0.01 } }',
    code: 'pricing',
  },
  { mistake: 'a price of a thousand tokens of output', models: pricing('output: ▸0.003'), code: 'pricing' },
  { mistake: 'a price of an hour for a second', models: pricing('seconds: ▸0.36'), code: 'pricing' },
  { mistake: 'a price of a thousand pictures', models: pricing('images: ▸40'), code: 'pricing' },
  { mistake: 'a price of a thousand searches', models: pricing('searches: ▸10'), code: 'pricing' },
  { mistake: 'a price of a thousand requests', models: pricing('requests: ▸25'), code: 'pricing' },
  {
    mistake: 'a cache for an hour that costs less than one for minutes',
    models:
      '- { name: large, provider: echo, pricing: { input: 1, output: 2, cache_read: 1, cache_write: 2, cache_write_1h: ▸1 } }',
    code: 'pricing',
  },
  {
    mistake: 'a tier without a price',
    models: pricing('input: 1, output: 2, tiers: [▸{ above_input_tokens: 200000 }]'),
    code: 'tiers',
  },
  {
    mistake: 'long inputs that cost less than short ones',
    models: pricing('input: 10, output: 20, tiers: [{ above_input_tokens: 200000, input: ▸2 }]'),
    code: 'pricing',
  },
  {
    mistake: 'answers to long inputs that cost less than those to short ones',
    models: pricing('input: 10, output: 20, tiers: [{ above_input_tokens: 200000, output: ▸4 }]'),
    code: 'pricing',
  },
  {
    mistake: 'a decision model at a provider without decisions',
    providers: `- ${far}, offers: [chat] }`,
    models: '- { name: large, provider: far, supports_mapeval: ▸true }',
    code: 'not-offered',
  },
  {
    mistake: "Gemini's address for other clients",
    providers:
      '- { name: far, type: gemini, base_url: ▸https://generativelanguage.googleapis.com/v1beta/openai, api_key: some-key }',
    models: '- { name: large, provider: far }',
    code: 'open',
  },
  {
    mistake: 'a baseline without a price',
    models: `${judges.models.split('\n')[0]}\n- { name: usual, provider: echo }`,
    settings: 'smart_routing: { enabled: true, baseline_model: ▸usual }',
    code: 'routing',
  },
  {
    mistake: 'a judge while nothing is routed',
    ...judges,
    settings: judge('enabled: ▸true, gate: { max_confidence: 0.5 }', ''),
    code: 'routing',
  },
  {
    mistake: 'a judge that is never asked',
    ...judges,
    settings: judge('enabled: ▸true, shadow: false'),
    code: 'routing',
  },
  {
    mistake: 'a judge in shadow that is never asked',
    ...judges,
    settings: judge('enabled: ▸true, sample_rate: 0'),
    code: 'routing',
  },
  {
    mistake: 'a judge in shadow with conditions for its effect',
    ...judges,
    settings: judge('enabled: true, apply_min_confidence: ▸0.8'),
    code: 'routing',
  },
  {
    mistake: 'samples for a judge with an effect',
    ...judges,
    settings: judge('enabled: true, shadow: false, gate: { max_confidence: 0.5 }, sample_rate: ▸0.1'),
    code: 'routing',
  },
]

const whole = 'server: { requests: 100, tokens: 100000, concurrency: 10 }'

/** Limits and money. */
const limits: readonly Mistake[] = [
  { mistake: 'a budget of nothing', beside: keyWith('budget: { usd: ▸0 }'), code: 'limits' },
  {
    mistake: 'a budget of nothing for all',
    settings: 'rate_limits: { budget: { server: { usd: ▸0 } } }',
    code: 'limits',
  },
  {
    mistake: 'a budget of nothing for each key',
    settings: 'rate_limits: { budget: { key_default: { usd: ▸0 } } }',
    code: 'limits',
  },
  {
    mistake: 'a budget of a key above that of all',
    beside: keyWith('budget: { usd: ▸20 }'),
    settings: 'rate_limits: { budget: { server: { usd: 10 } } }',
    code: 'limits',
  },
  {
    mistake: 'a budget of each key above that of all',
    settings: 'rate_limits: { budget: { server: { usd: 10 }, key_default: { usd: ▸20 } } }',
    code: 'limits',
  },
  {
    mistake: 'a budget of each member above that of all',
    settings: 'rate_limits: { budget: { server: { usd: 10 }, member_default: { usd: ▸20 } } }',
    code: 'limits',
  },
  ...(['requests: ▸200', 'tokens: ▸200000', 'concurrency: ▸20'] as const).flatMap((limit) => [
    {
      mistake: `a limit of a key above that of all (${limit})`,
      beside: keyWith(`rate_limit: { ${limit} }`),
      settings: `rate_limits: { ${whole} }`,
      code: 'limits',
    },
    {
      mistake: `a limit of each member above that of all (${limit})`,
      settings: `rate_limits: { ${whole}, member_default: { ${limit} } }`,
      code: 'limits',
    },
  ]),
  {
    mistake: 'more requests at the same time for each key than for all',
    settings: `rate_limits: { ${whole}, key_default: { concurrency: ▸20 } }`,
    code: 'limits',
  },
  {
    mistake: 'what happens without a store that there is not',
    settings: 'rate_limits: { on_store_failure: ▸closed }',
    code: 'limits',
  },
  {
    mistake: 'a server twice in the list of a key',
    beside: `${server('transport: http, url: https://tools.example/mcp')}\n${keyWith('mcp_servers: [tools, ▸tools]')}`,
    code: 'duplicate',
  },
  { mistake: 'a key that lives for a millisecond', settings: 'security: { max_key_life: ▸1ms }', code: 'timeout' },
  {
    mistake: 'a session that may be idle for longer than it lives',
    settings: 'security: { session_idle: ▸24h, session_max: 2h }',
    code: 'timeout',
  },
]

/** Requests and answers. */
const requests: readonly Mistake[] = [
  {
    mistake: 'a denied field that is dropped',
    settings: 'request_policy: { deny_parameters: [seed], drop_parameters: [▸seed] }',
    code: 'service',
  },
  {
    mistake: 'a field is denied that every request has',
    settings: 'request_policy: { deny_parameters: [▸messages] }',
    code: 'service',
  },
  {
    mistake: 'the model is denied',
    settings: 'request_policy: { deny_parameters: [seed, ▸model] }',
    code: 'service',
  },
  {
    mistake: 'room for no response',
    settings: 'request_policy: { stored_responses: { count: ▸0 } }',
    code: 'service',
  },
  {
    mistake: 'no bytes for responses',
    settings: 'request_policy: { stored_responses: { bytes: ▸0 } }',
    code: 'service',
  },
  {
    mistake: 'a field that every request needs is dropped',
    steps: '- set: { drop: [▸messages] }',
    code: 'field-value',
  },
  { mistake: 'the model is dropped', steps: '- set: { drop: [user, ▸model] }', code: 'field-value' },
  {
    mistake: 'a field is dropped that is set always',
    steps: '- set: { drop: [▸seed], override: { seed: 1 } }',
    code: 'stage',
  },
  { mistake: 'a blank instruction', steps: '- prompt: { text: ▸"  " }', code: 'pattern' },
  ...(['first_byte', 'idle', 'total'] as const).map((field) => ({
    mistake: `a call with a millisecond (${field})`,
    last: `- attempt: { do: [guard: { side: input, of: model }, breaker, translate, call: { ${field}: ▸1ms }, answered, guard: { side: output }, translate-back] }`,
    code: 'timeout',
  })),
  { mistake: 'a domain with a star', settings: 'web_search: { allowed_domains: [▸"*.example.com"] }', code: 'service' },
  {
    mistake: 'a blocked domain with a star',
    settings: 'web_search: { blocked_domains: [▸"*.example.com"] }',
    code: 'service',
  },
  {
    mistake: 'a domain that is allowed and blocked',
    settings: 'web_search: { allowed_domains: [a.example], blocked_domains: [▸a.example] }',
    code: 'service',
  },
]

/** Connections, files and places. */
const connections: readonly Mistake[] = [
  {
    mistake: 'a body that may be silent for longer than it may take',
    beside: 'client_timeouts: { body_silence: ▸2h }',
    code: 'timeout',
  },
  { mistake: 'a sign of life each millisecond', settings: 'keepalive: { sse_interval: ▸1ms }', code: 'timeout' },
  { mistake: 'an origin with a star', settings: 'cors: { origins: [▸"https://*.app.example"] }', code: 'cors' },
  {
    mistake: 'a millisecond for files',
    settings: 'security: { file_urls: { timeout: ▸1ms } }',
    code: 'timeout',
  },
  {
    mistake: 'private files while none is fetched',
    settings: 'security: { file_urls: { fetch: false, allow_private: ▸true } }',
    code: 'service',
  },
  {
    mistake: 'a time for places that do not stay',
    settings: 'provider_selection: { sticky: none, sticky_ttl: ▸1h }',
    code: 'deployment',
  },
  {
    mistake: 'a place that stays for a millisecond',
    settings: 'provider_selection: { sticky_ttl: ▸1ms }',
    code: 'timeout',
  },
]

/** MCP servers. */
const servers: readonly Mistake[] = [
  {
    mistake: 'any package may be started',
    beside: 'mcp: { allow_stdio: [{ command: node, arguments: [▸"*"] }] }',
    code: 'open-door',
  },
  {
    mistake: 'any line of a shell may be run',
    beside: 'mcp: { allow_stdio: [{ command: /bin/sh, arguments: [-c, ▸"*"] }] }',
    code: 'open-door',
  },
  {
    mistake: 'the address of the earlier transport',
    beside: server('transport: http, url: ▸https://tools.example/sse'),
    code: 'transport',
  },
  { mistake: 'restarts of a server at an address', beside: atUrl('restarts: ▸3'), code: 'transport' },
  {
    mistake: 'a program that is not there',
    beside: server('transport: stdio, command: ▸no-such-program-of-ours'),
    code: 'command',
  },
  {
    mistake: 'arguments in one text',
    beside: server('transport: stdio, command: node, arguments: [▸"-y some-server"]'),
    code: 'command',
  },
  {
    mistake: 'a variable of a shell behind the scheme',
    beside: atUrl('headers: { authorization: ▸Bearer $TOOLS_TOKEN }'),
    code: 'interpolation',
  },
  { mistake: 'a header without a value', beside: atUrl('headers: { x-team: ▸"" }'), code: 'header' },
  { mistake: 'a millisecond for calls', settings: 'mcp_security: { call_timeout: ▸1ms }', code: 'timeout' },
  {
    mistake: 'a millisecond for connections',
    settings: 'mcp_security: { connect_timeout: ▸1ms }',
    code: 'timeout',
  },
]

export const furtherMistakes = {
  'models and prices': models,
  'limits and money': limits,
  'requests and answers': requests,
  'connections and places': connections,
  'MCP servers': servers,
}
