import { expect } from 'chai'
import type { JsonObject } from '../../engine/index.ts'
import { startAdmin } from '../support/admin.ts'
import type { AdminGateway } from '../support/admin.ts'
import { copyPipelines } from '../support/pipelines.ts'
import type { Pipelines } from '../support/pipelines.ts'
import { startGateway } from '../support/gateway.ts'
import { until } from '../support/until.ts'

const ask = (gateway: AdminGateway, text: string, headers: Record<string, string> = {}) =>
  gateway.post('/v1/chat/completions', { model: 'echo', messages: [{ role: 'user', content: text }] }, headers)

describe('guards: admin', () => {
  let gateway: AdminGateway
  before(async () => {
    gateway = await startAdmin({
      records: { guards: [{ name: 'fixed', kind: 'words', words: ['nothing'], default: false }] },
    })
  })
  after(() => gateway.close())

  it('makes, changes, tries and deletes a guard, each change at once', async () => {
    const made = await gateway.asAdmin('POST /api/guards', { name: 'words', kind: 'words', words: ['apple'] })
    expect(made.status, JSON.stringify(made.body)).to.equal(201)
    expect(made.body).to.deep.include({
      name: 'words',
      kind: 'words',
      action: 'deny',
      on_error: 'closed',
      source: 'database',
    })
    expect(made.body['config']).to.deep.include({ words: ['apple'] })
    expect((await ask(gateway, 'An apple a day')).status).to.equal(400)
    expect((await ask(gateway, 'A pear a day')).status).to.equal(200)
    const changed = await gateway.asAdmin('PATCH /api/guards/words', { action: 'mask', config: { words: ['pear'] } })
    expect(changed.status, JSON.stringify(changed.body)).to.equal(200)
    const answer = await ask(gateway, 'An apple, a pear')
    expect(await answer.text()).to.contain('An apple, a [WORDS]')
    expect(answer.headers.get('x-gateway-guards')).to.equal('words=masked')
    const tried = await gateway.asAdmin('POST /api/guards/test', { guard: 'words', text: 'a pear' })
    expect(tried.body).to.deep.include({
      hit: true,
      action: 'mask',
      texts: ['a [WORDS]'],
      hits: [{ text: 0, start: 2, end: 6, entity: null }],
    })
    const denying = { kind: 'regex', patterns: ['p\\w+r', { name: 'fruit', pattern: 'plum' }] }
    const places = await gateway.asAdmin('POST /api/guards/test', { guard: denying, text: 'a pear, a plum' })
    expect(places.body).to.deep.include({
      action: 'deny',
      hits: [
        { text: 0, start: 2, end: 6, entity: null },
        { text: 0, start: 10, end: 14, entity: 'fruit' },
      ],
    })
    const trial = { kind: 'pii', action: 'mask', mask: 'token' }
    const other = await gateway.asAdmin('POST /api/guards/test', { guard: trial, texts: ['ann@example.com', 'b'] })
    expect(other.body, JSON.stringify(other.body)).to.deep.include({ hit: true, texts: ['<EMAIL_1>', 'b'] })
    expect((await gateway.asAdmin('DELETE /api/guards/words')).status).to.equal(204)
    expect((await ask(gateway, 'An apple, a pear')).status).to.equal(200)
  })

  it('refuses what is wrong, and says where', async () => {
    const wrong: readonly (readonly [object, string, RegExp])[] = [
      [{ name: 'x', kind: 'wrods' }, 'kind', /no guard kind "wrods"; did you mean "words"/],
      [{ name: 'x', kind: 'regex', patterns: ['(a)\\1'] }, 'patterns[0]', /does not compile/],
      [{ name: 'x', kind: 'regex', patterns: ['(?:(?:a?){50}){20}'] }, 'patterns[0]', /2002 instructions/],
      [{ name: 'x', kind: 'pii', entities: ['mail'] }, 'entities[0]', /email/],
      [{ name: 'x', kind: 'pii', words: ['a'] }, 'words', /unknown/i],
      [{ name: 'x', kind: 'pii', side: ['both'] }, 'side[0]', /input/],
      [{ name: 'x', kind: 'pii', stream: 'after' }, 'stream', /cannot deny/],
      [{ name: 'x', kind: 'schema', side: ['output'], schema: { type: 'nothing' } }, 'schema', /does not compile/],
      [{ name: 'x', kind: 'schema', schema: {} }, 'side', /judges answers/],
      [{ name: 'x', kind: 'schema', schema: {}, side: ['output'], tool: 'send' }, 'side', /tool_calls/],
      [{ name: 'x', kind: 'schema', side: ['output'], schema: { pattern: '(?=a)b' } }, 'schema', /does not compile/],
      [{ name: 'x', kind: 'schema', schema: {}, stream: 'window' }, 'stream', /whole answers/],
      [{ name: 'x', kind: 'pii', action: 'retry', side: ['output'], stream: 'window' }, 'stream', /whole answers/],
      [{ name: 'x', kind: 'pii', times: 2 }, 'times', /retry/],
      [{ name: 'x', kind: 'pii', feedback: 'No.' }, 'feedback', /retry/],
      [{ name: 'x', kind: 'pii', sample: 0.5 }, 'sample', /unjudged/],
      [{ name: 'x', kind: 'pii', window: { characters: 10, overlap: 10 } }, 'window.overlap', /less than/],
      [{ name: 'x', kind: 'model', model: 'nobody', question: 'Is it?' }, 'model', /no model named "nobody"/],
      [{ name: 'fixed', kind: 'pii' }, 'name', /already|declared/],
      [{ name: 'x', kind: 'webhook', url: 'http://127.0.0.1:9' }, 'url', /private/],
    ]
    for (const [body, param, message] of wrong) {
      const answer = await gateway.asAdmin('POST /api/guards', body)
      expect(answer.status, JSON.stringify(body)).to.be.oneOf([400, 409, 422])
      const { error } = answer.body as { readonly error: { readonly message: string; readonly param: string | null } }
      expect(error.message + JSON.stringify(answer.body['errors'] ?? ''), JSON.stringify(body)).to.match(message)
      if (!/already|declared/.test(error.message)) expect(error.param, JSON.stringify(answer.body)).to.equal(param)
    }
  })

  it('tells the kinds, each with the form of its guards', async () => {
    const { status, body } = await gateway.asAdmin('GET /api/guards/kinds')
    expect(status).to.equal(200)
    const kinds = body['data'] as readonly { readonly kind: string; readonly schema: JsonObject }[]
    expect(kinds.map(({ kind }) => kind)).to.include.members(['words', 'regex', 'pii', 'secrets', 'webhook', 'model'])
    const schema = kinds.find(({ kind }) => kind === 'webhook')?.schema
    expect(schema?.['required']).to.deep.equal(['name'])
    expect(schema).to.have.nested.property('properties.action.default', 'deny')
    expect(schema).to.have.nested.property('properties.config.properties.secret.writeOnly', true)
    expect(schema).to.have.nested.property('properties.config.properties.url.title', 'URL')
    expect(schema).not.to.have.nested.property('properties.kind')
  })

  it('judges the requests of a key by what an admin says', async () => {
    await gateway.asAdmin('POST /api/guards', { name: 'plum', kind: 'words', words: ['plum'] })
    const made = await gateway.asAdmin('POST /api/api-keys', { name: 'own', guards: ['fixed'], guards_off: ['plum'] })
    expect(made.body).to.deep.include({ guards: ['fixed'], guards_off: ['plum'] })
    const by = { authorization: `Bearer ${made.body['key'] as string}` }
    expect((await ask(gateway, 'a plum', by)).status).to.equal(200)
    expect((await ask(gateway, 'nothing', by)).status).to.equal(400)
    expect((await ask(gateway, 'a plum')).status).to.equal(400)
    expect((await ask(gateway, 'nothing')).status).to.equal(200)
    expect((await ask(gateway, 'nothing', { 'x-gateway-guards': 'fixed' })).status).to.equal(400)
    const unknown = await gateway.asAdmin('POST /api/api-keys', { name: 'other', guards: ['fix'] })
    expect(unknown.status).to.equal(422)
    expect((await gateway.asAdmin('DELETE /api/guards/plum')).status).to.equal(204)
  })

  it('keeps a guard that a model or a key names, and says who does', async () => {
    const deleted = async () => {
      const { status, code, body } = await gateway.asAdmin('DELETE /api/guards/kept')
      return { status, code, message: (body['error'] as { readonly message?: string } | undefined)?.message }
    }
    await gateway.asAdmin('POST /api/guards', { name: 'kept', kind: 'words', words: ['quince'], default: false })
    const model = await gateway.asAdmin('POST /api/config/models', { name: 'own', provider: 'echo', guards: ['kept'] })
    expect(model.status, JSON.stringify(model.body)).to.equal(201)
    expect(await deleted()).to.deep.equal({
      status: 409,
      code: 'in_use',
      message: 'The guard "kept" is in use: model "own" (database) needs it.',
    })
    await gateway.asAdmin('PATCH /api/config/models/own', { guards: [] })
    const ids: string[] = []
    for (const name of ['first-user', 'second-user']) {
      const made = await gateway.asAdmin('POST /api/api-keys', { name, guards: ['kept'] })
      ids.push(made.body['id'] as string)
    }
    expect(await deleted()).to.deep.equal({
      status: 409,
      code: 'in_use',
      message: 'The guard "kept" is in use: API key "first-user", API key "second-user" need it.',
    })
    expect((await gateway.asAdmin('PATCH /api/guards/kept', { name: 'other' })).param).to.equal('name')
    await gateway.asAdmin(`PATCH /api/api-keys/${ids[0]}`, { guards: [] })
    await gateway.asAdmin(`DELETE /api/api-keys/${ids[1]}`)
    expect((await deleted()).status).to.equal(204)
  })

  it('takes a guard that ends out of the keys that it does not judge', async () => {
    const pear = { name: 'pear', kind: 'words', words: ['pear'] }
    await gateway.asAdmin('POST /api/guards', pear)
    const { body } = await gateway.asAdmin('POST /api/api-keys', { name: 'free', guards_off: ['fixed', 'pear'] })
    const [by, id] = [{ authorization: `Bearer ${body['key'] as string}` }, body['id'] as string]
    expect((await ask(gateway, 'a pear', by)).status).to.equal(200)
    expect((await gateway.asAdmin('DELETE /api/guards/pear')).status).to.equal(204)
    const key = await gateway.asAdmin(`GET /api/api-keys/${id}`)
    expect(key.body['guards_off']).to.deep.equal(['fixed'])
    const rows = await gateway.asAdmin('GET /api/logs/audit?target=free')
    const { changes } = (rows.body['data'] as readonly JsonObject[])[0] ?? {}
    expect(changes).to.deep.equal({ guards_off: { from: ['fixed', 'pear'], to: ['fixed'] } })
    await gateway.asAdmin('POST /api/guards', pear)
    await until(async () => (await ask(gateway, 'a pear', by)).status === 400)
    await gateway.asAdmin('DELETE /api/guards/pear')
  })

  it('shows the rows by verdict, and figures per day', async () => {
    await ask(gateway, 'nothing', { 'x-gateway-guards': 'fixed' })
    let data: readonly { readonly guarded: string }[] = []
    await until(async () => {
      await gateway.rows()
      const { body } = await gateway.asAdmin('GET /api/logs?guarded=denied')
      data = body['data'] as typeof data
      return data.length > 0
    })
    expect(data.every(({ guarded }) => guarded === 'denied')).to.equal(true)
    const { body } = await gateway.asAdmin('GET /api/guards/verdicts?guard=fixed')
    const rows = body['data'] as readonly { readonly outcome: string; readonly verdicts: number }[]
    expect(rows.find(({ outcome }) => outcome === 'denied')?.verdicts).to.be.at.least(2)
    const figures = await gateway.asAdmin('GET /api/guards/figures?days=1')
    const own = (figures.body['data'] as readonly JsonObject[]).filter(({ guard }) => guard === 'fixed')
    expect(own.map(({ side }) => side)).to.deep.equal(['input', 'output'])
    expect(own[0]).to.include({ shadow: false, errors: 0 })
    const [judged, hits, p50, p95, longest] = ['verdicts', 'hits', 'p50', 'p95', 'longest'].map((name) =>
      Number(own[0]?.[name]),
    ) as [number, number, number, number, number]
    expect(hits).to.be.at.least(2).and.at.most(judged)
    expect(p50).to.be.above(0)
    expect(p95).to.be.within(p50, longest)
    for (const route of ['verdicts', 'figures', 'kinds'])
      expect((await gateway.asViewer(`GET /api/guards/${route}`)).status, route).to.equal(403)
    const metrics = await fetch(`${gateway.url}/metrics`, {
      headers: { authorization: `Bearer ${gateway.admin.token}` },
    })
    expect(await metrics.text()).to.match(
      /sluice_guard_requests_total\{[^}]*guard="fixed"[^}]*outcome="denied"[^}]*\} \d/,
    )
  })
})

describe('guards: pipelines without the line for the guards of a model', () => {
  let pipelines: Pipelines
  before(async () => {
    pipelines = await copyPipelines()
    await pipelines.edit('generate.yaml', /^ +- guard: \{ side: input, of: model \}.*\n/m, '')
  })
  after(() => pipelines.remove())

  it('are an error once a model names one', async () => {
    const guards = [{ name: 'own', kind: 'words', words: ['sugar'], default: false }]
    const started = (names: readonly string[]) =>
      startGateway({
        pipelines: pipelines.folder,
        providers: [{ name: 'chat', type: 'compatible', base_url: 'http://127.0.0.1:9', api_key: 'k' }],
        models: [{ name: 'guarded', provider: 'chat', ...(names.length > 0 ? { guards: names } : {}) }],
        records: { guards },
      }).then(
        (gateway) => gateway.close(),
        (error: unknown) => error as Error,
      )
    expect(await started([])).to.equal(undefined)
    expect((await started(['own']))?.message).to.match(
      /would pass over the guards of the model "guarded".*add "- guard: \{ side: input, of: model \}"/,
    )
  })
})

describe('guards: pipelines that would pass them over', () => {
  let pipelines: Pipelines
  before(async () => {
    pipelines = await copyPipelines()
    await pipelines.edit('chat-completions.yaml', '  - guard: { side: input }\n', '')
  })
  after(() => pipelines.remove())

  it('are an error that names both, in the file and of a change', async () => {
    const refused = await startGateway({
      pipelines: pipelines.folder,
      records: { guards: [{ name: 'pii', kind: 'pii' }] },
    }).then(
      (gateway) => gateway.close(),
      (error: unknown) => error,
    )
    expect((refused as Error).message).to.match(
      /"chat-completions" would pass over the guard "pii".*add "- guard: \{ side: input \}"/,
    )
    const gateway = await startAdmin({ pipelines: pipelines.folder })
    try {
      const { status, body } = await gateway.asAdmin('POST /api/guards', { name: 'pii', kind: 'pii' })
      expect(status).to.equal(422)
      expect(body['error']).to.deep.include({ code: 'invalid_configuration' })
      expect(JSON.stringify(body)).to.contain('would pass over the guard \\"pii\\"')
      const output = await gateway.asAdmin('POST /api/guards', { name: 'pii', kind: 'pii', side: ['output'] })
      expect(output.status, JSON.stringify(output.body)).to.equal(201)
    } finally {
      await gateway.close()
    }
  })
})
