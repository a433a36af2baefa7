import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { printDiagnostic } from '../../../engine/config/diagnostics.ts'
import { callAt, refusalAt, startFolder } from '../../support/folder.ts'
import { recordStages } from '../../support/record-stages.ts'
import type { FolderGateway } from '../../support/folder.ts'
import { postgres } from '../../support/services.ts'

type Body = Record<string, unknown>

describe('stored sections of the settings', function () {
  this.timeout(300_000)
  let database: object
  let gateway: FolderGateway
  let files: Record<string, string>

  const catalog = {
    providers: [{ name: 'echo', type: 'echo' }],
    models: [{ name: 'echo', provider: 'echo' }],
    server_config: { keepalive: { sse_interval: '20s' } },
  }
  const environment = { SLUICE_SECRET: 'a-secret-of-all-processes' }
  const start = (more: object = {}, given: Record<string, string> = files, variables: object = {}) =>
    startFolder({ database, ...catalog, ...more }, given, { ...environment, ...variables })

  const call = (method: string, path: string, body?: unknown, headers = {}, to = gateway) =>
    callAt(to, `${method} ${path}`, body, headers)
  const refusal = (method: string, path: string, body?: unknown, headers = {}) =>
    refusalAt(gateway, `${method} ${path}`, body, headers)
  const change = (body: object, name = 'manners', headers = {}) => call('PATCH', `settings/${name}`, body, headers)
  const greeting = async (token = '', to = gateway) =>
    (await call('GET', `greet?token=${token}`, undefined, {}, to)).value as unknown as string
  const rows = <R>(statement: string) => gateway.engine.database.rows<R>(statement)
  const until = async (condition: () => boolean | Promise<boolean>) => {
    while (!(await condition())) await new Promise((resolve) => setTimeout(resolve, 5))
  }
  const reload = async (more: object) => {
    await gateway.configure(more)
    return (await gateway.engine.live.reload()).map(printDiagnostic)
  }

  async function prepare(): Promise<void> {
    const read = (name: string) => readFile(join(import.meta.dirname, name), 'utf8')
    files = {
      ...recordStages,
      'plugins/manners.ts': await read('plugin.ts'),
      'pipelines/settings.yaml': await read('pipelines.yaml'),
      'pipelines/greet.yaml': await read('greet.yaml'),
    }
    gateway = await start()
  }

  function suite(): void {
    before(prepare)
    after(() => gateway.close())

    it('are there by default or as the file has them, with what a form is drawn of', async () => {
      const { value, headers } = await call('GET', 'settings/manners')
      const { schema, ...rest } = value
      expect(rest).to.deep.equal({
        section: 'manners',
        values: { word: 'Hello', times: 1, bye: 'Bye' },
        defaults: { word: 'Hello', times: 1, bye: 'Bye' },
        overridden: {},
        source: 'default',
        version: null,
        updated_at: null,
        updated_by: null,
        problem: null,
      })
      expect(headers.get('etag')).to.equal(null)
      expect((schema as { properties: object }).properties).to.have.all.keys('word', 'times', 'model', 'token', 'bye')
      const all = (await call('GET', 'settings')).value['data'] as Body[]
      const sources = Object.fromEntries(all.map(({ section, source }) => [section, source]))
      expect(sources).to.include({ keepalive: 'file', logging: 'default', manners: 'default' })
      expect(all.every((one) => !('schema' in one))).to.equal(true)
      const keepalive = await call('GET', 'settings/keepalive')
      expect(keepalive.value['declared_at']).to.have.property('file', 'sluice.yaml')
      expect(await refusal('PATCH', 'settings/keepalive', { sse_interval: '5s' })).to.equal(
        '409 declared_in_file: The section "keepalive" is declared in the configuration file: change it there.',
      )
      expect(await refusal('DELETE', 'settings/keepalive')).to.match(/^409 declared_in_file/)
      expect(await refusal('GET', 'settings/maners')).to.equal('404 not_found: There is no section "maners".')
      expect(await refusal('PATCH', 'settings/maners', { x: 1 })).to.match(/^404 not_found/)
    })

    it('are changed, live before it is answered, and read back', async () => {
      expect(await greeting()).to.equal('Hello: nobody. Bye')
      const changed = await change({ word: 'Moin', times: 2, bye: 'Tschüs' })
      const first = changed.value['version'] as number
      expect([first, changed.status, changed.headers.get('etag')]).to.deep.equal([1, 200, '"1"'])
      expect(changed.value).to.include({ source: 'database' })
      expect(changed.value['values']).to.deep.equal({ word: 'Moin', times: 2, bye: 'Tschüs' })
      expect(await greeting()).to.equal('Moin Moin: nobody. Tschüs')
      expect((await call('GET', 'settings/manners')).value).to.deep.include({ ...changed.value })
      const back = await change({ times: null }, 'manners', { 'if-match': `"${first}"` })
      const second = back.value['version'] as number
      expect(second).to.be.greaterThan(first)
      expect([back.status, back.value['values']]).to.deep.equal([200, { word: 'Moin', times: 1, bye: 'Tschüs' }])
      expect((await change({ word: 'Moin' })).value['version']).to.equal(second)
      expect(await refusal('PATCH', 'settings/manners', { times: 5 }, { 'if-match': `"${first}"` })).to.equal(
        `412 stale_version: The section "manners" has changed: it is version ${second} now.`,
      )
      expect(await greeting()).to.equal('Moin: nobody. Tschüs')
    })

    it('are refused with everything that is wrong, by the service too, and then nothing is done', async () => {
      const { version } = (await call('GET', 'settings/manners')).value
      const wrong = await change({ times: 0, wrod: 'x', model: 'ecko' })
      expect(wrong.status).to.equal(422)
      expect(wrong.value['errors']).to.have.deep.members([
        { param: 'times', code: 'invalid_field', message: 'must be at least 1' },
        { param: 'wrod', code: 'unknown_field', message: 'unknown field "wrod"; did you mean "word"?' },
        { param: 'model', code: 'invalid_reference', message: 'no model named "ecko"; did you mean "echo"?' },
      ])
      const refused = await change({ word: 'Begone' })
      expect(refused.status).to.equal(422)
      expect(refused.value['errors']).to.deep.equal([
        { param: 'word', code: 'invalid_field', message: 'guests are not sent away' },
      ])
      expect(await refusal('PATCH', 'settings/manners', [1])).to.match(/^422/)
      expect(await greeting()).to.equal('Moin: nobody. Tschüs')
      expect((await call('GET', 'settings/manners')).value['version']).to.equal(version)
    })

    it('keep what is secret sealed, and show it to nobody', async () => {
      const { value, text } = await change({ token: 'the-token-of-friends' })
      expect(value['secrets']).to.deep.equal({ token: { set: true, hint: 'ends' } })
      expect(text).to.not.include('the-token-of-friends')
      expect(await greeting('the-token-of-friends')).to.equal('Moin, friend: nobody. Tschüs')
      const kept = await rows<{ value: string; sealed: number }>(`select value, sealed from records`)
      expect(kept.map(({ sealed }) => sealed)).to.deep.equal([1])
      expect(kept[0]?.value).to.not.include('token')
      expect((await change({ times: 2 })).value['secrets']).to.deep.equal(value['secrets'])
      expect(await greeting('the-token-of-friends')).to.equal('Moin Moin, friend: nobody. Tschüs')
      const removed = await change({ token: null, times: null })
      expect(removed.value).to.not.have.property('secrets')
      expect(gateway.lines.join()).to.not.include('the-token-of-friends')
    })

    it('belong to the engine, too: a level of logging holds at once', async () => {
      const { value } = await change({ level: 'error' }, 'logging')
      expect(value['values']).to.include({ level: 'error' })
      const before = gateway.lines.length
      expect(await reload({})).to.deep.equal([])
      expect(gateway.lines.length).to.equal(before)
      expect((await call('DELETE', 'settings/logging')).status).to.equal(204)
      expect(await reload({})).to.deep.equal([])
      expect(gateway.lines.length).to.be.greaterThan(before)
    })

    it('name records, which stay as long as they do', async () => {
      const model = await call('POST', 'models', { name: 'host', provider: 'echo' })
      expect(model.status, model.text).to.equal(201)
      expect((await change({ model: 'host' })).status).to.equal(200)
      expect(await greeting()).to.equal('Moin: host. Tschüs')
      expect(await refusal('DELETE', 'models/host')).to.equal(
        '409 in_use: The model "host" is in use: section "manners" (database) needs it.',
      )
      await change({ model: null })
      expect((await call('DELETE', 'models/host')).status).to.equal(204)
    })

    it('have their defaults again when they are reset, once and for all processes', async () => {
      const other = await start()
      try {
        expect(await greeting('', other)).to.equal('Moin: nobody. Tschüs')
        const last = (await call('GET', 'settings/manners')).value['version'] as number
        expect((await call('DELETE', 'settings/manners')).status).to.equal(204)
        expect(await greeting()).to.equal('Hello: nobody. Bye')
        expect((await call('GET', 'settings/manners')).value).to.include({ source: 'default', version: null })
        expect(await refusal('PATCH', 'settings/manners', { times: 2 }, { 'if-match': '"1"' })).to.match(
          /^412 stale_version/,
        )
        await until(async () => (await greeting('', other)) === 'Hello: nobody. Bye')
        expect((await call('DELETE', 'settings/manners')).status).to.equal(204)
        const again = await call('PATCH', 'settings/manners', { word: 'Moin' }, {}, other)
        expect([again.status, again.headers.get('etag')]).to.deep.equal([200, `"${last + 1}"`])
        expect((await call('DELETE', 'settings/manners', undefined, {}, other)).status).to.equal(204)
      } finally {
        await other.close()
      }
      const lines = await rows<{ line: string }>('select line from greeting_log')
      const ofManners = lines.map(({ line }) => line).filter((line) => line.includes('section manners'))
      expect(ofManners[0]).to.equal('test: change section manners "Hello">"Moin"')
      expect(ofManners.at(-1)).to.equal('test: delete section manners "Moin">"Hello"')
    })

    it('keep a file from taking them; at a start the file has the last word, and they are mended', async () => {
      await change({ word: 'Ahoy' })
      const server_config = { ...catalog.server_config, manners: { word: 'Servus' } }
      expect(await reload({ server_config })).to.deep.equal([
        'section "manners" (database): the file declares server_config.manners too [duplicate]',
      ])
      expect(await greeting()).to.equal('Ahoy: nobody. Bye')
      await gateway.close()
      gateway = await start({ server_config })
      expect(await greeting()).to.equal('Servus: nobody. Bye')
      const { value } = await call('GET', 'settings/manners')
      expect(value).to.include({ source: 'database' })
      expect(value['problem']).to.match(/^section "manners" is left out: .*the file declares server_config.manners/)
      expect(gateway.lines.some((line) => line.includes('section \\"manners\\" is left out'))).to.equal(true)
      expect((await gateway.ready()).body.status).to.equal('degraded')
      expect((await call('DELETE', 'settings/manners')).status).to.equal(204)
      expect((await call('GET', 'settings/manners')).value).to.include({ source: 'file', problem: null })
      expect((await gateway.ready()).body.status).to.equal('ok')
    })

    it('are left out while nobody owns them, or while they are refused, and show nothing then', async () => {
      await gateway.close()
      gateway = await start()
      await change({ word: 'Ahoy', token: 'the-token-of-friends' })
      await gateway.close()
      const { 'pipelines/settings.yaml': settings = '' } = files
      gateway = await start({}, { ...recordStages, 'pipelines/settings.yaml': settings })
      const strange = await call('GET', 'settings/manners')
      expect(strange.value['problem']).to.match(/there is no section "manners"/)
      expect(strange.value['values']).to.deep.equal({})
      expect(strange.text + gateway.lines.join())
        .to.not.include('Ahoy')
        .and.not.include('the-token')
      await gateway.close()
      const { 'plugins/manners.ts': plugin = '' } = files
      gateway = await start({}, { ...files, 'plugins/manners.ts': plugin.replace('Begone', 'Ahoy') })
      expect(await greeting()).to.equal('Hello: nobody. Bye')
      expect((await call('GET', 'settings/manners')).value['problem']).to.match(/word: guests are not sent away/)
      const mended = await change({ word: 'Moin' })
      expect(mended.value).to.include({ problem: null, source: 'database' })
      expect(await greeting('the-token-of-friends')).to.equal('Moin, friend: nobody. Bye')
      await call('DELETE', 'settings/manners')
    })

    it('do not go before the environment', async () => {
      await gateway.close()
      gateway = await start({}, files, { LOG_LEVEL: 'warn' })
      const { value } = await change({ level: 'trace' }, 'logging')
      expect(value['values']).to.include({ level: 'warn' })
      expect(value['overridden']).to.deep.equal({ level: 'LOG_LEVEL' })
      await call('DELETE', 'settings/logging')
    })
  }

  describe('in SQLite', () => {
    let folder: string
    before(async () => {
      folder = await mkdtemp(join(tmpdir(), 'sluice-sections-'))
      database = { url: `sqlite:${join(folder, 'sluice.db')}` }
    })
    suite()
    after(() => rm(folder, { recursive: true }))
  })

  describe('in PostgreSQL', () => {
    before(async function () {
      database = { url: (await postgres(this)).url }
    })
    suite()
  })
})
