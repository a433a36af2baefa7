import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'chai'
import { startFolder } from '../../support/folder.ts'
import { recordStages } from '../../support/record-stages.ts'
import type { FolderGateway } from '../../support/folder.ts'

/** Writes a change as another process would, while a configuration is built, as often as its table says. */
const rival = `import { definePlugin, defineService } from 'sluice'

const rival = defineService({
  name: 'rival',
  summary: 'Another process.',
  migrations: [
    {
      name: '1-turns',
      async up(queries) {
        await queries.schema.createTable('rival_turns').addColumn('turns', 'integer').execute()
        await queries.insertInto('rival_turns').values({ turns: 0 }).execute()
      },
    },
  ],
  open: (host) => ({
    async configure() {
      const turns = await host.rows('update rival_turns set turns = turns - 1 where turns > 0 returning turns')
      if (turns.length > 0) await host.rows('update record_revision set revision = revision + 1 returning revision')
      return { view: {} }
    },
  }),
})

export default definePlugin({ name: 'rival', summary: 'A rival.', services: [rival] })
`

describe('changes of stored records', function () {
  this.timeout(300_000)
  let gateway: FolderGateway
  before(async () => {
    gateway = await startFolder(
      { providers: [{ name: 'echo', type: 'echo' }], models: [{ name: 'echo', provider: 'echo' }] },
      {
        ...recordStages,
        'plugins/teams.ts': await readFile(join(import.meta.dirname, 'plugin.ts'), 'utf8'),
        'plugins/rival.ts': rival,
        'pipelines/teams.yaml': await readFile(join(import.meta.dirname, 'pipelines.yaml'), 'utf8'),
      },
      { SLUICE_SECRET: 'the-secret-of-this-process' },
    )
  })
  after(() => gateway.close())

  const call = async (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) => {
    const response = await fetch(`${gateway.url}/api/${path}`, {
      method,
      headers: {
        authorization: `Bearer ${gateway.key}`,
        ...(body ? { 'content-type': 'application/json' } : {}),
        ...headers,
      },
      ...(body ? { body: JSON.stringify(body) } : {}),
    })
    const text = await response.text()
    const value = (text === '' ? {} : JSON.parse(text)) as Record<string, unknown> & { error?: { code: string } }
    return { status: response.status, tag: response.headers.get('etag') ?? '', text, value, code: value.error?.code }
  }
  const until = async (condition: () => boolean | Promise<boolean>) => {
    while (!(await condition())) await new Promise((resolve) => setTimeout(resolve, 5))
  }

  it('are not made where the record is another one of the same name', async () => {
    const { tag } = await call('POST', 'teams', { name: 'red', model: 'echo' })
    expect((await call('DELETE', 'teams/red')).status).to.equal(204)
    const again = await call('POST', 'teams', { name: 'red', model: 'echo' })
    expect([tag, again.tag]).to.deep.equal(['"1"', '"2"'])
    const stale = await call('DELETE', 'teams/red', undefined, { 'if-match': tag })
    expect([stale.status, stale.code]).to.deep.equal([412, 'stale_version'])
    expect((await call('DELETE', 'teams/red', undefined, { 'if-match': again.tag })).status).to.equal(204)
  })

  it('are made where one of the tags is that of the record', async () => {
    let { tag } = await call('POST', 'teams', { name: 'blue', model: 'echo' })
    let size = 1
    const sent = async (match: (tag: string) => string) => {
      const { status, tag: next } = await call('PATCH', 'teams/blue', { size: ++size }, { 'if-match': match(tag) })
      if (status === 200) tag = next
      return status
    }
    expect(await sent((own) => own)).to.equal(200)
    expect(await sent((own) => `"77",${own} , "x,y"`)).to.equal(200)
    expect(await sent(() => '*')).to.equal(200)
    // Only a strong tag can match (RFC 9110, section 13.1.1).
    for (const match of ['"77"', '"77", "78"', `"x,${tag.slice(1)}`, `W/${tag}`, tag.slice(1, -1), 'nonsense', ''])
      expect(await sent(() => match), match).to.equal(412)
    const nobody = await call('DELETE', 'teams/nobody', undefined, { 'if-match': '*' })
    expect(nobody.status).to.equal(404)
    expect((await call('DELETE', 'teams/blue')).status).to.equal(204)
  })

  it('are told by the log when they are live', async () => {
    const told = () => gateway.lines.filter((line) => line.includes('the stored records are live')).length
    const before = told()
    expect((await call('POST', 'signs', { name: 'slow', limit: 5 })).status).to.equal(201)
    expect(told()).to.equal(before + 1)
    // A field has the name of a word of the query, which keeps its meaning.
    expect((await call('GET', 'signs?limit=1')).value['data']).to.have.length(1)
    expect((await call('DELETE', 'signs/slow')).status).to.equal(204)
    expect(told()).to.equal(before + 2)
  })

  it('may be said to be merge patches, which nothing but a PATCH is', async () => {
    const type = { 'content-type': 'application/merge-patch+json; charset=utf-8' }
    expect((await call('POST', 'teams', { name: 'green', model: 'echo' })).status).to.equal(201)
    const { status, value, text } = await call('PATCH', 'teams/green', { size: 3 }, type)
    expect([status, value['size']], text).to.deep.equal([200, 3])
    expect((await call('POST', 'teams', { name: 'grey', model: 'echo' }, type)).status).to.equal(415)
    expect((await call('DELETE', 'teams/green')).status).to.equal(204)
  })

  it('mend rows that something else has spoiled, each of which says what is wrong with it', async () => {
    const { query } = gateway.engine.database
    const spoil = async (value: string) => {
      await query.updateTable('records').set({ value }).where('name', '=', 'mended').execute()
      const revision = query.updateTable('record_revision').set(({ eb }) => ({ revision: eb('revision', '+', 1) }))
      await revision.execute()
    }
    const told = (words: string) =>
      until(() => gateway.lines.some((line) => line.includes(`team \\"mended\\" (database): ${words}`)))
    const mended = async () => {
      const { status, value, text } = await call('PATCH', 'teams/mended', { model: 'echo', size: null })
      expect([status, value['model'], value['problem']], text).to.deep.equal([200, 'echo', null])
    }
    const team = { name: 'mended', model: 'echo', token: 'token-of-the-mended' }
    expect((await call('POST', 'teams', team)).status).to.equal(201)
    await spoil(Buffer.from('sealed by somebody else, or by nobody').toString('base64'))
    await told('it was sealed with another master secret')
    await mended()
    // Its token is gone, so that it is not sealed any more.
    await spoil('{"name":"mended"')
    await told('its value is not a JSON object')
    await mended()
    await spoil('{"name":"stranger","model":"echo"}')
    await told('name: its value has the name \\"stranger\\"')
    await mended()
    expect((await call('DELETE', 'teams/mended')).status).to.equal(204)
  })

  for (const [turns, status] of [
    [9, 201],
    [10, 503],
  ] as const)
    it(`are answered with ${status} when another process writes first ${turns} times`, async () => {
      const { database } = gateway.engine
      await database.rows(`update rival_turns set turns = ${turns} returning turns`)
      const made = await call('POST', 'teams', { name: `late-${status}`, model: 'echo' })
      expect(await database.rows('select turns from rival_turns')).to.deep.equal([{ turns: 0 }])
      expect([made.status, made.code], made.text).to.deep.equal([
        status,
        status === 503 ? 'store_unavailable' : undefined,
      ])
      expect((await call('GET', `teams?search=late-${status}`)).value['data']).to.have.length(status === 201 ? 1 : 0)
    })
})
