import { expect } from 'chai'
import { printDiagnostic } from '../../../engine/config/diagnostics.ts'
import { OpenServices } from '../../../engine/services/services.ts'
import type { ServiceHost } from '../../../engine/spec/service-host.ts'
import { loadConfiguration } from '../../../engine/live/load-configuration.ts'
import { openSnapshot } from '../../../engine/live/snapshot.ts'
import type { Snapshot } from '../../../engine/live/snapshot.ts'
import { execute } from '../../../engine/pipeline/run.ts'
import type { Bag } from '../../../engine/pipeline/bag.ts'
import { TestScope } from '../pipeline/stubs.ts'
import { pipeline, settings, testGateway } from './gateway-host.ts'
import type { TestGateway } from './gateway-host.ts'

describe('snapshot', () => {
  let gateway: TestGateway
  beforeEach(async () => {
    gateway = await testGateway()
  })
  afterEach(() => gateway.folder.remove())

  const load = async () => openSnapshot(await loadConfiguration(gateway.options), gateway.options)
  const good = async (): Promise<Snapshot> => {
    const loading = await load()
    if ('diagnostics' in loading) throw new Error(loading.diagnostics.map(printDiagnostic).join('\n'))
    return loading.snapshot
  }
  const bad = async (): Promise<string[]> => {
    const loading = await load()
    if ('snapshot' in loading) throw new Error('it was not refused')
    return loading.diagnostics.map(printDiagnostic)
  }

  it('opens providers, except those that are off', async () => {
    const snapshot = await good()
    const { catalog, off } = snapshot
    expect(catalog.provider('far')).to.deep.include({
      name: 'far',
      type: 'remote',
      offers: [{ operation: 'embed', protocol: 'one.test' }],
    })
    expect(catalog.provider('off')).to.deep.equal({
      name: 'off',
      type: 'remote',
      offers: [],
      provider: {},
      off: 'OFF_URL is not set',
    })
    expect(catalog.provider('constructor')).to.equal(undefined)
    expect(off).to.deep.equal(['provider "off" is off: OFF_URL is not set'])
    expect(gateway.secrets).to.deep.equal(['key-of-far', 'text-of-dev'])
    await snapshot.close()
    expect(gateway.events).to.deep.equal(['open http://one.test', 'close http://one.test'])
  })

  it('finds models by name, alias and upstream name', async () => {
    const { catalog } = await good()
    const names = ['m', 'mm', 'far/big', 'off/small', 'big', 'M', 'toString'].map((name) => catalog.find(name)?.name)
    expect(names).to.deep.equal(['m', 'm', 'm', 'n', undefined, undefined, undefined])
    expect(catalog.settings).to.have.deep.property('logging', { level: 'warn' })
  })

  it('runs its pipelines with the services of the gateway', async () => {
    const { pipelines, version } = await good()
    const slots = { ingress: { path: 'text-of-dev' } } as unknown as Bag
    await execute(pipelines.get('p')!, slots, new TestScope())
    expect(slots.principal).to.deep.equal({ kind: 'key' as const, id: '1', name: 'dev' })
    const { status } = slots.reply as unknown as {
      status: { draining: boolean; degraded: string[]; config: { version: string } }
    }
    expect([status.draining, status.degraded, status.config]).to.deep.equal([false, [], { version }])
    expect(version).to.match(/^[0-9a-f]{12}$/)
  })

  it('is refused with everything that is wrong in all of its files', async () => {
    await gateway.folder.write({
      'config/sluice.yaml': settings().replace('models:', 'model:'),
      'pipelines/p.yaml': pipeline.replace('auth', 'ath'),
      'pipelines/q.yaml': 'name: [',
      'pipelines/q.test.yaml': 'name: [',
    })
    expect(await bad()).to.deep.equal([
      'config/sluice.yaml:5:1: unknown field "model"; did you mean "models"? [additionalProperties]',
      'pipelines/p.yaml:4:10: no stage named "ath"; did you mean "auth"? [unknown-stage]',
      'pipelines/q.yaml:1:8: Flow sequence in block collection must be sufficiently indented and end with a ] [yaml]',
    ])
    expect(gateway.events).to.deep.equal([])
  })

  it('closes what it opened when a provider, a key or a stage is refused', async () => {
    const text = settings().replace('url: "${OFF_URL}"', 'url: "http://refused"')
    const doorman = `export default {
      kind: 'service', name: 'doorman', section: 'doorman', summary: 'Refuses keys.', uses: [], migrations: [],
      settings: { type: 'object', additionalProperties: false, properties: {} },
      open: () => ({
        configure(_settings, _services, { records, reject }) {
          for (const key of records.of('api_key')) reject(key, [], 'keys', 'the key "' + key.name + '" exists twice')
          return { view: {} }
        },
      }),
    }`
    await gateway.folder.write({ 'config/sluice.yaml': text, 'plugins/doorman/index.ts': doorman })
    const services = new OpenServices({ log: gateway.log, prepare: () => Promise.resolve({} as ServiceHost) })
    gateway.options.gateway = { ...gateway.options.gateway, services }
    expect(await bad()).to.deep.equal([
      'config/sluice.yaml:8:12: the key "dev" exists twice [keys]',
      'config/sluice.yaml:4:5: the provider "off" cannot be opened: no such host [open]',
    ])
    expect(gateway.events).to.deep.equal(['open http://one.test', 'close http://one.test'])
  })

  it('says that files or folders are missing', async () => {
    gateway.options.file = 'gone.yaml'
    expect(await bad()).to.deep.equal(['gone.yaml:1:1: cannot be read: ENOENT [file]'])
    gateway.options.file = 'config/sluice.yaml'
    await gateway.folder.write({ 'config/sluice.yaml': `${settings()}pipelines: ./pipes\n` })
    expect(await bad()).to.deep.equal(['config/sluice.yaml:10:12: there is no folder "pipes" [pipelines]'])
  })

  it('does not report what a plugin that cannot be loaded would have brought', async () => {
    await gateway.folder.write({ 'plugins/test/index.ts': 'export default {' })
    const user = `import { defineStage } from 'sluice'
      const names = { type: 'string', 'x-names': 'member', description: 'Who.' }
      export default defineStage({ name: 'user', summary: 'Uses much.', needs: ['cart'], provides: [], uses: ['shared'],
        config: { type: 'object', additionalProperties: false, properties: { names } }, build: () => () => ({}) })`
    await gateway.folder.write({ 'plugins/user/index.ts': user })
    const lines = await bad()
    expect(lines).to.have.length(1)
    expect(lines[0]).to.match(/^plugins\/test\/index\.ts:1:1: cannot be loaded: .* \[plugin\]$/)
  })
})
