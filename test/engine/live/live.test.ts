import { expect } from 'chai'
import { printDiagnostic } from '../../../engine/config/diagnostics.ts'
import { Live } from '../../../engine/live/live.ts'
import type { Snapshot } from '../../../engine/live/snapshot.ts'
import { watchConfiguration } from '../../../engine/live/watch.ts'
import { execute } from '../../../engine/pipeline/run.ts'
import type { Bag } from '../../../engine/pipeline/bag.ts'
import { GatewayError } from '../../../engine/spec/error.ts'
import { TestScope } from '../pipeline/stubs.ts'
import { pipeline, pluginText, settings, testGateway } from './gateway-host.ts'
import type { TestGateway } from './gateway-host.ts'
import { rename, rm } from 'node:fs/promises'
import { join } from 'node:path'

async function replyOf({
  pipelines,
}: Snapshot): Promise<{ version: string; status: { config: { version: string; error?: string } } }> {
  const slots = { ingress: { path: 'text-of-dev' } } as unknown as Bag
  await execute(pipelines.get('p')!, slots, new TestScope())
  return slots.reply as never
}

describe('live configuration', () => {
  let gateway: TestGateway
  let live: Live
  let swaps: Snapshot[]
  let swapped: () => void = () => undefined
  const next = () => new Promise<void>((resolve) => (swapped = resolve))

  beforeEach(async () => {
    gateway = await testGateway()
    swaps = []
    const onSwap = (snapshot: Snapshot) => {
      swaps.push(snapshot)
      // Those who wait see the new configuration only once it is in place.
      setImmediate(() => swapped())
    }
    const started = await Live.start({ ...gateway.options, onSwap })
    if ('diagnostics' in started) throw new Error(started.diagnostics.map(printDiagnostic).join('\n'))
    live = started.live
  })
  afterEach(async () => {
    await live.close()
    await gateway.folder.remove()
  })

  it('keeps an old configuration open for what holds it by itself, and holds none that is closed', async () => {
    const first = live.acquire()
    const cuts: string[] = []
    const release = live.hold(first, ({ code }) => cuts.push(code))
    await gateway.folder.write({ 'config/sluice.yaml': settings('http://two.test') })
    expect(await live.reload()).to.deep.equal([])
    live.release(first)
    expect(gateway.events).to.deep.equal(['open http://one.test', 'open http://two.test'])
    live.cut(new GatewayError('draining'))
    release()
    live.cut(new GatewayError('draining'))
    expect(cuts).to.deep.equal(['draining'])
    expect(gateway.events).to.have.length(3)
    expect(() => live.hold(first, () => undefined)).to.throw('the configuration is closed')
  })

  it('closes an old configuration when its last user left, never before', async () => {
    const first = live.acquire()
    expect(live.acquire()).to.equal(first)
    await gateway.folder.write({ 'config/sluice.yaml': settings('http://two.test') })
    expect(await live.reload()).to.deep.equal([])
    const second = live.acquire()
    expect(second).to.not.equal(first)
    expect(swaps).to.deep.equal([first, second])
    live.release(first)
    expect(gateway.events).to.deep.equal(['open http://one.test', 'open http://two.test'])
    live.release(first)
    expect(gateway.events).to.deep.equal(['open http://one.test', 'open http://two.test', 'close http://one.test'])
    live.release(second)
    expect(gateway.events).to.have.length(3)
  })

  it('keeps the last good one when the new one is broken, and says so', async () => {
    const { version } = live.current
    await gateway.folder.write({ 'pipelines/p.yaml': pipeline.replace('reply]', 'replyy, other]') })
    const lines = (await live.reload()).map(printDiagnostic)
    expect(lines).to.deep.equal([
      'pipelines/p.yaml:4:16: no stage named "replyy"; did you mean "reply"? [unknown-stage]',
      'pipelines/p.yaml:4:24: no stage named "other" [unknown-stage]',
    ])
    expect(live.current.version).to.equal(version)
    expect((await replyOf(live.current)).status.config).to.deep.equal({ version, error: lines[0] })
    expect(gateway.lines.filter(({ level }) => level === 50).map(({ msg }) => msg)).to.deep.equal([
      ...lines,
      'the new configuration is refused; the last good one stays',
    ])
    await gateway.folder.write({ 'pipelines/p.yaml': pipeline })
    expect(await live.reload()).to.deep.equal([])
    expect(live.status).to.deep.equal({ version })
  })

  it('says once which providers are off', () => {
    expect(gateway.lines.map(({ msg }) => msg)).to.deep.equal(['provider "off" is off: OFF_URL is not set'])
  })

  it('says that a configuration is live which replaces another', async () => {
    await live.reload()
    expect(gateway.lines.at(-1)?.msg).to.equal('the configuration is live')
  })

  it('reads again only what changed', async () => {
    const before = live.current
    expect(await live.reloadIfChanged()).to.deep.equal([])
    expect(live.current).to.equal(before)
    await gateway.folder.write({ 'plugins/test/index.ts': pluginText('two') })
    await live.reloadIfChanged()
    expect([(await replyOf(before)).version, (await replyOf(live.current)).version]).to.deep.equal(['one', 'two'])
  })

  it('keeps the last good one when the file was emptied, as by an editor that was killed while it wrote', async () => {
    for (const text of ['', ' \n\n']) {
      await gateway.folder.write({ 'config/sluice.yaml': text })
      expect((await live.reload()).map(printDiagnostic)).to.deep.equal([
        'config/sluice.yaml:1:1: is empty; a comment in it says that this is meant [file]',
      ])
    }
    expect(swaps).to.have.length(1)
    await gateway.folder.write({ 'config/sluice.yaml': settings('http://two.test') })
    expect(await live.reload()).to.deep.equal([])
    expect(swaps).to.have.length(2)
  })

  it('refuses to start from a broken configuration', async () => {
    await gateway.folder.write({ 'config/sluice.yaml': 'listn: {}' })
    const started = await Live.start(gateway.options)
    expect('diagnostics' in started && started.diagnostics.map(printDiagnostic)).to.deep.equal([
      'config/sluice.yaml:1:1: unknown field "listn"; did you mean "listen"? [additionalProperties]',
    ])
  })

  it('waits for its users before it closes', async () => {
    const held = live.acquire()
    const closing = live.close()
    expect(() => live.acquire()).to.throw('the configuration is closed')
    expect(gateway.events).to.deep.equal(['open http://one.test'])
    live.release(held)
    await closing
    expect(gateway.events).to.deep.equal(['open http://one.test', 'close http://one.test'])
  })

  it('does not wait for ever for who never leaves, and closes what they hold once', async () => {
    const held = live.acquire()
    await live.close(1)
    expect(gateway.events).to.deep.equal(['open http://one.test', 'close http://one.test'])
    expect(gateway.lines.at(-1)).to.include({
      level: 50,
      msg: 'requests still use a configuration; it is closed anyway',
    })
    live.release(held)
    expect(gateway.events).to.have.length(2)
  })

  it('does not wait for a plugin that is still loading', async () => {
    const began = Promise.withResolvers<void>()
    Object.assign(globalThis, { pluginBegan: began.resolve })
    const endless = 'globalThis.pluginBegan()\nawait new Promise(() => {})\n'
    await gateway.folder.write({ 'plugins/test/index.ts': endless + pluginText('two') })
    const reloading = live.reload().then(() => 'reloaded')
    await began.promise
    expect(await Promise.race([reloading, live.close().then(() => 'closed')])).to.equal('closed')
    expect(gateway.events).to.deep.equal(['open http://one.test', 'close http://one.test'])
  })

  it('notices what is changed while it is being read', async () => {
    const file = join(gateway.folder.path, 'config/sluice.yaml')
    // The plugin is loaded after the configuration file was read.
    const edits = `import { writeFileSync } from 'node:fs'\nwriteFileSync(${JSON.stringify(file)}, ${JSON.stringify(settings('http://two.test'))})\n`
    await gateway.folder.write({ 'plugins/test/index.ts': edits + pluginText('two') })
    await live.reloadIfChanged()
    expect(live.current.settings.providers[0]?.config['url']).to.equal('http://one.test')
    await live.reloadIfChanged()
    expect(live.current.settings.providers[0]?.config['url']).to.equal('http://two.test')
    const { current } = live
    await live.reloadIfChanged()
    expect(live.current).to.equal(current)
  })

  it('refuses settings that take a restart', async () => {
    gateway.options.gateway = { ...gateway.options.gateway, fixed: () => [['listen', 'port']] }
    await gateway.folder.write({ 'config/sluice.yaml': `${settings()}listen: { port: 1 }\n` })
    const started = await Live.start(gateway.options)
    expect('diagnostics' in started && started.diagnostics.map(printDiagnostic)).to.deep.equal([
      'config/sluice.yaml:10:17: a change of listen.port requires a restart [restart]',
    ])
  })

  describe('watched', () => {
    let stop: () => void
    beforeEach(() => {
      stop = watchConfiguration(live, gateway.log)
    })
    afterEach(() => stop())

    it('reloads when the file, a pipeline or a plugin changes, also by replacement', async () => {
      await Promise.all([next(), gateway.folder.write({ 'config/sluice.yaml': settings('http://two.test') })])
      expect(live.current.settings.providers[0]?.config['url']).to.equal('http://two.test')
      await gateway.folder.write({ 'config/new.yaml': settings('http://three.test') })
      await Promise.all([
        next(),
        rename(join(gateway.folder.path, 'config/new.yaml'), join(gateway.folder.path, 'config/sluice.yaml')),
      ])
      expect(live.current.settings.providers[0]?.config['url']).to.equal('http://three.test')
      await Promise.all([next(), gateway.folder.write({ 'plugins/test/index.ts': pluginText('two') })])
      expect((await replyOf(live.current)).version).to.equal('two')
      await Promise.all([
        next(),
        gateway.folder.write({ 'pipelines/deep/q.yaml': pipeline.replace('name: p', 'name: q').replace('/p', '/q') }),
      ])
      expect([...live.current.pipelines.keys()]).to.deep.equal(['p', 'q'])
      await Promise.all([
        next(),
        gateway.folder.write({ 'pipelines/deep/q.yaml': pipeline.replace('name: p', 'name: r').replace('/p', '/r') }),
      ])
      expect([...live.current.pipelines.keys()]).to.deep.equal(['p', 'r'])
    })

    it('comes back after its folder was gone', async () => {
      await Promise.all([next(), gateway.folder.write({ 'config/sluice.yaml': `pipelines: pipelines\n${settings()}` })])
      const pipelines = join(gateway.folder.path, 'pipelines')
      const refused = new Promise<void>((resolve) => {
        const { lines } = gateway
        const push = lines.push.bind(lines)
        lines.push = (...items) => {
          if (items.some(({ msg }) => msg.includes('there is no folder'))) resolve()
          return push(...items)
        }
      })
      await Promise.all([refused, rm(pipelines, { recursive: true })])
      expect(live.status.error).to.equal('config/sluice.yaml:1:12: there is no folder "pipelines" [pipelines]')
      await Promise.all([next(), gateway.folder.write({ 'pipelines/p.yaml': pipeline.replace('s.', 'again.') })])
      expect(live.current.pipelines.get('p')?.summary).to.equal('again.')
    })
  })
})
