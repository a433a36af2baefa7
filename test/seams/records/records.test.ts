import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { printDiagnostic } from '../../../engine/config/diagnostics.ts'
import { callAt, refusalAt, startFolder } from '../../support/folder.ts'
import { recordStages } from '../../support/record-stages.ts'
import type { FolderGateway } from '../../support/folder.ts'
import { postgres } from '../../support/services.ts'
import { until } from '../../support/until.ts'
import { scriptedUpstream } from '../../support/upstream.ts'
import type { ScriptedUpstream } from '../../support/upstream.ts'
import { chatAnswer } from '../../service/streams.ts'

type Body = Record<string, unknown>

describe('records of an outsider', function () {
  this.timeout(300_000)
  let database: object
  let upstream: ScriptedUpstream
  let gateway: FolderGateway
  let files: Record<string, string>

  const catalog = {
    providers: [{ name: 'echo', type: 'echo' }],
    models: [{ name: 'echo', provider: 'echo' }],
    teams: [{ name: 'staff', model: 'echo', token: 'token-of-the-staff' }],
  }
  const secret = { SLUICE_SECRET: 'a-secret-of-both-processes' }
  const start = (more: object = {}) => startFolder({ database, ...catalog, ...more }, files, secret)

  async function prepare(): Promise<void> {
    files = {
      ...recordStages,
      'plugins/teams.ts': await readFile(join(import.meta.dirname, 'plugin.ts'), 'utf8'),
      'pipelines/teams.yaml': await readFile(join(import.meta.dirname, 'pipelines.yaml'), 'utf8'),
    }
    upstream = await scriptedUpstream()
    upstream.answer({ body: chatAnswer })
    gateway = await start()
  }
  async function finish(): Promise<void> {
    await gateway.close()
    await upstream.close()
  }

  const call = (method: string, path: string, body?: unknown, headers = {}, to = gateway) =>
    callAt(to, `${method} ${path}`, body, headers)
  const refusal = (method: string, path: string, body?: unknown, headers = {}) =>
    refusalAt(gateway, `${method} ${path}`, body, headers)
  const names = async (path: string, to = gateway) =>
    ((await call('GET', path, undefined, {}, to)).value['data'] as { name: string }[]).map(({ name }) => name)
  const rows = <R>(statement: string) => gateway.engine.database.rows<R>(statement)
  const reload = async (more: object) => {
    await gateway.configure(more)
    return (await gateway.engine.live.reload()).map(printDiagnostic)
  }

  function suite() {
    before(prepare)
    after(finish)

    it('are shown where they are declared, without what is secret, and cannot be changed there', async () => {
      const { status, value, headers } = await call('GET', 'teams/staff')
      expect(status).to.equal(200)
      expect(value).to.deep.equal({
        name: 'staff',
        model: 'echo',
        size: 1,
        secrets: { token: { set: true, hint: 'taff' } },
        source: 'file',
        declared_at: { file: 'sluice.yaml', line: 15 },
        version: null,
        problem: null,
      })
      expect(headers.get('etag')).to.equal(null)
      const declared = '409 declared_in_file: The team "staff" is declared in the configuration file: change it there.'
      expect(await refusal('PATCH', 'teams/staff', { size: 2 })).to.equal(declared)
      expect(await refusal('DELETE', 'teams/staff')).to.equal(declared)
      expect(await refusal('POST', 'teams', { name: 'staff', model: 'echo' })).to.equal(declared)
    })

    it('are made, shown, changed and deleted, each live before it is answered', async () => {
      const made = await call('POST', 'teams', { name: 'red/one', model: 'echo', size: 3, token: 'a-token-of-red-one' })
      expect([made.status, made.headers.get('location'), made.headers.get('etag')]).to.deep.equal([
        201,
        '/api/teams/red%2Fone',
        '"1"',
      ])
      expect(made.value).to.include({ name: 'red/one', size: 3, source: 'database', version: 1, problem: null })
      expect(made.value['secrets']).to.deep.equal({ token: { set: true, hint: '-one' } })
      expect((await call('GET', 'teams/red%2Fone/model')).value).to.equal('echo')
      const changed = await call('PATCH', 'teams/red%2Fone', { size: null, parent: 'staff' }, { 'if-match': '"1"' })
      expect(changed.value).to.include({ size: 1, parent: 'staff', version: 2 })
      const same = await call('PATCH', 'teams/red%2Fone', { parent: 'staff' })
      expect([same.status, same.headers.get('etag')]).to.deep.equal([200, '"2"'])
      expect(await refusal('PATCH', 'teams/red%2Fone', { size: 9 }, { 'if-match': '"1"' })).to.equal(
        '412 stale_version: The team "red/one" has changed: it is version 2 now.',
      )
      expect(await names('teams?source=database')).to.deep.equal(['red/one'])
      expect((await call('DELETE', 'teams/red%2Fone')).status).to.equal(204)
      expect(await refusal('GET', 'teams/red%2Fone')).to.equal('404 not_found: There is no team "red/one".')
      expect(await refusal('DELETE', 'teams/red%2Fone')).to.equal('404 not_found: There is no team "red/one".')
      const lines = await rows<{ line: string }>('select line from diary')
      expect(lines.map(({ line }) => line)).to.deep.equal([
        'test: create team red/one ->3',
        'test: change team red/one 3>1',
        'test: delete team red/one 1>-',
      ])
    })

    it('are read by services with what is secret in them, declared and stored', async () => {
      const knock = async (name: string, token: string) =>
        (await call('GET', `teams/${name}/door?token=${token}`)).value as Body
      expect(await knock('staff', 'token-of-the-staff')).to.deep.equal({ opens: true, open: [] })
      await call('POST', 'teams', { name: 'guests', model: 'echo' })
      expect((await knock('staff', 'x'))['open']).to.deep.equal(['guests'])
      await call('PATCH', 'teams/guests', { token: 'token-of-the-guests' })
      expect(await knock('guests', 'token-of-the-guests')).to.deep.equal({ opens: true, open: [] })
      expect((await call('DELETE', 'teams/guests')).status).to.equal(204)
      expect(await knock('guests', 'token-of-the-guests')).to.deep.equal({ opens: false, open: [] })
    })

    it('count their own changes from 1, in every process, and continue after a deleted one of their name', async () => {
      const other = await start()
      try {
        const tagOf = async (method: string, path: string, body?: object, to = gateway) =>
          (await call(method, path, body, {}, to)).headers.get('etag')
        expect(await tagOf('POST', 'teams', { name: 'first', model: 'echo' })).to.equal('"1"')
        expect(await tagOf('POST', 'teams', { name: 'second', model: 'echo' }, other)).to.equal('"1"')
        expect(await tagOf('PATCH', 'teams/first', { size: 4 }, other)).to.equal('"2"')
        for (const [version, to] of [gateway, other].entries()) {
          expect((await call('DELETE', 'teams/first', undefined, {}, to)).status).to.equal(204)
          const again = version === 0 ? other : gateway
          expect(await tagOf('POST', 'teams', { name: 'first', model: 'echo' }, again)).to.equal(`"${version + 3}"`)
        }
        expect(await rows("select name from deleted_records where name in ('first', 'second')")).to.deep.equal([])
        for (const name of ['first', 'second']) await call('DELETE', `teams/${name}`)
        const left = `select name, version from deleted_records where name in ('first', 'second') order by name`
        expect(await rows(left)).to.deep.equal([
          { name: 'first', version: 4 },
          { name: 'second', version: 1 },
        ])
      } finally {
        await other.close()
      }
    })

    it('serve at once: a provider and a model that were just made', async () => {
      const config = { base_url: upstream.url, api_key: 'key-of-the-far-provider' }
      const far = { name: 'far', type: 'compatible', config, allow_private: true }
      const provider = await call('POST', 'providers', far)
      expect(provider.status, provider.text).to.equal(201)
      expect(provider.value['secrets']).to.deep.equal({ 'config.api_key': { set: true, hint: 'ider' } })
      expect(provider.text).to.not.include('key-of-the-far')
      const model = await call('POST', 'models', { name: 'distant', provider: 'far', upstream_model: 'big' })
      expect(model.status, model.text).to.equal(201)
      const answer = await gateway.ask('/v1/chat/completions', {
        model: 'distant',
        messages: [{ role: 'user', content: 'Hi' }],
      })
      expect(answer.status, await answer.text()).to.equal(200)
      expect(upstream.requests.at(-1)?.headers['authorization']).to.equal('Bearer key-of-the-far-provider')
      const kept = await rows<{ value: string }>('select value from records order by type')
      expect(kept.map(({ value }) => value).join())
        .to.include('distant')
        .and.not.include('key-of-the-far')
      expect(gateway.lines.join()).to.not.include('key-of-the-far')
      expect(await refusal('DELETE', 'providers/far')).to.equal(
        '409 in_use: The provider "far" is in use: model "distant" (database) needs it.',
      )
    })

    it('are refused with everything that is wrong, and then nothing is done', async () => {
      const { version } = gateway.engine.live.status
      const wrong = await call('POST', 'teams', { name: 'blue', model: 'ecko', parent: 'nobody', size: 0, colour: 1 })
      expect([wrong.status, wrong.value['error']]).to.deep.equal([
        422,
        {
          message: 'model: no model named "ecko"; did you mean "echo"?',
          type: 'invalid_request_error',
          param: 'model',
          code: 'invalid_reference',
        },
      ])
      expect(wrong.value['errors']).to.have.deep.members([
        { param: 'size', code: 'invalid_field', message: 'must be at least 1' },
        { param: 'colour', code: 'unknown_field', message: 'unknown field "colour"' },
        { param: 'model', code: 'invalid_reference', message: 'no model named "ecko"; did you mean "echo"?' },
        { param: 'parent', code: 'invalid_reference', message: 'no team named "nobody"' },
      ])
      expect(await refusal('POST', 'teams', { name: 'blue', model: 'echo', size: 200 })).to.equal(
        '422 invalid_field: size: 200 of 201 people are too many',
      )
      expect(await refusal('POST', 'teams', { model: 'echo' })).to.equal('422 missing_field: "name" is missing')
      expect(await refusal('POST', 'models', { name: 'm', provider: 'echo', aliases: ['echo'] })).to.match(
        /^409 name_taken: aliases\[0\]: the name "echo" is already taken/,
      )
      const provider = { name: 'p', type: 'compatible', config: { base_url: 'http://a.test', api_kee: 'x' } }
      expect((await call('POST', 'providers', provider)).value['errors']).to.deep.include({
        param: 'config.api_kee',
        code: 'unknown_field',
        message: 'unknown field "api_kee"; did you mean "api_key"?',
      })
      expect(await refusal('POST', 'teams', { name: 'nobody', model: 'echo' })).to.match(/^503 store_unavailable/)
      expect(await names('teams')).to.deep.equal(['staff'])
      expect(gateway.engine.live.status).to.deep.equal({ version })
    })

    it('have names that addresses can hold', async () => {
      for (const name of ['.', '..', '', 'a\u0000', 'a\nb', '\u0085', '\ud800', '\udc00a', '🐟'.repeat(257)]) {
        const { status, value } = await call('POST', 'signs', { name })
        const told = [status, value?.error?.code, (value?.error as Body | undefined)?.['param']]
        expect(told, JSON.stringify(name)).to.deep.equal([422, 'invalid_field', 'name'])
      }
      expect(await names('signs')).to.deep.equal([])
      for (const name of ['...', '.a', 'a/b ü%', '🐟'.repeat(256)]) {
        const made = await call('POST', 'signs', { name })
        expect(made.status, made.text).to.equal(201)
        expect((await call('GET', `signs/${encodeURIComponent(name)}`)).value['name']).to.equal(name)
        expect((await call('DELETE', `signs/${encodeURIComponent(name)}`)).status).to.equal(204)
      }
    })

    it('have the fields of their type in one place, wherever a body has them', async () => {
      const made = await call('POST', 'providers', { name: 'plain', type: 'moody', mood: 'calm' })
      expect([made.status, made.value['config']]).to.deep.equal([201, { mood: 'calm' }])
      const config = async (patch: object) => (await call('PATCH', 'providers/plain', patch)).value['config']
      expect(await config({ config: { mood: 'glad' } })).to.deep.equal({ mood: 'glad' })
      expect(await config({ mood: 'calm' })).to.deep.equal({ mood: 'calm' })
      const { query } = gateway.engine.database
      const value = JSON.stringify({ name: 'plain', type: 'moody', mood: 'old' })
      await query.updateTable('records').set({ value }).where('name', '=', 'plain').execute()
      expect(await config({ config: { mood: 'new' } })).to.deep.equal({ mood: 'new' })
      expect(await config({ mood: null })).to.deep.equal({ mood: 'good' })
      const refused = (body: object) => refusal('PATCH', 'providers/plain', body)
      expect(await refused({ mood: 'a', config: { mood: 'b' } })).to.equal(
        '422 invalid_field: config.mood stands beside "config", too.',
      )
      expect(await refused({ config: { type: 'echo' } })).to.equal(
        '422 invalid_field: config.type belongs beside "config".',
      )
      expect(await refused({ config: 5 })).to.equal('422 invalid_field: config must be an object.')
      expect((await call('DELETE', 'providers/plain')).status).to.equal(204)
    })

    it('are refused with a variable, which only files have', async () => {
      const reason = 'cannot contain "${": only the configuration file has variables.'
      expect(
        await refusal('POST', 'providers', { name: 'plain', type: 'moody', config: { mood: '${HOME}' } }),
      ).to.equal(`422 invalid_field: config.mood ${reason}`)
      expect(await refusal('POST', 'teams', { name: 'a', model: ['x', 'y ${HOME:-z}'] })).to.equal(
        `422 invalid_field: model[1] ${reason}`,
      )
      expect((await call('POST', 'providers', { name: 'plain', type: 'moody', mood: '$HOME' })).status).to.equal(201)
      expect(await refusal('PATCH', 'providers/plain', { mood: 'a ${' })).to.equal(`422 invalid_field: mood ${reason}`)
      expect((await call('DELETE', 'providers/plain')).status).to.equal(204)
    })

    it('are listed page by page', async () => {
      for (const name of ['c', 'a', 'b']) await call('POST', 'teams', { name, model: 'echo' })
      const first = await call('GET', 'teams?limit=2&sort=-name')
      expect((first.value['data'] as { name: string }[]).map(({ name }) => name)).to.deep.equal(['staff', 'c'])
      const rest = `teams?limit=2&sort=-name&cursor=${String(first.value['next_cursor'])}`
      expect(await names(rest)).to.deep.equal(['b', 'a'])
      expect((await call('GET', rest)).value['next_cursor']).to.equal(null)
      expect(await names('teams?sort=created_at')).to.deep.equal(['staff', 'c', 'a', 'b'])
      expect(await names('teams?search=STA')).to.deep.equal(['staff'])
      expect(await refusal('GET', `teams?sort=name&cursor=${String(first.value['next_cursor'])}`)).to.match(
        /^422 invalid_cursor/,
      )
      expect(await refusal('GET', 'teams?sizze=1')).to.match(/^422 unknown_field/)
      expect(await refusal('GET', 'teams?limit=0')).to.match(/^422 invalid_field/)
      for (const name of ['a', 'b', 'c']) await call('DELETE', `teams/${name}`)
    })

    it('are changed while the file on the disk is half edited, whose error stays', async () => {
      expect(await reload({ models: [{ name: 'echo' }] })).to.have.length(1)
      const { error } = gateway.engine.live.status
      expect(error).to.match(/"provider" is missing/)
      expect((await call('POST', 'teams', { name: 'green', model: 'echo' })).status).to.equal(201)
      expect((await call('GET', 'teams/green/model')).value).to.equal('echo')
      expect(gateway.engine.live.status.error).to.equal(error)
      expect(await reload({})).to.deep.equal([])
      expect((await call('GET', 'teams/green/model')).value).to.equal('echo')
    })

    it('keep a file from taking their name, and from dropping what they refer to', async () => {
      const model = { name: 'spare', provider: 'echo' }
      expect(await reload({ models: [...catalog.models, model] })).to.deep.equal([])
      await call('PATCH', 'teams/green', { model: 'spare' })
      expect(await reload({})).to.deep.equal(['team "green" (database): model: no model named "spare" [unknown-model]'])
      const teams = [...catalog.teams, { name: 'green', model: 'echo' }]
      expect(await reload({ models: [...catalog.models, model], teams })).to.deep.equal([
        'team "green" (database): name: the name "green" is already taken by the team number 2 [duplicate]',
      ])
      expect((await call('GET', 'teams/green/model')).value).to.equal('spare')
    })

    it('never keep a process from starting: they are left out, told, and mended', async () => {
      await call('POST', 'teams', { name: 'greener', model: 'echo', parent: 'green' })
      await gateway.close()
      // The file has neither the model that one refers to, nor leaves the name to another.
      gateway = await start()
      expect(await names('teams')).to.deep.equal(['green', 'greener', 'staff'])
      const { value } = await call('GET', 'teams/green')
      expect(value['problem']).to.match(/^team "green" is left out: .*no model named "spare"/)
      expect((await call('GET', 'teams/greener')).value['problem']).to.match(/no team named "green"/)
      expect((await call('GET', 'teams/green/model')).status).to.equal(404)
      expect(gateway.lines.filter((line) => line.includes('is left out'))).to.have.length(2)
      const health = async () => (await (await fetch(`${gateway.url}/api/health`)).json()) as { degraded?: unknown }
      expect(JSON.stringify(await health())).to.include('records')
      // What is left out holds up neither a reload nor another change.
      expect(await reload({})).to.deep.equal([])
      expect((await call('POST', 'teams', { name: 'other', model: 'echo' })).status).to.equal(201)
      const mended = await call('PATCH', 'teams/green', { model: 'echo' })
      expect([mended.status, mended.value['problem']]).to.deep.equal([200, null])
      expect((await call('GET', 'teams/greener')).value['problem']).to.equal(null)
      expect(JSON.stringify(await health())).to.not.include('records')
    })

    it('that cannot be opened are refused, and left out at a start; a process that runs goes on without', async () => {
      const config = { mood: 'bad' }
      expect((await call('POST', 'providers', { name: 'moody', type: 'moody', config })).value['errors']).to.deep.equal(
        [
          {
            param: 'config.mood',
            code: 'invalid_field',
            message: 'the provider "moody" cannot be opened: it does not feel like it',
          },
        ],
      )
      expect((await call('POST', 'providers', { name: 'moody', type: 'moody', config: {} })).status).to.equal(201)
      // As a process with another version of the plugin would.
      const { query } = gateway.engine.database
      const value = JSON.stringify({ name: 'moody', type: 'moody', config })
      await query.updateTable('records').set({ value }).where('name', '=', 'moody').execute()
      await query
        .updateTable('record_revision')
        .set(({ eb }) => ({ revision: eb('revision', '+', 1) }))
        .execute()
      await until(async () => (await gateway.ready()).body.status === 'degraded')
      expect(gateway.lines.join()).to.match(/moody.*does not feel like it/)
      expect((await call('GET', 'teams/staff')).status).to.equal(200)
      await gateway.close()
      gateway = await start()
      expect((await call('GET', 'providers?search=moody')).text).to.include('does not feel like it')
      expect((await call('DELETE', 'providers/moody')).status).to.equal(204)
      expect((await gateway.ready()).body.status).to.equal('ok')
    })

    it('whose secrets were sealed with another master secret are left out, with what needs them', async () => {
      const stranger = await startFolder({ database, ...catalog }, files, {
        SLUICE_SECRET: 'another-secret-altogether',
      })
      try {
        const { value } = await call('GET', 'providers', undefined, {}, stranger)
        const far = (value['data'] as { name: string; problem: string | null }[]).find(({ name }) => name === 'far')
        expect(far?.problem).to.match(/sealed with another master secret/)
        expect(stranger.lines.join()).to.match(/model \\"distant\\" is left out.*no provider named/)
      } finally {
        await stranger.close()
      }
    })

    it('are followed by other processes, and two that change at once never contradict each other', async () => {
      const other = await start()
      try {
        for (let round = 0; round < 4; round++) {
          await call('POST', 'teams', { name: 'base', model: 'echo' })
          await until(async () => (await names('teams', other)).includes('base'))
          const [deleted, added] = await Promise.all([
            call('DELETE', 'teams/base'),
            call('POST', 'teams', { name: 'child', model: 'echo', parent: 'base' }, {}, other),
          ])
          const ended = `${deleted.status} ${added.status}`
          expect(['204 422', '409 201'], `${deleted.text} ${added.text}`).to.include(ended)
          const there = ended === '409 201'
          await until(async () => (await names('teams')).includes('child') === there)
          await until(async () => (await names('teams', other)).includes('base') === there)
          if (there)
            for (const name of ['child', 'base']) expect((await call('DELETE', `teams/${name}`)).status).to.equal(204)
          await until(async () => !(await names('teams', other)).includes('base'))
        }
        expect(other.engine.live.status.version.split('-')[1]).to.equal(
          gateway.engine.live.status.version.split('-')[1],
        )
      } finally {
        await other.close()
      }
    })
  }

  describe('in SQLite', () => {
    let folder: string
    before(async () => {
      folder = await mkdtemp(join(tmpdir(), 'sluice-records-'))
      database = { url: `sqlite:${join(folder, 'sluice.db')}` }
    })
    suite()
    after(() => rm(folder, { recursive: true }))
  })

  describe('in PostgreSQL', () => {
    before(async function () {
      const service = await postgres(this)
      database = { url: service.url }
    })
    suite()
  })
})
