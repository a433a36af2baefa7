import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'chai'
import { run } from '../../../engine/cli/main.ts'
import { printDiagnostic } from '../../../engine/config/diagnostics.ts'
import { startFolder } from '../../support/folder.ts'
import type { FolderGateway } from '../../support/folder.ts'
import { postgres } from '../../support/services.ts'
import { until } from '../../support/until.ts'
import { scriptedUpstream } from '../../support/upstream.ts'
import type { ScriptedUpstream } from '../../support/upstream.ts'
import { chatAnswer } from '../../service/streams.ts'

const question = (model = 'first') => ({ model, messages: [{ role: 'user', content: 'Hi' }] })

describe('a service of an outsider', function () {
  this.timeout(300_000)
  let upstream: ScriptedUpstream
  let gateway: FolderGateway
  let plugin: string

  async function start(database: object): Promise<void> {
    plugin = await readFile(join(import.meta.dirname, 'plugin.ts'), 'utf8')
    const pipelines = await readFile(join(import.meta.dirname, 'pipelines.yaml'), 'utf8')
    upstream = await scriptedUpstream()
    upstream.answer({ body: chatAnswer })
    gateway = await startFolder(
      {
        ...database,
        providers: [{ name: 'far', type: 'compatible', base_url: upstream.url, api_key: 'key-of-far' }],
        models: [
          { name: 'first', provider: 'far', fallbacks: ['second'] },
          { name: 'second', provider: 'far' },
        ],
      },
      { 'plugins/purse.ts': plugin, 'pipelines/acme.yaml': pipelines },
    )
  }

  const statusOf = async (path: string, model?: string) => {
    const response = await gateway.ask(path, question(model))
    await response.bytes()
    return response.status
  }
  const purse = async () => {
    const rows = await gateway.engine.database.rows<{ spent: number; held: number }>('select spent, held from purse')
    return rows.map(({ spent, held }) => ({ spent, held }))
  }
  /**
   * What is told of each credit that was settled: the end of its note, and whether it was spent.
   * A row is appended after the purse has changed, so that it is waited for.
   */
  const entries = async (count: number) => {
    const told: string[] = []
    await until(async () => {
      await gateway.engine.flush()
      const statement = 'select id, credits from purse_entries order by id'
      const rows = await gateway.engine.database.rows<{ id: string; credits: number }>(statement)
      told.splice(0, told.length, ...rows.map(({ id, credits }) => `${id.split(' ')[1]}: ${credits}`))
      return told.length >= count
    })
    return told
  }
  /** Sets the section, and says what is wrong with it. */
  const limits = async (limits: object) => {
    await gateway.configure({ server_config: { limits } })
    return (await gateway.engine.live.reload()).map(printDiagnostic)
  }
  const settled = (spent: number) =>
    until(async () => JSON.stringify(await purse()) === JSON.stringify([{ spent, held: 0 }]))
  /** Answers the next request only when it is told to. */
  const heldUpstream = () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    upstream.answer(() => promise.then(() => ({ body: chatAnswer })))
    return resolve
  }

  function contract(): void {
    it('lets nobody spend more than there is, however many ask at once', async () => {
      await limits({ credits: 5 })
      const statuses = await Promise.all(Array.from({ length: 20 }, () => statusOf('/acme/held')))
      expect(statuses.filter((status) => status === 200)).to.have.length(5)
      expect(statuses.filter((status) => status === 429)).to.have.length(15)
      await settled(5)
      expect(await entries(5)).to.deep.equal(Array.from({ length: 5 }, () => 'all: 1'))
    })

    it('gives back what a request took that failed, and at a failed try before the next one begins', async () => {
      await limits({ credits: 2, at_once: 1 })
      upstream.answer({ status: 401, body: {} })
      expect(await statusOf('/acme/held', 'second')).to.equal(502)
      await settled(0)
      const heldAt: number[] = []
      upstream.answer({ status: 500, body: {} }, async () => {
        heldAt.push(...(await purse()).map(({ held }) => held))
        return { body: chatAnswer }
      })
      expect(await statusOf('/acme/tried')).to.equal(200)
      await settled(1)
      expect(heldAt).to.deep.equal([1])
      expect((await entries(3)).sort()).to.deep.equal(['all: 0', 'first: 0', 'second: 1'])
    })

    it('shares its count with exchanges of an older configuration, and of an older declaration', async () => {
      const answer = heldUpstream()
      const old = statusOf('/acme/held')
      await upstream.received(1)
      upstream.answer({ body: chatAnswer })
      expect(await limits({ credits: 2, at_once: 1 })).to.deep.equal([])
      expect(await statusOf('/acme/held')).to.equal(200)
      expect(await statusOf('/acme/held')).to.equal(429)
      await gateway.write('plugins/purse.ts', `${plugin}// changed\n`)
      expect(await gateway.engine.live.reload()).to.deep.equal([])
      expect(await statusOf('/acme/held')).to.equal(429)
      expect(gateway.lines.join()).to.not.include('purse closed')
      answer()
      expect(await old).to.equal(200)
      await settled(2)
      await until(() => gateway.lines.join().includes('purse closed'))
      expect(gateway.lines.join()).to.include('purse of 3 closed').and.include('purse of 2 closed')
    })

    it('keeps its rows while their table is away, says so, and holds up nobody else', async () => {
      await limits({ credits: 5 })
      const { database } = gateway.engine
      const degraded = async () => {
        const response = await fetch(`${gateway.url}/api/health`)
        return ((await response.json()) as { readonly degraded: readonly string[] }).degraded
      }
      await database.rows('alter table purse_entries rename to purse_elsewhere')
      expect(await statusOf('/acme/held')).to.equal(200)
      await until(async () => (await degraded()).length > 0)
      expect(await degraded()).to.deep.equal(['purse'])
      await until(async () => (await database.rows('select id from requests')).length > 0)
      await database.rows('alter table purse_elsewhere rename to purse_entries')
      expect(await entries(1)).to.have.length(1)
      expect(await degraded()).to.deep.equal([])
    })

    it('follows its settings only once they are live, and refuses them at their place', async () => {
      expect(await limits({ credits: 1, at_once: 2 })).to.have.length(1)
      const [finding] = await limits({ credits: 1, at_once: 2 })
      expect(finding).to.match(/^sluice\.yaml:\d+:\d+: there are fewer credits than that \[service\]$/)
      expect(await limits({ credit: 1 })).to.satisfy(([line = '']) => line.includes('did you mean "credits"?'))
      expect(await limits({ credits: 1_000, at_once: 101 })).to.deep.equal([])
      const { body } = await gateway.ready()
      expect(body).to.deep.include({ degraded: ['purse'] })
    })

    it('is refused with a migration that fails, by the name of its file', async () => {
      const migration = "{ name: '9-late', up: () => Promise.reject(new Error('no ink')) }"
      const broken = plugin.replace('migrations: [', `migrations: [${migration}, `)
      await gateway.write('plugins/purse.ts', broken)
      const [finding, ...others] = (await gateway.engine.live.reload()).map(printDiagnostic)
      expect(finding).to.contain(
        'the service "purse" of plugins/purse.ts cannot be opened: the migration "9-late" failed: no ink [service]',
      )
      expect(others).to.deep.equal([])
      expect(await statusOf('/acme/tried')).to.equal(200)
    })

    it('has a command of its own, which sees what a running gateway has written', async () => {
      await limits({ credits: 5 })
      const say = async (...words: readonly string[]) => {
        const said: string[] = []
        const tell = (text: string) => said.push(text)
        const { folder } = gateway
        const style = (format: string, text: string) => `${format} ${text}`
        const terminal = { environment: {}, folder, interactive: false, out: tell, error: tell, style }
        const status = await run(['--config', 'sluice.yaml', ...words], terminal)
        return { status, said: said.join('\n') }
      }
      expect(await say('purse', 'show')).to.deep.equal({ status: 1, said: 'Nothing was spent.' })
      expect(await statusOf('/acme/held')).to.equal(200)
      await settled(1)
      expect(await say('purse', 'show')).to.deep.equal({ status: 0, said: 'file:test: 1' })
      const one = await say('--json', 'purse', 'show', 'file:test', '--at-least', '1')
      expect(one).to.deep.equal({ status: 0, said: '{"key_id":"file:test","spent":1}' })
      expect(await say('purse', 'show', '--at-least', '2')).to.deep.equal({ status: 1, said: 'Nothing was spent.' })
      expect(await say('purse', 'show', 'x', '--at-least=-1')).to.deep.equal({
        status: 2,
        said: 'sluice: --key must have at least 3 characters\n--at-least must be at least 0',
      })
      expect(await say('purse', 'show', 'nobody')).to.deep.equal({ status: 2, said: 'sluice: nobody has no purse' })
      expect((await say('purse', 'shw')).status).to.equal(2)
      const { said } = await say('--help')
      expect(said).to.include('purse').and.include('serve')
      expect((await say('purse', 'show', '--help')).said).to.include('--at-least <at_least>')
      expect((await say('purse', 'list', '-l', '1')).said).to.equal('key        spent\nfile:test  1')
      expect(await say('purse', 'list', '-sl', '1')).to.deep.equal({ status: 0, said: 'bold 1 key' })
      expect((await say('purse', 'list')).status).to.equal(2)
      expect((await say('purse', 'list', '--help')).said).to.include('-l, --least <credits>')
      expect((await say('purse', '--help')).said).to.include('Look into purses.')
    })

    it('frees a place before a slow end', async () => {
      await limits({ at_once: 1 })
      const first = await statusOf('/acme/inside')
      // The first is still in its "finally".
      const second = await statusOf('/acme/inside')
      expect([first, second]).to.deep.equal([200, 200])
      const answer = heldUpstream()
      const third = statusOf('/acme/inside')
      await upstream.received(3)
      expect(await statusOf('/acme/inside')).to.equal(429)
      answer()
      expect(await third).to.equal(200)
      await until(() => process.listenerCount('purse-gate') === 4)
      process.emit('purse-gate' as never)
      await until(async () => {
        await gateway.engine.flush()
        const rows = await gateway.engine.database.rows(`select id from requests where type = 'inside'`)
        return rows.length === 4
      })
    })
  }

  describe('on SQLite', () => {
    beforeEach(() => start({}))
    afterEach(end)
    contract()
  })

  describe('on PostgreSQL', () => {
    beforeEach(async function () {
      const { url } = await postgres(this)
      await start({ database: { url } })
    })
    afterEach(end)
    contract()
  })

  async function end(): Promise<void> {
    process.emit('purse-gate' as never)
    await gateway?.close()
    await upstream?.close()
  }
})
