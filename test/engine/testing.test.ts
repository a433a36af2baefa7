import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import type { ConfigOf } from '../../engine/index.ts'
import { defineAction, definePlugin, defineRecord } from '../../engine/index.ts'
import { openGateway } from '../../engine/testing.ts'
import type { TestGateway } from '../../engine/testing.ts'

const schema = {
  type: 'object',
  additionalProperties: false,
  required: ['name'],
  properties: {
    name: { type: 'string', description: 'What it is called.' },
    silent: { type: 'boolean', default: false, description: 'Whether it is silent.' },
    melody: { type: 'string', description: 'What nobody may know.' },
  },
} as const

declare module 'sluice' {
  interface Records {
    bell: ConfigOf<typeof schema>
  }
}

const bells = definePlugin({
  name: 'bells',
  summary: 'Bells.',
  contract: 1,
  records: [
    defineRecord({
      name: 'bell',
      summary: 'Bells.',
      place: 'bells',
      route: '/api/bells',
      schema,
      secrets: ['melody'],
    }),
  ],
  actions: [
    defineAction({
      name: 'silence-bell',
      summary: 'Silence a bell.',
      route: 'POST /api/bells/:name/silence',
      access: { role: 'admin' },
      writes: { record: 'bell' },
      async run({ params: { name }, by }, _services, _scope, { records }) {
        await records.change({ kind: 'change', type: 'bell', name, patch: { silent: true } }, by)
      },
    }),
  ],
})

/** A stage in a file, which imports `sluice` as the plugins of operators do. */
const stage = `import { GatewayError, defineStage, noConfig } from 'sluice'

export default defineStage({
  name: 'no-bells',
  summary: 'Refuse requests about bells.',
  config: noConfig,
  needs: ['request'],
  provides: [],
  build: () => ({ request }) => {
    if (JSON.stringify(request.body).includes('bell')) throw new GatewayError('refused')
    return {}
  },
})
`
const pipeline = `name: quiet
summary: Chat without bells.
protocol: chat
routes: [POST /quiet]
without: [limit, allow, reserve, breaker, price, charge, log]
stages: [auth, parse, no-bells, resolve, requested, attempt: { do: [translate, call, translate-back] }]
`

describe('sluice/testing', function () {
  this.timeout(300_000)
  let folder: string
  let gateway: TestGateway
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sluice-author-'))
    await writeFile(join(folder, 'no-bells.ts'), stage)
    await writeFile(join(folder, 'quiet.yaml'), pipeline)
    gateway = await openGateway({
      config: { bells: [{ name: 'tower' }] },
      plugins: [bells, join(folder, 'no-bells.ts')],
    })
  })
  after(async () => {
    await gateway.close()
    await rm(folder, { recursive: true, force: true })
  })

  const ask = async (route: string, token: string, body?: object, { url } = gateway) => {
    const [method = '', path = ''] = route.split(' ')
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    const response = await fetch(url + path, { method, headers, body: JSON.stringify(body) })
    const text = await response.text()
    return { status: response.status, body: (text === '' ? {} : JSON.parse(text)) as Record<string, unknown> }
  }

  it('serves default exports to admins and viewers, with a row of the audit trail for each change', async () => {
    const [admin, viewer] = await Promise.all([gateway.signIn('admin'), gateway.signIn('viewer')])
    expect(await gateway.signIn('viewer')).to.equal(viewer)
    expect((await ask('POST /api/bells', admin, { name: 'porch' })).status).to.equal(201)
    expect((await ask('POST /api/bells/porch/silence', viewer)).status).to.equal(403)
    expect((await ask('POST /api/bells/porch/silence', admin)).status).to.equal(204)
    expect((await ask('GET /api/bells/porch', admin)).body).to.include({ name: 'porch', silent: true })
    expect((await ask('GET /api/bells/tower', admin)).body).to.include({ source: 'file' })
    const { body } = await ask('GET /api/logs/audit', admin)
    const rows = body['data'] as { action: string; actor: { name: string }; outcome: string }[]
    expect(rows.map(({ action, actor, outcome }) => `${action} ${actor.name} ${outcome}`)).to.include.members([
      'bell.create admin ok',
      'bell.update admin ok',
      'access.refused viewer refused',
    ])
  })

  it('filters records by each field that is not secret', async () => {
    const admin = await gateway.signIn('admin')
    expect((await ask('GET /api/bells?silent=false', admin)).status).to.equal(200)
    const { status, body } = await ask('GET /api/bells?melody=ding', admin)
    expect([status, (body['error'] as { code: string }).code]).to.deep.equal([422, 'unknown_field'])
  })

  it('writes no section of its own, so that a test may change each', async () => {
    const admin = await gateway.signIn('admin')
    const { status } = await ask('PATCH /api/config/server/logging', admin, { level: 'warn' })
    expect(status).to.equal(200)
  })

  it('sends to the scripted upstream, which answers what a test says', async () => {
    const reply = { message: { role: 'assistant', content: 'Hush.' }, finish_reason: 'stop', index: 0 }
    gateway.upstream.answer({ body: { choices: [reply], usage: { prompt_tokens: 1, completion_tokens: 1 } } })
    const chat = { model: 'scripted', messages: [{ role: 'user', content: 'Ring it.' }] }
    const { status, body } = await ask('POST /v1/chat/completions', gateway.key, chat)
    expect(status).to.equal(200)
    expect((body['choices'] as (typeof reply)[])[0]?.message.content).to.equal('Hush.')
    const [{ path, body: sent } = { path: '', body: Buffer.of() }] = gateway.upstream.requests
    expect(path).to.match(/\/chat\/completions$/)
    expect(JSON.parse(sent.toString())).to.deep.include(chat)
  })

  it('takes pipelines of a folder, and several gateways at a time', async () => {
    const other = await openGateway({ config: { pipelines: folder }, plugins: [join(folder, 'no-bells.ts')] })
    try {
      const chat = { model: 'scripted', messages: [{ role: 'user', content: 'Ring the bell.' }] }
      const { status, body } = await ask('POST /quiet', other.key, chat, other)
      expect([status, (body['error'] as { code: string }).code]).to.deep.equal([403, 'refused'])
      expect(other.upstream.requests).to.deep.equal([])
      expect((await ask('GET /api/bells', await other.signIn('admin'), undefined, other)).status).to.equal(404)
    } finally {
      await other.close()
    }
  })

  it('rejects with the findings of a plugin that cannot be loaded', async () => {
    const later = definePlugin({ name: 'later', summary: 'Later.', contract: 2 })
    const problem = await openGateway({ plugins: [later] }).then(
      (opened) => opened.close(),
      (error: unknown) => String(error),
    )
    expect(problem).to.contain('it needs contract 2 of Sluice; this is 1')
  })
})
