import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import type { JsonObject } from '../../engine/index.ts'
import { startGateway } from '../support/gateway.ts'
import type { RunningGateway } from '../support/gateway.ts'
import { copyPipelines } from '../support/pipelines.ts'
import { scriptedUpstream } from '../support/upstream.ts'
import type { ScriptedUpstream } from '../support/upstream.ts'

const secret = 'upstream-secret-key-1'
const messages = [{ role: 'user', content: 'hi' }]
const chunk = (delta: JsonObject, reason: string | null = null) => ({
  data: {
    id: 'c',
    object: 'chat.completion.chunk',
    created: 1,
    model: 'm',
    choices: [{ index: 0, delta, finish_reason: reason }],
  },
})

describe('what a provider or a client does wrong', () => {
  let upstream: ScriptedUpstream
  let gateway: RunningGateway

  before(async () => {
    upstream = await scriptedUpstream()
    gateway = await startGateway({
      providers: [{ name: 'vendor', type: 'compatible', base_url: upstream.url, api_key: secret }],
      models: [{ name: 'm', provider: 'vendor' }],
    })
  })
  after(async () => {
    await gateway.close()
    await upstream.close()
  })

  it('writes a row for a request without a model that is text', async () => {
    const before = (await gateway.rows()).length
    for (const body of [{ messages }, { model: 5, messages }])
      expect((await gateway.post('/v1/chat/completions', body)).status).to.equal(400)
    const rows = (await gateway.rows()).slice(before)
    expect(rows.map(({ status, requested }) => [status, requested])).to.deep.equal([
      [400, null],
      [400, null],
    ])
  })

  it('names few of the many fields that were lost', async () => {
    upstream.answer({
      body: {
        id: 'c',
        object: 'chat.completion',
        created: 1,
        model: 'm',
        choices: [{ index: 0, message: { role: 'assistant', content: 'x' }, finish_reason: 'stop' }],
      },
    })
    const unknown = Object.fromEntries(Array.from({ length: 2000 }, (_, index) => [`field_${index}`, 1]))
    const answer = await gateway.post('/v1/messages', { model: 'm', max_tokens: 10, messages, ...unknown })
    expect(answer.status).to.equal(200)
    const names = (answer.headers.get('x-gateway-losses') ?? '').split(', ')
    expect(names).to.have.length(21)
    expect(names.at(-1)).to.match(/^\+19\d\d$/)
    const row = (await gateway.rows()).find(({ requested, type }) => requested === 'm' && type === 'messages')
    expect((JSON.parse(String(row?.metadata)) as { losses: object[] }).losses).to.have.length(100)
  })

  it('keeps what a provider says of our credentials in mid-stream from the client', async () => {
    upstream.answer({
      frames: [
        chunk({ role: 'assistant', content: 'a' }),
        { data: { error: { message: `bad key ${secret}`, code: 401 } } },
      ],
    })
    const answer = await gateway.post('/v1/messages', { model: 'm', max_tokens: 10, messages, stream: true })
    const text = await answer.text()
    expect(text).to.contain('event: error').and.not.contain(secret).and.not.contain('authentication_error')
    expect(gateway.lines.join('')).not.to.contain(secret)
  })

  it('streams to a client that asked for it, though the provider answered whole', async () => {
    upstream.answer({
      body: {
        id: 'c',
        object: 'chat.completion',
        created: 1,
        model: 'm',
        choices: [{ index: 0, message: { role: 'assistant', content: 'whole' }, finish_reason: 'stop' }],
      },
    })
    const answer = await gateway.post('/v1/chat/completions', { model: 'm', messages, stream: true })
    expect(answer.headers.get('content-type')).to.contain('text/event-stream')
    const text = await answer.text()
    expect(text)
      .to.contain('"content":"whole"')
      .and.match(/data: \[DONE\]\n\n$/)
  })
})

const hanging = `
export default {
  kind: 'provider', name: 'hanging', summary: 'Never answers.',
  config: { type: 'object', additionalProperties: false, properties: {} },
  offers: () => [{ operation: 'generate' }],
  open: () => ({ answer: { async *generate() { await new Promise(() => undefined) } } }),
}
`

describe('a provider in neutral form that never answers', () => {
  let folder: string
  let gateway: RunningGateway
  let pipelines: Awaited<ReturnType<typeof copyPipelines>>

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sluice-hanging-'))
    await writeFile(join(folder, 'hanging.ts'), hanging)
    pipelines = await copyPipelines()
    await pipelines.edit('generate.yaml', '- call', '- call: { first_byte: 300ms }')
    gateway = await startGateway({
      plugins: [join(folder, 'hanging.ts')],
      pipelines: pipelines.folder,
      providers: [{ name: 'h', type: 'hanging' }],
      models: [{ name: 'h', provider: 'h' }],
    })
  })
  after(async () => {
    await gateway.close()
    await pipelines.remove()
    await rm(folder, { recursive: true })
  })

  it('is given up in time', async () => {
    for (const stream of [true, false])
      expect((await gateway.post('/v1/chat/completions', { model: 'h', messages, stream })).status).to.equal(504)
  })
})
