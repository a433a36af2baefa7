import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { run } from '../../../engine/cli/main.ts'
import { startGateway } from '../../support/gateway.ts'
import type { RunningGateway } from '../../support/gateway.ts'
import { scriptedUpstream } from '../../support/upstream.ts'
import type { ScriptedUpstream } from '../../support/upstream.ts'
import type { RequestsTable } from '../../../plugins/request-log/table.ts'
import { tablesOf } from '../../support/tables.ts'
import { until } from '../../support/until.ts'
import { root } from '../../engine/cli/sandbox.ts'
import type { Ran } from '../../engine/cli/sandbox.ts'

describe('plugins/request-log/logs', () => {
  let folder: string
  let upstream: ScriptedUpstream
  let gateway: RunningGateway
  const ids: Record<string, string> = {}

  const terminal = (out: string[], error: string[]) => ({
    environment: {},
    folder: root,
    interactive: false,
    out: (text: string) => void out.push(...text.split('\n')),
    error: (text: string) => void error.push(...text.split('\n')),
    style: (_: unknown, text: string) => text,
  })
  const sluice = async (...words: string[]): Promise<Ran> => {
    const out: string[] = []
    const error: string[] = []
    const status = await run([...words, '--config', join(folder, 'sluice.yaml')], terminal(out, error))
    return { status, out, error }
  }
  const ask = async (name: string, model: string, headers: Record<string, string> = {}) => {
    const messages = [{ role: 'user', content: 'Hello' }]
    const answer = await gateway.post('/v1/chat/completions', { model, messages }, headers)
    await answer.text()
    ids[name] = answer.headers.get('x-request-id') ?? ''
    await gateway.row(({ id }) => id === ids[name])
  }

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sluice-logs-'))
    upstream = await scriptedUpstream()
    gateway = await startGateway({
      folder,
      providers: [
        { name: 'echo', type: 'echo' },
        { name: 'far', type: 'compatible', base_url: upstream.url },
      ],
      models: [
        { name: 'echo', provider: 'echo', pricing: { input: 1, output: 2 } },
        { name: 'small', provider: 'far', fallbacks: ['echo'] },
        { name: 'alone', provider: 'far' },
      ],
    })
    await ask('good', 'echo', { 'x-request-id': 'mine-1' })
    upstream.answer({ status: 503, body: { error: { message: 'busy' } } })
    await ask('fell-back', 'small')
    upstream.answer({ status: 400, body: { error: { message: 'no' } } })
    await ask('refused', 'alone')
    await ask('unknown', 'nothing')
  })
  after(async () => {
    await gateway.close()
    await upstream.close()
    await rm(folder, { recursive: true, force: true })
  })

  it('prints a line per request, the newest last', async () => {
    const { status, out } = await sluice('logs')
    expect(status).to.equal(0)
    expect(out).to.have.length(4)
    expect(out[0]).to.match(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d 200 chat +test +echo at echo +\d+ \+ \d+ +\$0\.0\d+ +\d/)
    expect(out[1]).to.contain('small -> echo at echo')
    expect(out[2]).to.match(/ 400 chat .*upstream_rejected$/)
    expect(out[3]).to.match(/ 404 chat .*model_not_found$/)
    for (const [index, name] of ['good', 'fell-back', 'refused', 'unknown'].entries())
      expect(out[index]).to.contain(ids[name])
  })

  it('takes filters', async () => {
    const shown = async (...words: string[]) =>
      (await sluice('logs', '--json', ...words)).out.map((line) => (JSON.parse(line) as { id: string }).id)
    expect(await shown('--limit', '2')).to.deep.equal([ids['refused'], ids['unknown']])
    expect(await shown('--status', '4xx')).to.deep.equal([ids['refused'], ids['unknown']])
    expect(await shown('--status', '404')).to.deep.equal([ids['unknown']])
    expect(await shown('--failed')).to.deep.equal([ids['refused'], ids['unknown']])
    expect(await shown('--model', 'small')).to.deep.equal([ids['fell-back']])
    expect(await shown('--model', 'echo')).to.deep.equal([ids['good'], ids['fell-back']])
    expect(await shown('--provider', 'far')).to.deep.equal([ids['refused']])
    expect(await shown('--key', 'test')).to.have.length(4)
    expect(await shown('--key', 'nobody')).to.deep.equal([])
    expect(await shown('--type', 'messages')).to.deep.equal([])
    expect(await shown('--since', '1h')).to.have.length(4)
    expect(await shown('--since', '2999-01-01')).to.deep.equal([])
  })

  it('says so where there is nothing to show', async () => {
    const none = { status: 0, out: ['There is no matching request in the log.'] }
    expect(await sluice('logs', '--provider', 'nobody')).to.deep.include(none)
    expect(await sluice('logs', '--provider', 'nobody', '--json')).to.deep.include({ status: 0, out: [] })
  })

  it('refuses filters that mean nothing', async () => {
    for (const words of [
      ['--status', 'bad'],
      ['--limit', 'many'],
      ['--since', 'soon'],
    ]) {
      const { status, error } = await sluice('logs', ...words)
      expect(status).to.equal(2)
      expect(error.join()).to.contain(words[0])
    }
  })

  it('tells everything about one: tries, times and what it cost', async () => {
    const { status, out } = await sluice('logs', ids['fell-back'] ?? '')
    expect(status).to.equal(0)
    const text = out.join('\n')
    expect(text).to.match(/asked for +small/)
    expect(text).to.match(/served by +small -> echo at echo/)
    expect(text).to.match(/tries\n +small +far +upstream_error/)
    expect(text).to.match(/times\n(.*\n)* +upstream +[\d.]+ ms +#/)
    expect(text).to.match(/ended +200, completed/)
    expect(text).to.match(/pipeline +chat-completions/)
  })

  it('tells which other exchanges were a part of one', async () => {
    const query = tablesOf(gateway.engine.database)
    const row = await query
      .selectFrom('requests')
      .selectAll()
      .where('id', '=', ids['good'] ?? '')
      .executeTakeFirst()
    const part = { ...row, id: 'the-part', type: 'judge', parent: ids['good'] ?? '', at: 1, reference: null }
    await query
      .insertInto('requests')
      .values(part as RequestsTable)
      .execute()
    try {
      const whole = await sluice('logs', ids['good'] ?? '')
      expect(whole.out.join('\n')).to.match(/parts\n +judge +echo at echo +200 .* the-part(\n|$)/)
      const json = await sluice('logs', ids['good'] ?? '', '--json')
      expect(JSON.parse(json.out.join('\n'))).to.deep.include({ parent: null, parts: ['the-part'] })
      const { out } = await sluice('logs', 'the-part')
      expect(out.join('\n')).to.match(new RegExp(`part of +${ids['good']}`))
    } finally {
      await query.deleteFrom('requests').where('id', '=', 'the-part').execute()
    }
  })

  it('shows the place of an error on its pipeline', async () => {
    const { out } = await sluice('logs', ids['unknown'] ?? '')
    const text = out.join('\n')
    expect(text).to.match(/asked for +nothing\n +served by +-\n/)
    expect(text).to.match(/failed at \S*pipelines\/route\.yaml:\d+:\d+/)
    expect(text).to.match(/\d+ \| {3}- resolve # request\.model -> target.*\n +\| {5}\^/)
  })

  it("finds a request by the client's own name for it", async () => {
    const { out } = await sluice('logs', 'mine-1', '--json')
    expect(JSON.parse(out.join('\n'))).to.include({ id: ids['good'], key: 'test', reference: 'mine-1', stream: false })
    const { status, error } = await sluice('logs', 'nothing-like-it')
    expect(status).to.equal(1)
    expect(error.join()).to.contain('no request "nothing-like-it"')
  })

  const follow = (...words: string[]) => {
    const ending = new AbortController()
    const out: string[] = []
    const error: string[] = []
    const screen = { ...terminal(out, error), unread: ending.signal }
    const status = run(['logs', '-f', ...words, '--config', join(folder, 'sluice.yaml')], screen)
    const end = () => {
      ending.abort()
      return status
    }
    return { out, error, end }
  }
  /** A request in a millisecond of its own, so that the order of the lines is certain. */
  const chat = async (): Promise<string> => {
    const before = Date.now()
    await until(() => Date.now() > before + 1)
    const messages = [{ role: 'user', content: 'Hello' }]
    const answer = await gateway.post('/v1/chat/completions', { model: 'echo', messages })
    await answer.text()
    return answer.headers.get('x-request-id') ?? ''
  }
  const rename = (from: string, to: string) => gateway.engine.database.rows(`alter table ${from} rename to ${to}`)

  it('goes on with new ones until it is stopped', async function () {
    this.timeout(60_000)
    const { out, end } = follow('--limit', '1')
    const late = await chat()
    await until(() => out.some((line) => line.includes(late)))
    expect(await end()).to.equal(0)
    expect(out.filter((line) => line.includes(late))).to.have.length(1)
  })

  it('says that more requests ended than it can show', async function () {
    this.timeout(60_000)
    const id = await chat()
    await gateway.engine.flush()
    const columns = await gateway.engine.database.rows<{ name: string }>('pragma table_info(requests)')
    const names = columns.map(({ name }) => name)
    const copied = names.map((name) => (name === 'id' ? `id || '-' || n` : name))
    await gateway.engine.database.rows(`
      with recursive numbers (n) as (select 1 union all select n + 1 from numbers where n < 10000)
      insert into requests (${names.join()}) select ${copied.join()} from requests, numbers where id = '${id}'`)
    const { error, end } = follow('--limit', '1')
    await until(() => error.length > 0)
    expect(await end()).to.equal(0)
    expect(error).to.deep.equal(['sluice: 10000 requests ended within 10 seconds; older ones of these are not shown'])
    await gateway.engine.database.rows(`delete from requests where id like '${id}-%'`)
  })

  it('starts with as many as it was asked for, however many ended just before, and goes on in order', async function () {
    this.timeout(60_000)
    const earlier: string[] = []
    for (let count = 0; count < 6; count += 1) earlier.push(await chat())
    await gateway.engine.flush()
    const { out, end } = follow('--limit', '2')
    await until(() => out.length >= 2)
    const late = [await chat(), await chat()]
    await until(() => late.every((id) => out.some((line) => line.includes(id))))
    expect(await end()).to.equal(0)
    const wanted = [...earlier.slice(-2), ...late]
    expect(out).to.have.length(4)
    for (const [index, id] of wanted.entries()) expect(out[index]).to.contain(id)
  })

  it('fails in one line while the log is away', async () => {
    await rename('requests', 'requests_elsewhere')
    try {
      const failed = { status: 1, out: [], error: ['sluice: the request log cannot be read: no such table: requests'] }
      expect(await sluice('logs')).to.deep.equal(failed)
      expect(await sluice('logs', 'mine-1')).to.deep.equal(failed)
    } finally {
      await rename('requests_elsewhere', 'requests')
    }
  })

  it('waits for the log when it goes away, says so once, and misses nothing', async function () {
    this.timeout(60_000)
    const { out, error, end } = follow('--limit', '1')
    await until(() => out.length === 1)
    await rename('requests', 'requests_elsewhere')
    let meanwhile = ''
    try {
      await until(() => error.length > 0)
      meanwhile = await chat()
    } finally {
      await rename('requests_elsewhere', 'requests')
    }
    await until(() => out.some((line) => line.includes(meanwhile)))
    expect(await end()).to.equal(0)
    expect(out).to.have.length(2)
    expect(error).to.deep.equal(['sluice: the request log cannot be read: no such table: requests; trying again'])
  })
})
