/** The sign before the place of a mistake in a text of the table. It is removed before the text is written. */
export const sign = '▸'

/** What an operator wrote, beside a configuration without mistakes. The place of the mistake has the sign in front. */
export interface Mistake {
  readonly mistake: string
  /** Code of the finding. */
  readonly code: string
  readonly providers?: string
  readonly models?: string
  /** Lists and settings beside those two. */
  readonly beside?: string
  /** Lines of `server_config`. */
  readonly settings?: string
  /** Steps of a pipeline before `validate`, after it, and last. */
  readonly steps?: string
  readonly later?: string
  readonly last?: string
  /** The head of that pipeline. */
  readonly head?: string
  /** Further files by name. */
  readonly files?: Readonly<Record<string, string>>
  /** The whole configuration file. */
  readonly file?: string
}

const far = '{ name: far, type: compatible, base_url: https://far.example/v1, api_key: some-key'
const farModel = '{ name: large, provider: far }'
const priced = 'pricing: { input: 1, output: 2, cache_read: 1, cache_write: 1 }'
const key = 'key: some-secret-key-of-some-length-1'

/** The fields of a request. */
const fields: readonly Mistake[] = [
  {
    mistake: 'a field that the protocol lacks is set',
    steps: '- set: { override: { temprature: ▸0.2 } }',
    code: 'unknown-field',
  },
  {
    mistake: 'a default of a field that the protocol lacks',
    steps: '- set: { default: { max_token: ▸100 } }',
    code: 'unknown-field',
  },
  {
    mistake: 'a field that the protocol lacks is dropped',
    steps: '- set: { drop: [▸temprature] }',
    code: 'unknown-field',
  },
  {
    mistake: 'a nested field that the protocol lacks is set',
    steps: '- set: { override: { stream_options.include_usages: ▸true } }',
    code: 'unknown-field',
  },
  {
    mistake: 'a value of a wrong type is set',
    steps: '- set: { override: { temperature: ▸hot } }',
    code: 'field-value',
  },
  {
    mistake: 'a default of a wrong type',
    steps: '- set: { default: { max_completion_tokens: ▸"100" } }',
    code: 'field-value',
  },
  {
    mistake: 'a default of a field that is replaced anyway',
    steps: '- set: { default: { temperature: ▸0 }, override: { temperature: 1 } }',
    code: 'stage',
  },
  {
    mistake: 'a model that there is not is set',
    steps: '- set: { override: { model: ▸larg } }',
    models: '- { name: large, provider: echo }',
    code: 'unknown-model',
  },
  { mistake: 'set behind validate', later: '- ▸set: { override: { temperature: 0 } }', code: 'order' },
  { mistake: 'apply-policy behind validate', later: '- ▸apply-policy', code: 'order' },
  { mistake: 'an instruction behind validate', later: '- ▸prompt: { text: Be brief. }', code: 'order' },
  { mistake: 'limit twice', last: '- ▸limit', code: 'order' },
  { mistake: 'parse twice', steps: '- ▸parse', code: 'body-twice' },
  {
    mistake: 'the policy sets a field that no protocol has',
    settings: 'request_policy: { override_parameters: { temprature: ▸0.2 } }',
    code: 'unknown-field',
  },
  {
    mistake: 'the policy gives a default of a wrong type',
    settings: 'request_policy: { default_parameters: { temperature: ▸hot } }',
    code: 'field-value',
  },
  {
    mistake: 'the policy denies a field that no protocol has',
    settings: 'request_policy: { deny_parameters: [▸tool_choise] }',
    code: 'unknown-field',
  },
  {
    mistake: 'the policy drops a field that no protocol has',
    settings: 'request_policy: { drop_parameters: [▸logprops] }',
    code: 'unknown-field',
  },
  {
    mistake: 'the policy denies what it gives by default',
    settings: 'request_policy: { deny_parameters: [seed], default_parameters: { seed: ▸1 } }',
    code: 'service',
  },
  {
    mistake: 'the usual maximum of an answer is above the highest one',
    settings: 'request_policy: { default_max_output_tokens: ▸9000, max_output_tokens: 4000 }',
    code: 'service',
  },
]

const arm = (when: string) => `- switch:\n    - when: { ${when} }\n      do: [refuse]\n    - do: []`

/** Conditions, steps and pipelines. */
const pipelines: readonly Mistake[] = [
  {
    mistake: 'a pinned model without its name, as if it were the requested one',
    head: 'without: [allow]',
    later: '- resolve\n- ▸pin',
    code: 'required',
  },
  {
    mistake: 'a condition on a field that the protocol lacks',
    steps: arm('▸request.body.temprature: 1'),
    code: 'unknown-field',
  },
  {
    mistake: 'a condition that compares a text with a number',
    steps: arm('▸request.body.temperature: hot'),
    code: 'unknown-field',
  },
  {
    mistake: 'a condition on a nested field that the protocol lacks',
    steps: arm('▸request.body.messages.roel: system'),
    code: 'unknown-field',
  },
  { mistake: 'a pattern where a whole value is compared', steps: arm('▸request.model: ech*'), code: 'condition' },
  {
    mistake: 'a pattern where a prefix is compared',
    steps: arm('▸request.model: { prefix: ech* }'),
    code: 'condition',
  },
  { mistake: 'a method in small letters', steps: arm('▸ingress.method: post'), code: 'unknown-field' },
  { mistake: 'a protocol that there is not', steps: arm('▸request.protocol: openai'), code: 'unknown-field' },
  {
    mistake: 'a second identical arm',
    steps:
      '- switch:\n    - when: { request.stream: true }\n      do: [refuse]\n    - when: ▸{ request.stream: true }\n      do: []',
    code: 'unreachable',
  },
  {
    mistake: 'an arm that asks for more than an earlier one',
    steps:
      '- switch:\n    - when: { request.stream: true }\n      do: [refuse]\n    - when: ▸{ request.stream: true, request.model: echo }\n      do: []',
    code: 'unreachable',
  },
  { mistake: 'a step behind an ending', last: '- refuse\n- ▸list-models', code: 'unreachable' },
  {
    mistake: 'a step with a time-out of a millisecond',
    steps: '- prompt: { text: Be brief. }\n  timeout: ▸1ms',
    code: 'timeout',
  },
  {
    mistake: 'a retry that waits longer than the longest wait',
    last: '- attempt: { wait: ▸10s, wait_max: 1s, do: [guard: { side: input, of: model }, breaker, translate, call, answered, guard: { side: output }, translate-back] }',
    code: 'wait',
  },
  {
    mistake: 'a pipeline that nothing runs',
    files: { 'pipelines/extra.yaml': '▸name: extra\nsummary: Never run.\ninputs: [request]\nstages: [validate]\n' },
    code: 'unused',
  },
  {
    mistake: 'a pipeline in a file that is not read',
    files: { 'pipelines/extra.yaml.txt': '▸name: extra\nsummary: Never read.\nstages: []\n' },
    code: 'pipelines',
  },
  {
    mistake: 'a pipeline in a file with a capital ending',
    files: { 'pipelines/extra.YAML': '▸name: extra\nsummary: Never read.\nstages: []\n' },
    code: 'pipelines',
  },
]

/** Providers. */
const providers: readonly Mistake[] = [
  {
    mistake: 'a provider without its variable',
    providers: '- { name: far, type: compatible, base_url: https://far.example/v1, api_key: ▸"${FAR_KEY}" }',
    models: `- ${farModel}`,
    code: 'unset-variable',
  },
  {
    mistake: 'an address without its variable',
    providers: '- { name: far, type: compatible, base_url: ▸"${FAR_URL}", api_key: k }',
    models: `- ${farModel}`,
    code: 'unset-variable',
  },
  {
    mistake: "a variable in another gateway's spelling",
    providers: '- { name: far, type: compatible, base_url: https://far.example/v1, api_key: ▸os.environ/FAR_KEY }',
    models: `- ${farModel}`,
    code: 'interpolation',
  },
  {
    mistake: 'a variable in the spelling of a template',
    providers: '- { name: far, type: compatible, base_url: https://far.example/v1, api_key: ▸"{{FAR_KEY}}" }',
    models: `- ${farModel}`,
    code: 'interpolation',
  },
  {
    mistake: 'a variable in the spelling of a workflow',
    providers: '- { name: far, type: compatible, base_url: https://far.example/v1, api_key: ▸env.FAR_KEY }',
    models: `- ${farModel}`,
    code: 'interpolation',
  },
  {
    mistake: 'a variable in the spelling of a command prompt',
    providers: '- { name: far, type: compatible, base_url: https://far.example/v1, api_key: ▸"%FAR_KEY%" }',
    models: `- ${farModel}`,
    code: 'interpolation',
  },
  {
    mistake: 'a variable in the spelling of a program',
    providers: '- { name: far, type: compatible, base_url: https://far.example/v1, api_key: ▸process.env.FAR_KEY }',
    models: `- ${farModel}`,
    code: 'interpolation',
  },
  {
    mistake: 'a key with the word of the header',
    providers: '- { name: far, type: compatible, base_url: https://far.example/v1, api_key: ▸Bearer sk-some }',
    models: `- ${farModel}`,
    code: 'pattern',
  },
  {
    mistake: 'a key in quotes of its own',
    providers: `- { name: far, type: compatible, base_url: https://far.example/v1, api_key: ▸"'sk-some'" }`,
    models: `- ${farModel}`,
    code: 'credential',
  },
  {
    mistake: 'a key that stands for a key',
    providers: '- { name: far, type: compatible, base_url: https://far.example/v1, api_key: ▸your-api-key }',
    models: `- ${farModel}`,
    code: 'credential',
  },
  {
    mistake: 'one key twice',
    providers: '- { name: far, type: compatible, base_url: https://far.example/v1, api_keys: ▸[one-key, one-key] }',
    models: `- ${farModel}`,
    code: 'uniqueItems',
  },
  {
    mistake: 'a key and keys',
    providers: `- ${far}, api_keys: ▸[one-key] }`,
    models: `- ${farModel}`,
    code: 'open',
  },
  {
    mistake: 'an own authorization beside the key',
    providers: `- ${far}, headers: { authorization: ▸Bearer x } }`,
    models: `- ${farModel}`,
    code: 'credential',
  },
  {
    mistake: 'an address without http',
    providers: '- { name: far, type: compatible, base_url: ▸far.example/v1 }',
    models: `- ${farModel}`,
    code: 'open',
  },
  {
    mistake: 'a key that can be guessed',
    beside: 'api_keys: [{ name: web, key: ▸password }]',
    code: 'weak-secret',
  },
  {
    mistake: 'a key of common words',
    beside: 'api_keys: [{ name: web, key: ▸sk-secret-password-123 }]',
    code: 'weak-secret',
  },
  {
    mistake: 'everybody is a trusted proxy',
    settings: 'security: { trusted_proxies: [10.0.0.0/8, ▸0.0.0.0/0] }',
    code: 'open-door',
  },
  {
    mistake: 'clients of other machines read files of the private network',
    beside: 'listen: { host: 0.0.0.0 }',
    settings: 'security: { file_urls: { allow_private: ▸true } }',
    code: 'open-door',
  },
  {
    mistake: 'a key that travels in the clear',
    providers: '- { name: far, type: compatible, base_url: ▸http://api.far.example/v1, api_key: k }',
    models: `- ${farModel}`,
    code: 'plain-http',
  },
  {
    mistake: 'the address of an operation',
    providers: '- { name: far, type: compatible, base_url: ▸https://far.example/v1/chat/completions, api_key: k }',
    models: `- ${farModel}`,
    code: 'open',
  },
  {
    mistake: 'the address of the gateway itself',
    providers: '- { name: far, type: compatible, base_url: ▸http://127.0.0.1:8080/v1, api_key: k }',
    models: `- ${farModel}`,
    code: 'own-address',
  },
  {
    mistake: 'an address for an operation that the provider lacks',
    providers: `- ${far}, endpoint_base_urls: { messages: ▸https://far.example/v2 } }`,
    models: `- ${farModel}`,
    code: 'not-offered',
  },
  {
    mistake: 'a connection may take longer than all',
    providers: `- ${far}, timeouts: { connect: ▸20s, total: 10s } }`,
    models: `- ${farModel}`,
    code: 'timeout',
  },
  {
    mistake: 'a first byte that may take longer than all',
    providers: `- ${far}, timeouts: { first_byte: ▸2m, total: 1m } }`,
    models: `- ${farModel}`,
    code: 'timeout',
  },
  {
    mistake: 'a time-out of a millisecond',
    providers: `- ${far}, timeouts: { total: ▸1ms } }`,
    models: `- ${farModel}`,
    code: 'timeout',
  },
  {
    mistake: 'no connection at all',
    providers: `- ${far}, max_connections: ▸0 }`,
    models: `- ${farModel}`,
    code: 'minimum',
  },
  {
    mistake: 'a header that the gateway writes',
    providers: `- ▸${far}, headers: { content-length: "12" } }`,
    models: `- ${farModel}`,
    code: 'open',
  },
  {
    mistake: 'a header without a value',
    providers: `- ${far}, headers: { x-team: ▸"" } }`,
    models: `- ${farModel}`,
    code: 'header',
  },
  {
    mistake: 'a version of the API that is none',
    providers: '- { name: far, type: azure, base_url: https://far.example/openai, api_key: k, api_version: ▸latest }',
    models: `- ${farModel}`,
    code: 'pattern',
  },
  {
    mistake: 'a region that is none',
    providers: '- { name: far, type: bedrock, region: ▸us-east, api_key: k }',
    models: '- { name: large, provider: far, max_output_tokens: 1000 }',
    code: 'open',
  },
  {
    mistake: 'a misspelt preset',
    providers: '- { name: far, type: compatible, preset: ▸grok, api_key: k }',
    models: `- ${farModel}`,
    code: 'enum',
  },
]

/** Models, fallbacks and deployments. */
const models: readonly Mistake[] = [
  {
    mistake: 'a price of a token',
    models:
      '- { name: large, provider: echo, pricing: { cache_read: 0, cache_write: 0, input: ▸0.0000025, output: 2 } }',
    code: 'pricing',
  },
  {
    mistake: 'a cheap output',
    models: '- { name: large, provider: echo, pricing: { cache_read: 1, cache_write: 1, input: 15, output: ▸3 } }',
    code: 'pricing',
  },
  {
    mistake: 'a cache that costs more than no cache',
    models: '- { name: large, provider: echo, pricing: { input: 2, output: 8, cache_read: ▸20, cache_write: 2 } }',
    code: 'pricing',
  },
  {
    mistake: 'a price for long inputs that no input reaches',
    models: `- { name: large, provider: echo, context_length: 100000, pricing: { input: 1, output: 2, cache_read: 1, cache_write: 1, tiers: [{ above_input_tokens: ▸200000, input: 2 }] } }`,
    code: 'tiers',
  },
  {
    mistake: 'an answer that is longer than its context',
    models: '- { name: large, provider: echo, context_length: 8000, max_output_tokens: ▸16000 }',
    code: 'context',
  },
  {
    mistake: 'a context in thousands',
    models: '- { name: large, provider: echo, context_length: ▸128 }',
    code: 'context',
  },
  {
    mistake: 'modes of a model that is not eligible',
    models: '- { name: large, provider: echo, routing_assignments: ▸[best] }',
    code: 'routing',
  },
  {
    mistake: 'an eligible model without modes',
    models: '- { name: large, provider: echo, auto_eligible: true, routing_assignments: ▸[] }',
    settings: 'smart_routing: { enabled: true }',
    code: 'routing',
  },
  {
    mistake: 'an eligible pattern',
    models: '- { name: "large/*", provider: echo, auto_eligible: ▸true }',
    code: 'routing',
  },
  { mistake: 'a choice without models', settings: 'smart_routing: { enabled: ▸true }', code: 'routing' },
  {
    mistake: 'a fallback that is off',
    models: '- { name: large, provider: echo, fallbacks: [▸small] }\n- { name: small, provider: echo, enabled: false }',
    code: 'fallback',
  },
  {
    mistake: 'a fallback that serves other operations',
    providers: `- ${far}, offers: [speech] }\n- { name: near, type: compatible, base_url: https://near.example/v1, api_key: k }`,
    models: '- { name: large, provider: near, fallbacks: [▸vectors] }\n- { name: vectors, provider: far }',
    code: 'fallback',
  },
  {
    mistake: 'a fallback with a star',
    models: '- { name: large, provider: echo, fallbacks: [▸"small/*"] }\n- { name: "small/*", provider: echo }',
    code: 'fallback',
  },
  {
    mistake: 'weights of places that are never weighed',
    providers: `- ${far} }`,
    models: '- { name: large, deployments: [{ provider: echo, weight: ▸3 }, { provider: far, weight: 1 }] }',
    code: 'deployment',
  },
  {
    mistake: 'places that all have no weight',
    providers: `- ${far} }`,
    models: '- { name: large, deployments: ▸[{ provider: echo, weight: 0 }, { provider: far, weight: 0 }] }',
    settings: 'provider_selection: { strategy: weighted }',
    code: 'deployment',
  },
  {
    mistake: 'the cheapest place without prices',
    providers: `- ${far} }`,
    models: '- { name: large, deployments: [{ provider: echo }, { provider: far }] }',
    settings: 'provider_selection: { strategy: ▸cheapest }',
    code: 'deployment',
  },
  {
    mistake: 'places that stay without a shared store',
    providers: `- ${far} }`,
    models: '- { name: large, deployments: [{ provider: echo }, { provider: far }] }',
    settings: 'provider_selection: { sticky: ▸conversation }',
    code: 'deployment',
  },
  {
    mistake: 'a provider that is preferred and avoided',
    settings: 'provider_selection: { prefer: [echo], avoid: [▸echo] }',
    code: 'deployment',
  },
  { mistake: 'names that differ in capitals alone', models: '- { name: ▸Echo, provider: echo }', code: 'duplicate' },
  {
    mistake: 'an alias with a star',
    models: '- { name: large, provider: echo, aliases: [▸"gpt-*"] }',
    code: 'pattern',
  },
  {
    mistake: 'an alias that is the name',
    models: '- { name: large, provider: echo, aliases: [▸large] }',
    code: 'duplicate',
  },
  {
    mistake: 'a star that the provider gets',
    models: '- { name: large, provider: echo, upstream_model: ▸"big-*" }',
    code: 'pattern',
  },
  {
    mistake: 'a realtime model at a provider without sessions',
    providers: `- ${far} }`,
    models: '- { name: large, provider: far, supports_realtime: ▸true }',
    code: 'not-offered',
  },
]

/** Keys and money. */
const keys: readonly Mistake[] = [
  {
    mistake: 'an expired key',
    beside: `api_keys:\n  - { name: old, ${key}, expires_at: ▸"2024-01-31" }`,
    code: 'expired',
  },
  {
    mistake: 'a key without its variable',
    beside: 'api_keys:\n  - { name: old, key: ▸"${CLIENT_KEY}" }',
    code: 'unset-variable',
  },
  { mistake: 'a key for no model', beside: `api_keys:\n  - { name: none, ${key}, models: ▸[] }`, code: 'models' },
  {
    mistake: 'a key for models that are off',
    models: '- { name: large, provider: echo, enabled: false }',
    beside: `api_keys:\n  - { name: none, ${key}, models: ▸[large] }`,
    code: 'models',
  },
  {
    mistake: 'a key for a model twice',
    beside: `api_keys:\n  - { name: twice, ${key}, models: [echo, ▸echo] }`,
    code: 'duplicate',
  },
  {
    mistake: 'a budget for a model without a price',
    models: '- { name: large, provider: echo }',
    beside: `api_keys:\n  - { name: poor, ${key}, models: [▸large], budget: { usd: 5 } }`,
    code: 'pricing',
  },
  {
    mistake: 'a budget for models without prices',
    models: '- { name: large, provider: echo }',
    beside: `api_keys:\n  - { name: poor, ${key}, budget: ▸{ usd: 5 } }`,
    code: 'pricing',
  },
  {
    mistake: 'a budget of all keys for a model without a price',
    models: '- { name: large, provider: echo }',
    settings: 'rate_limits: { budget: { key_default: ▸{ usd: 5 } } }',
    code: 'pricing',
  },
  {
    mistake: 'fewer tokens than one answer reserves',
    beside: `api_keys:\n  - { name: small, ${key}, rate_limit: { tokens: ▸100 } }`,
    code: 'tokens',
  },
  {
    mistake: 'more requests for each key than for all',
    settings: 'rate_limits: { server: { requests: 100 }, key_default: { requests: ▸200 } }',
    code: 'limits',
  },
  {
    mistake: 'a tag with capitals',
    beside: `api_keys:\n  - { name: team, ${key}, tags: ▸{ Team: blue } }`,
    code: 'pattern',
  },
]

/** Where the gateway listens and stores, and its further settings. */
const settings: readonly Mistake[] = [
  { mistake: 'a host with a port', beside: 'listen: { host: ▸"127.0.0.1:8080" }', code: 'host' },
  { mistake: 'a host with a scheme', beside: 'listen: { host: ▸"http://127.0.0.1" }', code: 'host' },
  { mistake: 'a database with slashes', beside: 'database: { url: ▸"sqlite://data/sluice.db" }', code: 'database' },
  {
    mistake: 'a database that ends with the process',
    beside: 'database: { url: ▸"sqlite::memory:" }',
    code: 'database',
  },
  {
    mistake: 'a catalog at an address without TLS',
    beside: 'catalog: { source: ▸http://far.example/prices.json }',
    code: 'catalog',
  },
  { mistake: 'a plugin that is not there', beside: 'plugins: [▸./extra.ts]', code: 'plugin' },
  { mistake: 'a folder of pipelines that is not there', beside: 'pipelines: ▸./pipeline', code: 'pipelines' },
  {
    mistake: 'a body that may take less time than its headers',
    beside: 'client_timeouts: { body: ▸10s }',
    code: 'timeout',
  },
  { mistake: 'clients that have a millisecond', beside: 'client_timeouts: { headers: ▸1ms }', code: 'timeout' },
  {
    mistake: 'bodies that are kept longer than their rows',
    settings: 'logging: { capture: errors, retention: 7d, capture_retention: ▸30d }',
    code: 'service',
  },
  { mistake: 'rows that go at once', settings: 'logging: { retention: ▸1ms }', code: 'service' },
  {
    mistake: 'a connection that may take longer than all',
    settings: 'resilience: { timeouts: { connect: ▸2m, total: 1m } }',
    code: 'timeout',
  },
  { mistake: 'a total time of a millisecond', settings: 'resilience: { timeouts: { total: ▸1ms } }', code: 'timeout' },
  {
    mistake: 'a wait that is longer than the longest',
    settings: 'resilience: { retries: { wait: ▸10s } }',
    code: 'wait',
  },
  { mistake: 'no status after which to try again', settings: 'resilience: { retries: { on: ▸[] } }', code: 'retries' },
  {
    mistake: 'credentials for every origin',
    settings: 'cors: { origins: ["*"], credentials: ▸true }',
    code: 'section',
  },
  { mistake: 'headers of pages while no page may ask', settings: 'cors: { allow_headers: ▸[x-team] }', code: 'cors' },
  {
    mistake: 'a section outside server_config',
    beside: '▸rate_limits: { server: { requests: 10 } }',
    code: 'additionalProperties',
  },
]

const server = (fields: string) => `mcp_servers:\n  - { name: tools, ${fields} }`

/** MCP servers and plugins. */
const others: readonly Mistake[] = [
  {
    mistake: 'a command with its arguments',
    beside: server('transport: stdio, command: ▸npx -y some-server'),
    code: 'command',
  },
  {
    mistake: 'a home folder without a shell',
    beside: server('transport: stdio, command: ▸~/bin/some-server'),
    code: 'command',
  },
  {
    mistake: 'a folder that is not there',
    beside: server('transport: stdio, command: node, cwd: ▸./nowhere'),
    code: 'command',
  },
  {
    mistake: 'a shared process of a server at an address',
    beside: server('transport: http, url: https://tools.example/mcp, shared: ▸true'),
    code: 'transport',
  },
  {
    mistake: 'a tool that is offered and not',
    beside: server('transport: http, url: https://tools.example/mcp, tools: { allow: [find], deny: [▸find] }'),
    code: 'tools',
  },
  {
    mistake: 'no tool at all',
    beside: server('transport: http, url: https://tools.example/mcp, tools: { allow: ▸[] }'),
    code: 'tools',
  },
  {
    mistake: 'a call of a millisecond',
    beside: server('transport: http, url: https://tools.example/mcp, call_timeout: ▸1ms'),
    code: 'timeout',
  },
  {
    mistake: 'a credential that travels in the clear',
    beside: server('transport: http, url: ▸http://tools.example/mcp, headers: { authorization: Bearer some }'),
    code: 'plain-http',
  },
  {
    mistake: 'a credential without its scheme',
    beside: server('transport: http, url: https://tools.example/mcp, headers: { authorization: ▸some-token }'),
    code: 'credential',
  },
  {
    mistake: 'an MCP server without its variable',
    beside: server(
      'transport: http, url: https://tools.example/mcp, headers: { authorization: ▸"Bearer ${TOOLS_TOKEN}" }',
    ),
    code: 'unset-variable',
  },
  {
    mistake: 'a plugin that exports nothing',
    files: { 'plugins/mine.ts': '▸const mine = 1\nvoid mine\n' },
    code: 'component',
  },
  {
    mistake: 'a plugin in a file that is not read',
    files: { 'plugins/mine.mjs': '▸export default {}\n' },
    code: 'plugin',
  },
]

export const mistakes = { fields, pipelines, providers, models, keys, settings, others }

/** A configuration without mistakes. */
export const sound = `providers:
  - { name: echo, type: echo }
models:
  - { name: echo, provider: echo, ${priced} }
`
