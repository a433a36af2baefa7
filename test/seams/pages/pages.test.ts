import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { openGateway } from '../../../engine/testing.ts'
import type { TestGateway } from '../../../engine/testing.ts'

const plugin = join(import.meta.dirname, 'closures.ts')
const pipeline = `name: heeded
summary: Chat completions, but for models that are closed.
protocol: chat
routes: [POST /heeded]
stages: [auth: { with: key }, parse, heed-closures, use: prepare, use: generate]
finally: [use: settle]
`

interface ShownPage {
  readonly name: string
  readonly routes: Readonly<Record<string, string>>
  readonly forms: Readonly<Record<string, { readonly properties: Readonly<Record<string, unknown>> }>>
  readonly row: { readonly properties: Readonly<Record<string, unknown>> }
}

describe('seams/pages: those of a plugin as an outsider writes it', function () {
  this.timeout(300_000)
  let folder: string
  let gateway: TestGateway
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sluice-pages-'))
    await writeFile(join(folder, 'heeded.yaml'), pipeline)
    const closures = [{ name: 'winter', model: 'scripted', lifted: true }]
    gateway = await openGateway({ config: { pipelines: folder, closures }, plugins: [plugin] })
  })
  after(async () => {
    await gateway.close()
    await rm(folder, { recursive: true, force: true })
  })

  const ask = async (route: string, token: string, body?: object) => {
    const [method = '', path = ''] = route.split(' ')
    const response = await fetch(gateway.url + path, {
      method,
      headers: { authorization: `Bearer ${token}`, ...(body && { 'content-type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    return { status: response.status, body: (text === '' ? {} : JSON.parse(text)) as Record<string, unknown> }
  }
  const pages = async (token: string) => (await ask('GET /api/pages', token)).body['data'] as readonly ShownPage[]
  const page = async (token: string) => (await pages(token)).find(({ name }) => name === 'closure')

  it('has at most 110 lines, and imports nothing but the doors', async () => {
    const text = await readFile(plugin, 'utf8')
    expect(text.trimEnd().split('\n').length).to.be.at.most(110)
    const imported = [...text.matchAll(/from '(.+)'/g)].map(([, from]) => from)
    expect(new Set(imported)).to.deep.equal(new Set(['sluice', 'sluice/kit']))
  })

  it('are told with their routes, forms and rows', async () => {
    const found = await page(await gateway.signIn('admin'))
    expect(found).to.deep.include({
      kind: 'record',
      title: 'Closures',
      group: 'configure',
      icon: 'lock',
      columns: ['name', 'model', 'kind', 'until', 'lifted'],
      facts: ['reason', 'source'],
      key: 'name',
      routes: {
        list: 'GET /api/closures',
        get: 'GET /api/closures/:name',
        create: 'POST /api/closures',
        change: 'PATCH /api/closures/:name',
        delete: 'DELETE /api/closures/:name',
      },
    })
    const fields = (schema?: { readonly properties: object }) => Object.keys(schema?.properties ?? {})
    const own = ['name', 'model', 'reason', 'kind', 'until', 'lifted']
    expect(fields(found?.forms['query'])).to.deep.equal(['model', 'lifted', 'search', 'limit', 'cursor', 'sort'])
    expect(fields(found?.forms['create'])).to.deep.equal(own)
    expect(fields(found?.forms['change'])).to.deep.equal(own)
    expect(found?.forms['create']?.properties['model']).to.deep.include({ title: 'Model', 'x-names': 'model' })
    expect(fields(found?.row)).to.deep.equal([...own, 'source'])
  })

  it('are told to each role as far as it may ask their routes', async () => {
    const found = await page(await gateway.signIn('viewer'))
    expect(found?.routes).to.deep.equal({ list: 'GET /api/closures' })
    expect(Object.keys(found?.forms ?? {})).to.deep.equal(['query'])
    expect((await ask('GET /api/pages', gateway.key)).status).to.equal(401)
  })

  it('show what the stage heeds, and what changes stands in the audit trail', async () => {
    const admin = await gateway.signIn('admin')
    const chat = async () => {
      const reply = { message: { role: 'assistant', content: 'Hi.' }, finish_reason: 'stop', index: 0 }
      gateway.upstream.answer({ body: { choices: [reply], usage: { prompt_tokens: 1, completion_tokens: 1 } } })
      const messages = [{ role: 'user', content: 'Hi.' }]
      const { status, body } = await ask('POST /heeded', gateway.key, { model: 'scripted', messages })
      return `${status} ${(body['error'] as { message: string } | undefined)?.message ?? ''}`.trim()
    }
    expect(await chat()).to.equal('200')
    const spring = { name: 'spring', model: 'scripted', reason: 'It is moved.' }
    expect((await ask('POST /api/closures', admin, spring)).status).to.equal(201)
    expect(await chat()).to.equal('503 The model "scripted" is closed. It is moved.')
    const listed = await ask('GET /api/closures?lifted=false', await gateway.signIn('viewer'))
    expect((listed.body['data'] as readonly { name: string }[]).map(({ name }) => name)).to.deep.equal(['spring'])
    expect((await ask('POST /api/closures/spring/lift', admin)).status).to.equal(204)
    expect(await chat()).to.equal('200')
    const { body } = await ask('GET /api/logs/audit?target=spring&sort=sequence', admin)
    const rows = body['data'] as readonly { action: string; actor: { name: string } }[]
    expect(rows.map(({ action, actor }) => `${action} ${actor.name}`)).to.deep.equal([
      'closure.create admin',
      'closure.update admin',
    ])
  })
})
