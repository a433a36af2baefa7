import { mock } from 'node:test'
import { expect } from 'chai'
import { printDiagnostic } from '../../../engine/config/diagnostics.ts'
import { Live } from '../../../engine/live/live.ts'
import type { GatewayHost } from '../../../engine/live/gateway-host.ts'
import { serviceHost } from '../../../engine/live/gateway-host.ts'
import { OpenServices } from '../../../engine/services/services.ts'
import { openSnapshot } from '../../../engine/live/snapshot.ts'
import { loadConfiguration } from '../../../engine/live/load-configuration.ts'
import { execute } from '../../../engine/pipeline/run.ts'
import type { Bag } from '../../../engine/pipeline/bag.ts'
import { defineService } from '../../../engine/index.ts'
import { TestScope } from '../pipeline/stubs.ts'
import { testGateway } from '../live/gateway-host.ts'
import type { TestGateway } from '../live/gateway-host.ts'

/** Two services, of which `meals` uses `stock`; each logs what becomes of it. */
const plugin = (version: string) => `
import { Refusal, defineService, defineStage, definePlugin, noConfig } from 'sluice'
const stock = defineService({
  name: 'stock', summary: 'What there is.',
  settings: { type: 'object', additionalProperties: false, description: 'The stock.', properties: {
    eggs: { type: 'integer', minimum: 0, default: 6, description: 'How many eggs.' },
    note: { type: 'string', default: '', description: 'What it says.' } } },
  async open(host) {
    const say = (text) => host.log.warn('${version} stock ' + text)
    say('opens')
    let eggs = 0
    return {
      configure(settings) {
        if (settings.eggs === 13) throw new Refusal('13 brings bad luck', ['eggs'])
        say('is configured with ' + settings.eggs)
        return {
          view: { take: () => --eggs, says: () => settings.note },
          live: () => { eggs = settings.eggs; say('is live with ' + eggs) },
          close: () => say('closes its view of ' + settings.eggs),
        }
      },
      status: () => eggs === 0 ? 'there is no egg' : undefined,
      close: () => say('closes'),
    }
  },
})
const meals = defineService({
  name: 'meals', section: 'kitchen', summary: 'What is cooked.', uses: ['stock'],
  settings: { type: 'object', additionalProperties: false, description: 'The kitchen.', properties: {
    plate: { type: 'string', default: 'omelette', description: 'What is cooked.' } } },
  check({ plate }, report) { if (plate === 'soup') report(['plate'], 'there is no soup') },
  open: (host) => {
    const say = (text) => host.log.warn('${version} meals ' + text)
    say('opens')
    return {
      configure({ plate }, { stock }) {
        if (plate === 'stew') throw new Error('no pot')
        return { view: { cook: () => plate + ' ' + stock.take() }, close: () => { say('closes its view'); throw new Error('stuck') } }
      },
      close: () => say('closes'),
    }
  },
})
const menu = defineService({
  name: 'menu', section: 'kitchen', summary: 'How it is called.',
  settings: { type: 'object', additionalProperties: false, properties: {
    title: { type: 'string', default: 'Menu', description: 'Its title.' } } },
})
const order = defineStage({
  name: 'order', summary: 'Cooks.', config: noConfig, needs: [], provides: ['reply'], uses: ['meals', 'menu'],
  build: (_, host, { meals, menu: { title } }) => () => ({ reply: title + ': ' + meals.cook() }),
})
export default definePlugin({ name: 'kitchen', summary: 'For tests.', services: [meals, stock, menu], stages: [order] })
`

/** Lets so many milliseconds of a mocked clock pass, once what is under way has come to wait for them. */
async function passed(milliseconds: number): Promise<void> {
  for (let round = 0; round < 10; round++) await new Promise(setImmediate)
  mock.timers.tick(milliseconds)
}

describe('services', () => {
  let gateway: TestGateway
  let services: OpenServices
  let host: GatewayHost
  beforeEach(async () => {
    gateway = await testGateway()
    services = new OpenServices({
      log: gateway.log,
      prepare: async (service) => serviceHost(gateway, {} as never, service),
    })
    host = { ...gateway.options.gateway, services }
    await gateway.folder.write({
      'plugins/kitchen/index.ts': plugin('old'),
      'pipelines/p.yaml': 'name: p\nsummary: s.\nroutes: [GET /p]\npublic: true\nstages: [order]\n',
      'config/sluice.yaml': settings(''),
    })
  })
  afterEach(() => gateway.folder.remove())

  const settings = (sections: string) =>
    `plugins: [./plugins]\nserver_config: { logging: { level: warn }${sections} }\n`
  const start = async (): Promise<Live> => {
    const started = await Live.start({ ...gateway.options, gateway: host })
    if ('diagnostics' in started) throw new Error(started.diagnostics.map(printDiagnostic).join('\n'))
    return started.live
  }
  /** What the services said since this was asked last. */
  const said = () => gateway.lines.splice(0).map(({ msg }) => msg)
  const ordered = async (live: Live) => {
    const slots: Bag = {}
    const snapshot = live.acquire()
    try {
      await execute(snapshot.pipelines.get('p')!, slots, new TestScope())
    } finally {
      live.release(snapshot)
    }
    return slots.reply as unknown as string
  }
  const write = (text: string) => gateway.folder.write({ 'config/sluice.yaml': settings(text) })
  const reload = async (live: Live) => (await live.reload()).map(printDiagnostic)

  it('open once in the order of "uses", are configured for each configuration, and close at the end', async () => {
    const live = await start()
    expect(said()).to.deep.equal([
      'old stock opens',
      'old stock is configured with 6',
      'old meals opens',
      'old stock is live with 6',
    ])
    expect(await ordered(live)).to.equal('Menu: omelette 5')
    await write(', stock: { eggs: 4 }, kitchen: { plate: cake, title: Today }')
    expect(await reload(live)).to.deep.equal([])
    expect(await ordered(live)).to.equal('Today: cake 3')
    await live.close()
    expect(said()).to.deep.equal([
      'old stock is configured with 4',
      'old stock is live with 4',
      'the configuration is live',
      'old meals closes its view',
      'the view of a service could not be closed',
      'old stock closes its view of 6',
      'old meals closes its view',
      'the view of a service could not be closed',
      'old stock closes its view of 4',
      'old meals closes',
      'old stock closes',
    ])
  })

  it('share their state with what still runs in an older configuration, which keeps its own view', async () => {
    const live = await start()
    const old = live.acquire()
    await write(', stock: { eggs: 10 }, kitchen: { plate: cake }')
    await reload(live)
    const slots: Bag = {}
    await execute(old.pipelines.get('p')!, slots, new TestScope())
    expect(slots.reply).to.equal('Menu: omelette 9')
    expect(await ordered(live)).to.equal('Menu: cake 8')
    said()
    live.release(old)
    await live.close()
    expect(said().filter((line) => line.startsWith('old stock closes its'))).to.deep.equal([
      'old stock closes its view of 6',
      'old stock closes its view of 10',
    ])
  })

  it('refuse a configuration at the place of the setting, and change nothing by it', async () => {
    const live = await start()
    said()
    await write(', stock: { eggs: 13 }')
    expect(await reload(live)).to.deep.equal(['config/sluice.yaml:2:59: 13 brings bad luck [service]'])
    expect(said().slice(0, -2)).to.deep.equal([])
    await write(', stock: { eggs: 3 }, kitchen: { plate: stew }')
    expect(await reload(live)).to.deep.equal([
      'config/sluice.yaml:2:73: the service "meals" cannot be opened: no pot [service]',
    ])
    expect(await ordered(live)).to.equal('Menu: omelette 5')
    const ofServices = said().filter((line) => line.startsWith('old'))
    expect(ofServices).to.deep.equal(['old stock is configured with 3', 'old stock closes its view of 3'])
    await live.close()
  })

  it('betray no secret of a configuration that they refuse by quoting it', async () => {
    const quoting = plugin('old')
      .replace("summary: 'What is cooked.',", "summary: 'What is cooked.', secrets: ['plate'],")
      .replace("report(['plate'], 'there is no soup')", "report(['plate'], 'there is no ' + plate)")
      .replace("if (plate === 'soup')", 'if (true)')
    await gateway.folder.write({ 'plugins/kitchen/index.ts': quoting })
    await write(', kitchen: { plate: rosebud-of-the-cook }')
    expect((await loadConfiguration(gateway.options)).diagnostics.map(printDiagnostic)).to.deep.equal([
      'config/sluice.yaml:2:62: there is no [redacted] [service]',
    ])
    await gateway.folder.write({
      'plugins/kitchen/index.ts': quoting
        .replace('if (true)', 'if (false)')
        .replace("if (plate === 'stew') throw new Error('no pot')", "throw new Refusal('no ' + plate, ['plate'])"),
    })
    const loading = await openSnapshot(await loadConfiguration(gateway.options), { ...gateway.options, gateway: host })
    expect('diagnostics' in loading && loading.diagnostics.map(printDiagnostic)).to.deep.equal([
      'config/sluice.yaml:2:62: no [redacted] [service]',
    ])
  })

  it('may throw anything, and what was opened before them closes', async () => {
    const throwing = plugin('old')
      .replace("throw new Error('no pot')", 'throw undefined')
      .replace("report(['plate'], 'there is no soup')", "throw new Refusal('there is no soup', ['plate'])")
      .replace('if (settings.eggs === 13)', "if (settings.eggs === 12) throw 'a dozen'; if (settings.eggs === 13)")
    await gateway.folder.write({ 'plugins/kitchen/index.ts': throwing })
    await write(', kitchen: { plate: stew }')
    const loading = await openSnapshot(await loadConfiguration(gateway.options), { ...gateway.options, gateway: host })
    expect('diagnostics' in loading && loading.diagnostics.map(printDiagnostic)).to.deep.equal([
      'config/sluice.yaml:2:53: the service "meals" cannot be opened: undefined [service]',
    ])
    expect(said().at(-1)).to.equal('old stock closes')
    await write(', kitchen: { plate: soup }')
    expect((await loadConfiguration(gateway.options)).diagnostics.map(printDiagnostic)).to.deep.equal([
      'config/sluice.yaml:2:62: there is no soup [service]',
    ])
    await write(', stock: { eggs: 12 }')
    const dozen = await Live.start({ ...gateway.options, gateway: host })
    expect('diagnostics' in dozen && dozen.diagnostics.map(printDiagnostic)).to.deep.equal([
      'config/sluice.yaml:2:51: the service "stock" cannot be opened: a dozen [service]',
    ])
  })

  it('are refused when they are configured without a view', async () => {
    await gateway.folder.write({
      'plugins/kitchen/index.ts': plugin('old').replace('{ view: { cook', '{ views: { cook'),
    })
    const loading = await openSnapshot(await loadConfiguration(gateway.options), { ...gateway.options, gateway: host })
    expect('diagnostics' in loading && loading.diagnostics.map(({ message }) => message)).to.deep.equal([
      'the service "meals" cannot be opened: its "configure" gives no view',
    ])
  })

  it('close what they opened when the first configuration is refused', async () => {
    await write(', kitchen: { plate: stew }')
    const configuration = await loadConfiguration(gateway.options)
    const loading = await openSnapshot(configuration, { ...gateway.options, gateway: host })
    expect('diagnostics' in loading && loading.diagnostics.map(({ code }) => code)).to.deep.equal(['service'])
    expect(said()).to.deep.equal([
      'old stock opens',
      'old stock is configured with 6',
      'old meals opens',
      'old stock closes its view of 6',
      'old meals closes',
      'old stock closes',
    ])
  })

  it('hold up no later configuration when one does not close, and the others close all the same', async () => {
    const stuck = plugin('old').replace(
      "close: () => say('closes its view of ' + settings.eggs)",
      "close: () => { say('closes its view of ' + settings.eggs); return settings.note === 'stuck' ? new Promise(() => {}) : undefined }",
    )
    await gateway.folder.write({ 'plugins/kitchen/index.ts': stuck })
    const live = await start()
    await write(', stock: { eggs: 3, note: stuck }, kitchen: { plate: stew }')
    mock.timers.enable({ apis: ['setTimeout'] })
    try {
      expect(await reload(live)).to.have.length(1)
      await write(', stock: { eggs: 4, note: stuck }')
      expect(await reload(live)).to.deep.equal([])
      expect(await ordered(live)).to.equal('Menu: omelette 3')
      said()
      const closing = live.close(60_000)
      await passed(10_000)
      await closing
    } finally {
      mock.timers.reset()
    }
    const lines = said()
    expect(lines.filter((line) => line === 'the view of a service could not be closed')).to.have.length.at.least(2)
    expect(lines.slice(-2)).to.deep.equal(['old meals closes', 'old stock closes'])
  })

  it('are never open twice: who wants one that is closing waits until it is closed', async () => {
    const events: string[] = []
    const { promise: gate, resolve: closed } = Promise.withResolvers<void>()
    const service = defineService({
      name: 'gated' as never,
      summary: 'Closes when it is told to.',
      open: () => {
        events.push('open')
        return {
          configure: () => ({ view: {} as never }),
          close: () => {
            events.push('closing')
            return gate.then(() => void events.push('closed'))
          },
        }
      },
    })
    await services.take(service)
    const released = services.release(service)
    const taken = services.take(service)
    await new Promise(setImmediate)
    closed()
    await Promise.all([released, taken])
    expect(events).to.deep.equal(['open', 'closing', 'closed', 'open'])
    await services.close()
  })

  it('are made anew when their file changes, beside the old ones', async () => {
    const live = await start()
    const held = live.acquire()
    await ordered(live)
    said()
    await gateway.folder.write({ 'plugins/kitchen/index.ts': plugin('new') })
    expect(await reload(live)).to.deep.equal([])
    expect(said()).to.deep.equal([
      'new stock opens',
      'new stock is configured with 6',
      'new meals opens',
      'new stock is live with 6',
      'the configuration is live',
    ])
    expect(await ordered(live)).to.equal('Menu: omelette 5')
    live.release(held)
    await live.close()
    const lines = said()
    for (const version of ['old', 'new'])
      expect(lines.filter((line) => line.startsWith(version))).to.deep.equal([
        `${version} meals closes its view`,
        `${version} stock closes its view of 6`,
        `${version} meals closes`,
        `${version} stock closes`,
      ])
  })

  it('say what is degraded', async () => {
    await write(', stock: { eggs: 1 }')
    const live = await start()
    expect([...services.degraded]).to.deep.equal([])
    await ordered(live)
    expect([...services.degraded]).to.deep.equal([['stock', 'there is no egg']])
    said()
    services.tell()
    services.tell()
    expect(said()).to.deep.equal(['a service is degraded'])
    await write(', stock: { eggs: 2 }')
    await reload(live)
    said()
    services.tell()
    services.tell()
    expect(said()).to.include('a service works again').and.not.include('a service is degraded')
    await live.close()
    expect([...services.degraded]).to.deep.equal([])
  })

  it('are not opened by a check, which lets stages keep their views and those without state read them', async () => {
    const check = () => loadConfiguration(gateway.options).then((found) => openSnapshot(found, gateway.options))
    const checked = await check()
    expect('snapshot' in checked).to.equal(true)
    expect(said()).to.deep.equal([])
    const eager = plugin('old').replace(') => () => ({ reply', ', early = meals.cook()) => () => ({ reply')
    await gateway.folder.write({ 'plugins/kitchen/index.ts': eager })
    const refused = await check()
    expect('diagnostics' in refused && refused.diagnostics.map(printDiagnostic)).to.deep.equal([
      'pipelines/p.yaml:5:10: "order" cannot be built: the service "meals" is not open while a configuration is checked; ' +
        'call its view in "run" alone [build]',
    ])
    expect(said()).to.deep.equal([])
  })

  it('check their settings everywhere, each property by its owner', async () => {
    const found = async (text: string) => {
      await write(text)
      return (await loadConfiguration(gateway.options)).diagnostics.map(printDiagnostic)
    }
    expect(await found(', kitchen: { plate: soup }, stock: { eggs: -1 }')).to.deep.equal([
      'config/sluice.yaml:2:62: there is no soup [service]',
      'config/sluice.yaml:2:85: must be at least 0 [minimum]',
    ])
    expect(await found(', kitchn: {}, kitchen: { titel: x }, stock: 5')).to.deep.equal([
      'config/sluice.yaml:2:44: unknown field "kitchn"; did you mean "kitchen"? [additionalProperties]',
      'config/sluice.yaml:2:67: unknown field "titel"; did you mean "title"? [additionalProperties]',
      'config/sluice.yaml:2:86: must be an object [type]',
    ])
    await gateway.folder.write({ 'plugins/kitchen/index.ts': 'export default {' })
    const unloaded = await found(', kitchn: {}, kitchen: { titel: x }, keepalive: { sse_interval: 5s, every: 1s }')
    expect(unloaded.map((line) => line.replace(/.*\[/, '['))).to.deep.equal(['[plugin]'])
  })

  it('that never witness a change of a record keep it from being made, and nobody waiting', async () => {
    const stuck = defineService({
      name: 'stuck' as never,
      summary: 'Never comes to an end.',
      open: () => ({ configure: () => ({ view: {} as never }), witness: () => new Promise<void>(() => undefined) }),
    })
    await services.take(stuck)
    mock.timers.enable({ apis: ['setTimeout'] })
    try {
      let refused: unknown
      const change = { kind: 'create', type: 'team', name: 'staff' } as const
      services.witness([stuck], {} as never, change, undefined).catch((error: unknown) => (refused = error))
      await passed(4_999)
      expect(refused).to.equal(undefined)
      await passed(1)
      await passed(0)
      expect(refused).to.have.property('message', 'the service "stuck" had not witnessed a change after 5 seconds')
    } finally {
      mock.timers.reset()
      await services.release(stuck)
    }
  })
})
