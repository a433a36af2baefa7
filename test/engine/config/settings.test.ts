import { expect } from 'chai'
import { defineProvider } from '../../../engine/index.ts'
import type { Traits } from '../../../engine/index.ts'
import { printDiagnostic, sortDiagnostics } from '../../../engine/config/diagnostics.ts'
import { exampleSettings } from '../../../engine/cli/editor-example.ts'
import type { Environment } from '../../../engine/config/interpolate.ts'
import { loadSettings } from '../../../engine/records/load-settings.ts'
import { assemble } from '../../../engine/components/assemble.ts'
import { pipelineSchema, settingsSchema } from '../../../engine/cli/editor-schemas.ts'
import catalog from '../../support/catalog-records.ts'
import keys from '../../../plugins/keys/index.ts'
import mcp from '../../../plugins/mcp/index.ts'
import { readSource } from '../../../engine/config/source.ts'
import { Ajv2020 } from 'ajv/dist/2020.js'
import responses from '../../../plugins/responses/index.ts'
import translation from '../../../plugins/translation/index.ts'
import { stubs, codec } from '../pipeline/stubs.ts'

const remote = defineProvider({
  name: 'remote',
  summary: 'Asks another server.',
  config: {
    type: 'object',
    additionalProperties: false,
    required: ['api_key'],
    properties: {
      api_key: { type: 'string', minLength: 4, description: 'The key.' },
      base_url: { type: 'string', default: 'http://localhost', description: 'Where it is.' },
      retries: { type: 'integer', default: 0, description: 'How often.' },
      traits: { type: 'object', description: 'What it can.' },
    },
  },
  secrets: ['api_key'],
  offers: ({ traits }) => [{ operation: 'embed', protocol: 'plain', ...(traits ? { traits: traits as Traits } : {}) }],
  open: () => ({}),
})
const other = { ...codec, protocol: 'other' }
const { registry } = assemble(
  [
    remote,
    codec,
    other,
    ...(catalog.records ?? []),
    ...(keys.records ?? []),
    ...(mcp.records ?? []),
    ...stubs,
    ...(translation.services ?? []),
    ...(responses.services ?? []),
  ].map((value) => ({ value, from: 'stubs.ts' })),
)

function load(text: string, environment: Environment = {}) {
  const { source, diagnostics } = readSource('s.yaml', text, environment)
  const loaded = loadSettings(source, registry, environment)
  const keys = (loaded.records.get('api_key') ?? []).filter(({ unset }) => unset.length === 0)
  // What completes models is no setting.
  const written = loaded.settings && Object.entries(loaded.settings).filter(([, value]) => typeof value !== 'function')
  const settings = written && (Object.fromEntries(written) as unknown as NonNullable<typeof loaded.settings>)
  return {
    settings: settings && { ...settings, api_keys: keys.map(({ value }) => value) },
    off: loaded.off,
    warnings: sortDiagnostics(loaded.warnings).map(printDiagnostic),
    problems: sortDiagnostics([...diagnostics, ...loaded.diagnostics]).map(printDiagnostic),
  }
}

describe('settings', () => {
  it('needs nothing', () => {
    const { settings, problems } = load('')
    expect(problems).to.deep.equal([])
    expect(settings).to.deep.equal({
      listen: { host: '127.0.0.1', port: 8080, workers: 1 },
      database: { url: 'sqlite:data/sluice.db' },
      shutdown: { notice: '5s', deadline: '30s' },
      client_timeouts: { headers: '30s', body_silence: '60s', body: '1h', unread: '30s' },
      plugins: ['./plugins'],
      pipelines: './pipelines',
      providers: [],
      models: [],
      api_keys: [],
      server_config: {
        cors: {
          origins: [],
          admin_origins: [],
          allow_headers: [],
          expose_headers: [],
          credentials: false,
          max_age: '10m',
        },
        logging: { level: 'info' },
        resilience: {
          max_event_bytes: 1_048_576,
          cooldown: '30s',
          timeouts: { connect: '10s', first_byte: '10m', idle: '10m', total: '1h' },
          retries: {
            budget: 0.2,
            budget_floor: 3,
            tries: 3,
            on: ['connect', 'timeout', 'invalid', 'guard', '429', '5xx'],
            wait: '200ms',
            wait_max: '5s',
          },
        },
        security: {
          trusted_proxies: [],
          file_urls: { fetch: true, allow_private: false, max_bytes: 20_971_520, timeout: '10s' },
        },
        keepalive: {
          connection_idle: '65s',
          sse_interval: '15s',
          tcp_delay: '60s',
          upstream_idle: '60s',
          websocket_ping: '30s',
        },
        request_policy: {
          answer_model: 'upstream',
          lost_content: 'refuse',
          max_body_bytes: 67_108_864,
          prompt_caching: 'auto',
          stored_responses: { bytes: 1_073_741_824, count: 10_000, background: 100 },
        },
        web_search: {
          mode: 'native',
          context_size: null,
          allowed_domains: [],
          blocked_domains: [],
          max_uses: null,
        },
      },
    })
  })

  it('fills in what models, providers and keys leave out', () => {
    const { settings, problems } = load(
      `providers: [{ name: far, type: remote, api_key: "\${KEY}", retries: "\${RETRIES:-3}" }]
models: [{ name: m, provider: far, pricing: { input: 0.5 }, protocols: [plain] }]
api_keys: [{ name: dev, key: dev-key-1, models: [m], expires_at: 2030-01-31T12:00:00Z }]
`,
      { KEY: 'secret' },
    )
    expect(problems).to.deep.equal([])
    expect(settings?.providers).to.deep.equal([
      {
        name: 'far',
        type: 'remote',
        config: { api_key: 'secret', base_url: 'http://localhost', retries: 3 },
        reach: 'private',
      },
    ])
    expect(settings?.models).to.deep.equal([
      {
        name: 'm',
        provider: 'far',
        upstream_model: 'm',
        aliases: [],
        supports_images: false,
        supports_tools: true,
        supports_mapeval: false,
        supports_realtime: false,
        auto_eligible: false,
        pricing: { input: 0.5 },
        fallbacks: [],
        protocols: ['plain'],
      },
    ])
    expect(settings?.api_keys).to.deep.equal([
      { name: 'dev', key: 'dev-key-1', models: ['m'], expires_at: '2030-01-31T12:00:00Z' },
    ])
  })

  it('reports every problem with its place', () => {
    const text = `listen: { prot: 1, workers: none }
database: { url: mysql://x }
mcp_server: []
providers:
  - { name: a, type: remot }
  - { name: b, type: remote, api_key: key1, base_ulr: x }
  - { name: b, type: remote, api_key: k }
models:
  - { name: m, provider: bb, aliases: [n], fallbacks: [mm, n], protocols: [plan] }
  - { name: n, provider: b, pricing: { input: -1 } }
api_keys:
  - { name: dev, key: same-text, budjet: 1, models: [m, mn] }
  - { name: dev, key: same-text, expires_at: 2030-02-31 }
`
    expect(load(text).problems).to.deep.equal([
      's.yaml:1:11: unknown field "prot"; did you mean "port"? [additionalProperties]',
      's.yaml:1:29: must be an integer or must be "auto" [anyOf]',
      's.yaml:2:18: must be sqlite: and a file, or an address that starts with postgres:// [pattern]',
      's.yaml:3:1: unknown field "mcp_server"; did you mean "mcp_servers"? [additionalProperties]',
      's.yaml:5:22: no provider type "remot"; did you mean "remote"? [unknown-provider-type]',
      's.yaml:6:45: unknown field "base_ulr"; did you mean "base_url"? [additionalProperties]',
      's.yaml:7:13: the name "b" is already taken by the provider number 2 [duplicate]',
      's.yaml:7:39: must have at least 4 characters [minLength]',
      's.yaml:9:26: no provider named "bb"; did you mean "b"? [unknown-provider]',
      's.yaml:9:40: the name "n" is already taken by the model number 2 [duplicate]',
      's.yaml:9:56: no model named "mm"; did you mean "m"? [unknown-model]',
      's.yaml:9:76: no protocol named "plan"; did you mean "plain"? [unknown-protocol]',
      's.yaml:10:47: must be at least 0 [minimum]',
      's.yaml:12:34: unknown field "budjet"; did you mean "budget"? [additionalProperties]',
      's.yaml:12:57: no model named "mn"; did you mean "m"? [unknown-model]',
      's.yaml:13:13: the name "dev" is already taken by the API key number 1 [duplicate]',
      's.yaml:13:23: the API key "dev" has the same text [duplicate]',
      's.yaml:13:46: must be a date or a date and time, such as 2027-01-31T12:00:00Z [date]',
    ])
  })

  it('takes virtual models in the lists of keys, in any case, and for no names of models', () => {
    const file = (models: string, allowed: string) =>
      `providers: [{ name: far, type: remote, api_key: k-123 }]\nmodels: ${models}\napi_keys: [{ name: dev, key: dev-key-1, models: ${allowed} }]\n`
    expect(load(file('[{ name: m, provider: far }]', '[m, auto, Fast, BEST]')).problems).to.deep.equal([])
    expect(load(file('[{ name: m, provider: far }]', '[m, autos]')).problems).to.deep.equal([
      's.yaml:3:53: no model named "autos" [unknown-model]',
    ])
    expect(load(file('[{ name: Auto, provider: far, aliases: [best] }]', '[Auto]')).problems).to.deep.equal([
      's.yaml:2:18: "Auto" is a virtual model, so no model can have the name [duplicate]',
      's.yaml:2:49: "best" is a virtual model, so no model can have the name [duplicate]',
    ])
  })

  it('finds fallbacks that cannot help', () => {
    const text = `providers: [{ name: far, type: remote, api_key: long-enough }]
models:
  - { name: a, aliases: [first], provider: far, fallbacks: [b, first, c, c] }
  - { name: b, provider: far }
  - { name: c, provider: far }
`
    expect(load(text).problems).to.deep.equal([
      's.yaml:3:64: the fallback "first" is the model itself [fallback]',
      's.yaml:3:74: the fallback "c" stands there already [fallback]',
    ])
  })

  it('warns of what can be served and is probably not meant', () => {
    const text = `providers: [{ name: far, type: remote, api_key: long-enough }]
models:
  - { name: a, provider: far, fallbacks: [b], quality_tier: premum }
  - { name: b, provider: far, fallbacks: [c], quality_tier: premium }
  - { name: c, provider: far, fallbacks: [a], quality_tier: excellent }
  - { name: d, provider: far, fallbacks: [a] }
`
    const { settings, problems, warnings } = load(text)
    expect(problems).to.deep.equal([])
    expect(settings?.models).to.have.length(4)
    const rest = 'those of a fallback are never tried [fallback]'
    expect(warnings).to.deep.equal([
      `s.yaml:3:43: warning: fallbacks go in a circle: a -> b -> c -> a; ${rest}`,
      's.yaml:3:61: warning: "premum" counts as economy; did you mean "premium"? [quality-tier]',
      `s.yaml:4:43: warning: fallbacks go in a circle: b -> c -> a -> b; ${rest}`,
      `s.yaml:5:43: warning: fallbacks go in a circle: c -> a -> b -> c; ${rest}`,
      's.yaml:5:61: warning: "excellent" counts as economy [quality-tier]',
    ])
  })

  it('warns of a price of cached tokens that is missing', () => {
    const prices = [
      '{ input: 1, output: 2 }',
      '{ input: 1, output: 2, cache_read: 0.1 }',
      '{ input: 1 }',
      '{ seconds: 0.0001 }',
    ]
    const models = prices.map((pricing, at) => `  - { name: m${at}, provider: far, pricing: ${pricing} }\n`)
    const text = `providers: [{ name: far, type: remote, api_key: long-enough }]\nmodels:\n${models.join('')}`
    const { problems, warnings } = load(text)
    expect(problems).to.deep.equal([])
    expect(warnings).to.deep.equal([
      's.yaml:3:41: warning: there is no price "cache_read": tokens that a provider reads from its cache cost the input price [assumed]',
    ])
  })

  it('finds tiers of prices that are not in ascending order', () => {
    const text = `providers: [{ name: far, type: far, key: k }]
models:
  - name: a
    provider: far
    pricing: { input: 1, tiers: [{ above_input_tokens: 20, input: 2 }, { above_input_tokens: 20, input: 3 }] }
`
    expect(load(text).problems).to.include.members([
      's.yaml:5:94: must be more than 20, as tiers are ascending [tiers]',
    ])
  })

  it('finds words of smart routing, protocols and traits that mean nothing', () => {
    const text = `providers:
  - { name: far, type: remote, api_key: long-enough, traits: { laud: true, level: 3 } }
  - { name: off, type: remote, api_key: "\${KEY}", traits: { laud: true } }
models:
  - { name: a, provider: far, routing_assignments: [fast, bets] }
  - { name: b, provider: far, protocols: [other, plain] }
  - { name: c, provider: off, protocols: [other] }
`
    expect(load(text).problems).to.deep.equal([
      's.yaml:2:64: unknown field "laud"; did you mean "loud"? [additionalProperties]',
      's.yaml:2:83: must be a string [type]',
      's.yaml:5:59: must be one of "fast", "auto", "best"; did you mean "best"? [enum]',
      's.yaml:6:43: the provider "far" does not speak "other": it speaks plain [not-offered]',
    ])
  })

  it('takes a variable as shells write it for a mistake', () => {
    const { problems } = load('providers: [{ name: far, type: remote, api_key: $FAR_KEY }]\n', { FAR_KEY: 'secret' })
    expect(problems).to.deep.equal(['s.yaml:1:49: is taken as it is; a variable is written ${NAME} [interpolation]'])
    expect(load('api_keys: [{ name: a, key: $money-for-nothing }]').problems).to.deep.equal([])
  })

  it('switches providers and keys off whose variables are unset, and refuses other unset ones', () => {
    const text = `providers: [{ name: far, type: remote, api_key: "\${KEY}" }]
models: [{ name: m, provider: far }]
api_keys: [{ name: dev, key: "\${DEV_KEY}" }]
`
    const { settings, off, problems } = load(text)
    expect(problems).to.deep.equal([])
    expect(off).to.deep.equal(['provider "far" is off: KEY is not set', 'API key "dev" is off: DEV_KEY is not set'])
    expect(settings?.providers[0]).to.include({ name: 'far', off: 'KEY is not set' })
    expect(settings?.api_keys).to.deep.equal([])
    expect(load('database: { url: "${DB}" }\nlisten: { port: "${P}" }\n').problems).to.deep.equal([
      's.yaml:1:18: DB is not set; set it or write ${DB:-default} [unset-variable]',
      's.yaml:2:17: P is not set; set it or write ${P:-default} [unset-variable]',
    ])
  })

  it('lets the environment override', () => {
    const environment = {
      PORT: '9090',
      HOST: '0.0.0.0',
      DATABASE_URL: 'postgres://u@h/d',
      REDIS_URL: 'redis://h',
      LOG_LEVEL: 'debug',
    }
    const { settings } = load('listen: { port: 1 }\n', environment)
    expect(settings?.listen).to.include({ host: '0.0.0.0', port: 9090 })
    expect(settings?.database.url).to.equal('postgres://u@h/d')
    expect(settings?.key_value).to.deep.equal({ url: 'redis://h' })
    expect(settings?.server_config.logging.level).to.equal('debug')
    expect(load('', { PORT: 'eighty', LOG_LEVEL: 'loud' }).problems).to.deep.equal([
      'LOG_LEVEL:1:1: must be one of "trace", "debug", "info", "warn", "error", "fatal", "silent" [enum]',
      'PORT:1:1: must be an integer [type]',
    ])
  })

  it('survives shapes of every kind', () => {
    for (const text of [
      '5',
      '[]',
      'listen: 5',
      'providers: 1',
      'providers: [1, null]',
      'models: [null, 3]',
      'api_keys: [x]',
      'server_config: []',
      'models: [{ aliases: 5, fallbacks: x }]',
    ])
      expect(load(text).problems.join('\n'), text).to.match(/^s\.yaml:1:\d+: .*\[\w+\]/)
  })

  it('prints an example that is right and changes nothing', () => {
    const example = exampleSettings(registry)
    const { settings, problems } = load(example)
    expect(problems).to.deep.equal([])
    expect(settings).to.deep.equal(load('').settings)
    expect(example.split('\n')).to.include.members([
      '  # Port to listen on, 0 for any free one; PORT overrides it.',
      '  port: 8080',
      '# key_value: # The key-value store that machines share. Without it, the database keeps what outlives a request.',
      '  # - name: my-remote',
      '  #   base_url: "http://localhost" # Where it is.',
      '  # - name: "…" # Name that clients use. A * at its end stands for any text: one record for many models, such as vendor/*.',
    ])
  })
})

describe('editor schemas', () => {
  const compile = (schema: object) => new Ajv2020({ strict: false, formats: { uri: true } }).compile(schema)

  it('know the fields of each provider type', () => {
    const valid = compile(settingsSchema(registry))
    expect(valid({ providers: [{ name: 'a', type: 'remote', api_key: 'abcd' }] })).to.equal(true)
    expect(valid({ providers: [{ name: 'a', type: 'remote', api_key: 'abcd', other: 1 }] })).to.equal(false)
    expect(valid({ providers: [{ name: 'a', type: 'other' }] })).to.equal(false)
    expect(valid({ models: [{ name: 'm', provider: 'a', protocols: ['plan'] }] })).to.equal(false)
  })

  it('take a variable where a number, a choice or a form is wanted', () => {
    const valid = compile(settingsSchema(registry))
    const variable = '${NAME:-x}'
    expect(valid({ listen: { port: variable }, server_config: { logging: { level: variable } } })).to.equal(true)
    expect(
      valid({ database: { url: variable }, models: [{ name: 'm', provider: 'a', supports_images: variable }] }),
    ).to.equal(true)
    expect(valid({ providers: [{ name: 'a', type: 'remote', api_key: variable, retries: variable }] })).to.equal(true)
    expect(valid({ listen: { port: 'x' } })).to.equal(false)
    expect(valid({ server_config: { logging: { level: 'loud' } } })).to.equal(false)
    const pipeline = compile(pipelineSchema(registry))
    const steps = (...stages: unknown[]) => pipeline({ name: 'p', summary: 's.', stages })
    expect(steps({ call: { timeout: variable } }, { attempt: { tries: variable, do: ['auth'] } })).to.equal(true)
    expect(steps({ call: { timeout: 'soon' } })).to.equal(false)
    expect(steps({ attempt: { tries: 'x', do: ['auth'] } })).to.equal(false)
  })

  it('know the fields of each stage', () => {
    const valid = compile(pipelineSchema(registry))
    const steps = (...stages: unknown[]) => valid({ name: 'p', summary: 's.', stages })
    expect(steps('auth', { parse: { protocol: 'plain' } }, { parse: null }, { use: 'x' })).to.equal(true)
    expect(
      steps({ switch: [{ when: { a: 1 }, do: ['auth'] }] }, { attempt: { do: [{ call: { timeout: '1s' } }] } }),
    ).to.equal(true)
    expect(steps({ parse: null, timeout: '5s' }, { use: 'x', timeout: '1h' })).to.equal(true)
    expect(steps({ parse: null, timeout: 'soon' })).to.equal(false)
    expect(steps({ timeout: '5s' })).to.equal(false)
    expect(steps({ parse: null, use: 'x' })).to.equal(false)
    expect(steps('judge')).to.equal(false)
    expect(steps({ parse: { other: 1 } })).to.equal(false)
    expect(steps({ attempt: { do: ['nothing'] } })).to.equal(false)
    expect(valid({ endpoints: [{ name: 'p', summary: 's.', stages: ['auth'] }] })).to.equal(true)
  })
})
