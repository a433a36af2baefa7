import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { startFolder } from '../../support/folder.ts'
import { recordStages } from '../../support/record-stages.ts'
import type { FolderGateway } from '../../support/folder.ts'

const endpoints = (of: string) => [
  { name: `${of}-list`, summary: 'List.', routes: [`GET /api/${of}`], stages: ['auth', { 'list-record': { of } }] },
  { name: `${of}-get`, summary: 'Show.', routes: [`GET /api/${of}/:name`], stages: ['auth', { 'get-record': { of } }] },
  { name: `${of}-make`, summary: 'Make.', routes: [`POST /api/${of}`], stages: ['auth', { 'create-record': { of } }] },
]

describe('secrets of stored records', function () {
  this.timeout(300_000)
  let folder: string
  let plugin: string
  let gateway: FolderGateway

  const start = (isThere: boolean) =>
    startFolder(
      { database: { url: `sqlite:${join(folder, 'sluice.db')}` }, providers: [], models: [] },
      {
        'pipelines/records.yaml': JSON.stringify({
          endpoints: [...endpoints('provider'), ...(isThere ? endpoints('vault') : [])],
        }),
        ...recordStages,
        ...(isThere ? { 'plugins/vault.ts': plugin } : {}),
      },
      { SLUICE_SECRET: 'a-secret-of-both-processes' },
    )
  const call = async (path: string, body?: object) => {
    const response = await fetch(`${gateway.url}/api/${path}`, {
      headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
      ...(body ? { method: 'POST', body: JSON.stringify(body) } : {}),
    })
    const text = await response.text()
    return { status: response.status, text, value: JSON.parse(text) as Record<string, unknown> }
  }
  const kept = (type: string) =>
    gateway.engine.database.rows<{ value: string; sealed: number }>(
      `select value, sealed from records where type = '${type}' order by name`,
    )

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sluice-secrets-'))
    plugin = await readFile(join(import.meta.dirname, 'vault.ts'), 'utf8')
    gateway = await start(true)
  })
  after(async () => {
    await gateway.close()
    await rm(folder, { recursive: true })
  })

  it('are told and sealed in lists of objects, and where they are no text', async () => {
    const servers = [{ url: 'https://one.test', token: 'token-of-server-one' }, { url: 'https://two.test' }]
    const made = await call('vault', { name: 'deep', servers })
    expect(made.status, made.text).to.equal(201)
    expect(made.text).to.not.include('token-of-server')
    expect(made.value['servers']).to.deep.equal([{ url: 'https://one.test' }, { url: 'https://two.test' }])
    expect(made.value['secrets']).to.deep.equal({ 'servers[0].token': { set: true, hint: '-one' } })
    const pinned = await call('vault', { name: 'pinned', pin: 4711 })
    expect(pinned.value).to.not.have.property('pin')
    expect(pinned.value['secrets']).to.deep.equal({ pin: { set: true, hint: null } })
    expect((await call('vault', { name: 'public' })).value).to.not.have.property('secrets')
    expect((await kept('vault')).map(({ sealed }) => sealed)).to.deep.equal([1, 1, 0])
  })

  it('stay hidden after their plugin is gone', async () => {
    const config = { api_key: 'key-of-the-locked-one', region: 'north' }
    expect((await call('provider', { name: 'far', type: 'locked', config })).status).to.equal(201)
    await gateway.close()
    gateway = await start(false)
    const shown = await call('provider/far')
    expect(shown.value).to.include({ name: 'far', type: 'locked' })
    expect(shown.value).to.not.have.any.keys('config', 'secrets')
    expect(shown.value['problem']).to.match(/no provider type "locked"/)
    expect(shown.text + (await call('provider')).text).to.not.include('key-of-the-locked')
    expect(gateway.engine.live.scrub('it said key-of-the-locked-one')).to.equal('it said [redacted]')
    expect(gateway.engine.live.scrub('the token-of-server-one')).to.equal('the [redacted]')
  })
})
