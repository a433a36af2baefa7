import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'chai'
import { startFolder } from '../../support/folder.ts'
import { recordStages } from '../../support/record-stages.ts'
import type { FolderGateway } from '../../support/folder.ts'

type Body = Record<string, unknown> & {
  data?: readonly Record<string, unknown>[]
  error?: { code: string; message: string }
}

const endpoints = ['port', 'barge'].flatMap((of) => [
  { name: `${of}s`, summary: 'List.', routes: [`GET /api/${of}s`], stages: ['auth', { 'list-record': { of } }] },
  { name: of, summary: 'Get.', routes: [`GET /api/${of}s/:name`], stages: ['auth', { 'get-record': { of } }] },
  { name: `${of}-make`, summary: 'Make.', routes: [`POST /api/${of}s`], stages: ['auth', { 'create-record': { of } }] },
  {
    name: `${of}-change`,
    summary: 'Change.',
    routes: [`PATCH /api/${of}s/:name`],
    stages: ['auth', { 'change-record': { of } }],
  },
])

describe('records that a type shows, filters and notes', function () {
  this.timeout(300_000)
  let gateway: FolderGateway
  beforeEach(async () => {
    const file = (name: string) => readFile(join(import.meta.dirname, name), 'utf8')
    const closing = {
      name: 'port-close',
      summary: 'Close.',
      routes: ['POST /api/ports/:name/close'],
      stages: ['auth', 'port-close'],
    }
    gateway = await startFolder(
      { ports: [{ name: 'home' }], barges: [{ name: 'anna', harbour: 'home' }] },
      {
        ...recordStages,
        'plugins/teams.ts': await file('plugin.ts'),
        'plugins/fleet.ts': await file('fleet.ts'),
        'pipelines/fleet.yaml': JSON.stringify({ endpoints: [...endpoints, closing] }),
      },
    )
  })
  afterEach(() => gateway.close())

  const call = async (method: string, path: string, body?: unknown) => {
    const response = await fetch(`${gateway.url}/api/${path}`, {
      method,
      headers: {
        authorization: `Bearer ${gateway.key}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const value = (await response.json()) as Body
    return { status: response.status, value, code: value.error?.code }
  }
  const names = async (path: string) => (await call('GET', path)).value.data?.map(({ name }) => name)
  const prepare = async () => {
    for (const name of ['north', 'south']) await call('POST', 'ports', { name })
    await call('POST', 'barges', { name: 'berta', harbour: 'north', visits: ['south'], sails: null })
    await call('POST', 'barges', { name: 'clara', harbour: 'south', visits: ['north', 'home'] })
  }

  it('are shown as the configuration has them that holds once the answer is there', async () => {
    expect((await call('POST', 'ports', { name: 'north' })).value).to.include({ state: 'open', boats: 0 })
    const berta = await call('POST', 'barges', { name: 'berta', harbour: 'north' })
    expect(berta.value).to.include({ sails: 0, moved: 0, welcome: true, problem: null })
    expect((await call('GET', 'ports/north')).value).to.include({ boats: 1, problem: 'none that anybody has to know' })

    const closed = await call('PATCH', 'ports/north', { open: false })
    expect(closed.value).to.include({ state: 'it is disabled', boats: 1, version: 2 })
    expect((await call('GET', 'barges/berta')).value).to.include({ welcome: false })
  })

  it('are filtered, sorted and searched by what their type says, and by nothing else', async () => {
    await prepare()
    await call('PATCH', 'ports/south', { open: false })
    expect(await names('ports?state=open')).to.deep.equal(['home', 'north'])
    expect(await names('ports?state=open&state=it%20is%20disabled&boats=1')).to.deep.equal(['home', 'north', 'south'])
    expect(await names('ports?sort=-boats')).to.deep.equal(['south', 'north', 'home'])
    expect((await call('GET', 'ports?state=shut')).code).to.equal('invalid_field')
    for (const query of ['open=true', 'source=file', 'sort=created_at'])
      expect((await call('GET', `ports?${query}`)).status, query).to.equal(422)
    expect(await names('barges?at=north')).to.deep.equal(['berta', 'clara'])
    expect(await names('barges?search=OUT')).to.deep.equal(['clara'])
  })

  it('keep notes, which no body can set', async () => {
    await prepare()
    expect((await call('PATCH', 'barges/berta', { harbour: 'south' })).value).to.include({ moved: 1 })
    expect((await call('PATCH', 'barges/berta', { sails: 3 })).value).to.include({ moved: 1 })
    expect((await call('PATCH', 'barges/berta', { harbour: 'north' })).value).to.include({ moved: 2 })
    expect((await call('PATCH', 'barges/berta', { notes: { moved: 0 } })).code).to.equal('unknown_field')
    await gateway.configure({ ports: [{ name: 'home' }, { name: 'east' }] })
    expect(await gateway.engine.live.reload()).to.deep.equal([])
    expect((await call('GET', 'barges/berta')).value).to.include({ moved: 2 })
  })

  it('are changed together or not at all, with what else is written', async () => {
    await prepare()
    const lines = async () =>
      (await gateway.engine.database.rows<{ line: string }>('select line from diary')).map(({ line }) => line)
    const before = await lines()
    const failed = await call('POST', 'ports/north/close?to=home&fail=yes')
    expect([failed.status, failed.code]).to.deep.equal([503, 'store_unavailable'])
    expect((await call('POST', 'ports/home/close?to=north')).code).to.equal('declared_in_file')
    expect(await lines()).to.deep.equal(before)
    expect(await names('ports')).to.deep.equal(['home', 'north', 'south'])
    const { version } = (await call('GET', 'ports/south')).value
    const done = await call('POST', 'ports/north/close?to=south&notes=yes')
    expect(done.value).to.have.length(3)
    const [berta, clara, gone] = done.value as unknown as Record<string, unknown>[]
    expect(berta).to.include({ name: 'berta', harbour: 'south', moved: 100, version: 2 })
    expect(clara).to.include({ name: 'clara', harbour: 'south', version: 2 }).and.deep.include({ visits: [] })
    expect(gone).to.equal(null)
    expect((await call('GET', 'ports/south')).value).to.include({ boats: 2, version })
    expect((await lines()).slice(before.length)).to.deep.equal([
      'test: change barge berta null>null',
      'test: change barge clara null>null',
      'test: delete port north null>-',
      'closed north',
    ])
  })
})
