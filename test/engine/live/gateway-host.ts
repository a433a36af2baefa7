import { join } from 'node:path'
import { pino } from 'pino'
import type { Shipped } from '../../../engine/config/shipped.ts'
import { Keep } from '../../../engine/services/keep.ts'
import { emptyGateway } from '../../../engine/live/gateway-host.ts'
import type { GatewayHost } from '../../../engine/live/gateway-host.ts'
import { testFolder } from '../config/folder.ts'
import type { TestFolder } from '../config/folder.ts'

/** What declares models and providers. */
export const catalog = join(import.meta.dirname, '..', '..', 'support', 'catalog-records.ts')

/** A plugin with a provider type whose opened and closed instances can be read through `host.keep`. */
const plugin = `
const none = { type: 'object', additionalProperties: false, properties: {} }
const events = (host) => host.keep('events', () => [])
const stage = (name, needs, provides, run) =>
  ({ kind: 'stage', name, summary: name, config: none, needs, provides, build: (_, host) => (slots) => run(slots, host) })
const codec = (protocol) => ({ protocol, operation: 'embed', summary: 'For tests.', error: { parse: () => ({}) } })
export default {
  kind: 'plugin', name: 'test', summary: 'For tests.',
  codecs: ['one.test', 'two.test', 'three.test', 'refused'].map(codec),
  stages: [
    stage('auth', ['ingress'], ['principal'], ({ ingress }) =>
      ({ principal: ingress.path === 'text-of-dev' ? { kind: 'key', id: '1', name: 'dev' } : undefined })),
    stage('reply', [], ['reply'], (_, host) => ({ reply: { version: VERSION, status: host.status } })),
  ],
  records: [{
    kind: 'record', name: 'api_key', summary: 'Keys.', place: 'api_keys', secrets: ['key'],
    schema: { type: 'object', additionalProperties: false, required: ['name', 'key'],
      properties: { name: { type: 'string', description: 'n' }, key: { type: 'string', description: 'k' } } },
  }],
  providers: [{
    kind: 'provider', name: 'remote', summary: 'A provider.', secrets: ['api_key'],
    config: { type: 'object', additionalProperties: false, required: ['url'],
      properties: { url: { type: 'string', minLength: 1, description: 'u' }, api_key: { type: 'string', description: 'k' } } },
    offers: ({ url }) => [{ operation: 'embed', protocol: new URL(url).hostname }],
    open: ({ url }, host) => {
      if (url.includes('refused')) throw new Error('no such host')
      events(host).push('open ' + url)
      return { close: async () => { events(host).push('close ' + url) } }
    },
  }],
}
`

export const pluginText = (version: string) => plugin.replace('VERSION', JSON.stringify(version))

export const settings = (url = 'http://one.test') => `plugins: [./plugins, '${catalog}']
providers:
  - { name: far, type: remote, url: "${url}", api_key: "key-of-far" }
  - { name: off, type: remote, url: "\${OFF_URL}" }
models:
  - { name: m, provider: far, upstream_model: big, aliases: [mm], fallbacks: [n] }
  - { name: n, provider: off, upstream_model: small }
api_keys: [{ name: dev, key: text-of-dev }]
server_config: { logging: { level: warn } }
`

export const pipeline = 'name: p\nsummary: s.\nroutes: [GET /p]\nstages: [auth, reply]\n'

export interface TestGateway extends GatewayHost {
  readonly folder: TestFolder
  readonly lines: { level: number; msg: string }[]
  readonly secrets: string[]
  readonly events: string[]
  readonly options: {
    file: string
    root: string
    environment: Record<string, string>
    gateway: GatewayHost
    shipped: Shipped
    strict: true
  }
}

export async function testGateway(): Promise<TestGateway> {
  const folder = await testFolder({
    'config/sluice.yaml': settings(),
    'plugins/test/index.ts': pluginText('one'),
    'pipelines/p.yaml': pipeline,
  })
  const lines: TestGateway['lines'] = []
  const secrets: string[] = []
  const keep = new Keep()
  const gateway: GatewayHost = {
    ...emptyGateway('1.2.3'),
    keep,
    log: pino({ base: null }, { write: (line) => void lines.push(JSON.parse(line)) }),
    protect: (values) => void secrets.push(...values),
  }
  const options = {
    file: 'config/sluice.yaml',
    root: folder.path,
    environment: {},
    gateway,
    shipped: {},
    strict: true as const,
  }
  return { ...gateway, folder, lines, secrets, events: keep.lease().get('events', () => []), options }
}
