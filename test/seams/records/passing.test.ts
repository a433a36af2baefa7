import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { run } from '../../../engine/cli/main.ts'
import { startFolder } from '../../support/folder.ts'
import { recordStages } from '../../support/record-stages.ts'
import type { FolderGateway } from '../../support/folder.ts'

const endpoints = (of: string) => [
  { name: `${of}-list`, summary: 'List.', routes: [`GET /api/${of}`], stages: ['auth', { 'list-record': { of } }] },
  { name: `${of}-make`, summary: 'Make.', routes: [`POST /api/${of}`], stages: ['auth', { 'create-record': { of } }] },
  {
    name: `${of}-delete`,
    summary: 'Delete.',
    routes: [`DELETE /api/${of}/:name`],
    stages: ['auth', { 'delete-record': { of } }],
  },
]

const sections = [
  { name: 'sections-get', summary: 'Show.', routes: ['GET /api/settings/:name'], stages: ['auth', 'get-section'] },
  { name: 'sections-set', summary: 'Set.', routes: ['PATCH /api/settings/:name'], stages: ['auth', 'change-section'] },
]

interface Shown {
  readonly name: string
  readonly problem?: string | null
}

describe('failures that pass', function () {
  this.timeout(300_000)
  let folder: string
  let plugin: string
  let gateway: FolderGateway
  const file = (name: string) => join(folder, name)

  const start = (trouble = 'harbour') =>
    startFolder(
      {
        database: { url: `sqlite:${file('sluice.db')}` },
        providers: [{ name: 'echo', type: 'echo' }],
        models: [],
        server_config: { harbour: { file: file(trouble) } },
      },
      {
        'pipelines/records.yaml': JSON.stringify({
          endpoints: [...endpoints('provider'), ...endpoints('model'), ...sections],
        }),
        ...recordStages,
        'plugins/harbour.ts': plugin,
      },
      { SLUICE_SECRET: 'a-secret-of-both-processes' },
    )
  const restart = async () => {
    await gateway.close()
    gateway = await start()
  }
  const call = async (method: string, path: string, body?: object, to = gateway) => {
    const response = await fetch(`${to.url}/api/${path}`, {
      method,
      headers: { authorization: `Bearer ${to.key}`, 'content-type': 'application/json' },
      ...(body ? { body: JSON.stringify(body) } : {}),
    })
    const text = await response.text()
    return { status: response.status, text, value: (text ? JSON.parse(text) : {}) as { data?: Shown[] } }
  }
  const shown = async (type: string, to = gateway) => (await call('GET', type, undefined, to)).value.data ?? []
  const leftOut = async (type: string) =>
    (await shown(type)).flatMap(({ name, problem }) => ((problem ?? null) === null ? [] : [name]))
  const status = async (to = gateway) => (await to.ready()).body.status
  const until = async (condition: () => boolean | Promise<boolean>) => {
    while (!(await condition())) await new Promise((resolve) => setTimeout(resolve, 5))
  }
  const told = (words: string, to = gateway) => to.lines.filter((line) => line.includes(words))

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sluice-passing-'))
    plugin = await readFile(join(import.meta.dirname, 'harbour.ts'), 'utf8')
    gateway = await start()
    const config = { file: file('sea'), flag: 'the-flag-of-no-country' }
    expect((await call('POST', 'provider', { name: 'gull', type: 'ship', config })).status).to.equal(201)
    for (const name of ['bow', 'mast', 'keel', 'stern', 'helm'])
      expect((await call('POST', 'model', { name, provider: 'gull' })).status).to.equal(201)
  })
  after(async () => {
    await gateway.close()
    await rm(folder, { recursive: true })
  })

  it('are no concern of a command, which sees what is stored', async () => {
    const said: string[] = []
    const tell = (text: string) => said.push(text)
    const { folder: its } = gateway
    const environment = { SLUICE_SECRET: 'a-secret-of-both-processes' }
    const style = (_: string, text: string) => text
    const terminal = { environment, folder: its, interactive: false, out: tell, error: tell, style }
    expect([await run(['--config', 'sluice.yaml', 'ships'], terminal), ...said]).to.deep.equal([
      0,
      'bow mast keel stern helm',
    ])
  })

  it('of a service cost no stored record', async () => {
    await writeFile(file('harbour'), '1')
    await restart()
    expect(await readFile(file('harbour'), 'utf8')).to.equal('0')
    expect(await leftOut('provider')).to.deep.equal([])
    expect(await leftOut('model')).to.deep.equal([])
    expect(await status()).to.equal('ok')
  })

  it('of a service cost no stored section', async () => {
    expect((await call('PATCH', 'settings/tides', { height: 7 })).status).to.equal(200)
    await writeFile(file('harbour.tide'), '1')
    await restart()
    expect(await readFile(file('harbour.tide'), 'utf8')).to.equal('0')
    expect(told('is left out')).to.deep.equal([])
    expect((await call('GET', 'settings/tides')).text).to.include('"height":7')
  })

  it('of the files alone are no fault of stored records', async () => {
    await gateway.close()
    await writeFile(file('harbour'), '2')
    const failure = await start().then(
      () => undefined,
      (error: Error) => error.message,
    )
    await rm(file('harbour'))
    gateway = await start()
    expect(failure).to.match(/the service "harbour" cannot be opened: nobody is at the harbour/)
    expect(await leftOut('model')).to.deep.equal([])
  })

  it('cost the stored records that they are about, which come back by themselves', async () => {
    await writeFile(file('sea'), '')
    await restart()
    expect(await leftOut('provider')).to.deep.equal(['gull'])
    expect(await leftOut('model')).to.have.length(5)
    expect(await status()).to.equal('degraded')
    expect(told('provider \\"gull\\" is left out: ')).to.have.length(1)
    // Another record can be made meanwhile.
    expect((await call('POST', 'provider', { name: 'tern', type: 'echo' })).status).to.equal(201)
    expect(await status()).to.equal('degraded')
    await rm(file('sea'))
    await until(async () => (await status()) === 'ok')
    expect(await leftOut('provider')).to.deep.equal([])
    expect(await leftOut('model')).to.deep.equal([])
    expect(told('provider \\"gull\\" is no longer left out')).to.have.length(1)
    expect((await call('DELETE', 'provider/tern')).status).to.equal(204)
  })

  it('quote no secret of a stored record', async () => {
    await writeFile(file('sea'), '')
    await restart()
    const { text } = await call('GET', 'provider')
    expect(text).to.match(/the ship under \[redacted\] is at sea/)
    const made = await call('POST', 'provider', {
      name: 'tern',
      type: 'ship',
      config: { file: file('sea'), flag: 'the-flag-of-the-tern' },
    })
    expect([made.status, made.text]).to.deep.equal([422, made.text.replace('the-flag-of', '')])
    expect(made.text).to.include('the ship under [redacted] is at sea')
    expect(gateway.lines.join()).to.not.include('the-flag-of')
    await rm(file('sea'))
    await until(async () => (await status()) === 'ok')
  })

  it('that name no record cost the one that is in the way, and no other', async () => {
    await writeFile(file('harbour'), 'mast')
    await restart()
    expect(await leftOut('provider')).to.deep.equal([])
    expect(await leftOut('model')).to.deep.equal(['mast'])
    expect(told('model \\"mast\\" is left out: ')[0]).to.include('a ship is too large')
    await rm(file('harbour'))
    await until(async () => (await status()) === 'ok')
    expect(await leftOut('model')).to.deep.equal([])
  })

  it('keep a record from being deleted, which then is not in use', async () => {
    await writeFile(file('harbour'), '-mast')
    const { status: refused, text } = await call('DELETE', 'model/mast')
    await rm(file('harbour'))
    expect([refused, text]).to.deep.equal([422, text.replace('in use', '')])
    expect(JSON.parse(text)).to.have.nested.property('error.code', 'invalid_configuration')
    expect(text).to.include('a ship is too small')
    const used = await call('DELETE', 'provider/gull')
    expect([used.status, used.text], used.text).to.deep.equal([409, used.text.replace('invalid_configuration', '')])
    expect(used.text).to.include('model \\"mast\\" (database)')
  })

  it('are told once by a process that follows another, and it follows when they have passed', async () => {
    const other = await start('other')
    try {
      await writeFile(file('other'), '3')
      expect((await call('POST', 'model', { name: 'oar', provider: 'gull' })).status).to.equal(201)
      await until(() => existsSync(file('other')) && told('the last good one stays', other).length > 0)
      await until(async () => (await shown('model', other)).some(({ name }) => name === 'oar'))
      expect(told('nobody is at the harbour', other)).to.have.length(1)
      expect(told('the last good one stays', other)).to.have.length(1)
      expect(told('the stored records are live', other)).to.have.length(1)
      expect(await status(other)).to.equal('ok')
    } finally {
      await other.close()
    }
  })

  it('of the store are told once, and once that it is well again', async () => {
    const { query } = gateway.engine.database
    const look = () => gateway.engine.live.follow()
    await query.schema.alterTable('record_revision').renameTo('elsewhere').execute()
    try {
      await until(() => told('cannot be followed').length > 0)
      for (let looks = 0; looks < 3; looks++) await look()
      expect(await status()).to.equal('degraded')
    } finally {
      await query.schema.alterTable('elsewhere').renameTo('record_revision').execute()
    }
    await until(() => told('followed again').length > 0)
    expect(told('cannot be followed')).to.have.length(1)
    expect(told('followed again')).to.have.length(1)
    expect(await status()).to.equal('ok')
  })
})
