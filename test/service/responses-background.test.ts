import { once } from 'node:events'
import { createConnection } from 'node:net'
import { expect } from 'chai'
import type { Json } from '../../engine/index.ts'
import { openai } from '../support/clients.ts'
import { startGateway } from '../support/gateway.ts'
import type { RunningGateway } from '../support/gateway.ts'
import { copyPipelines } from '../support/pipelines.ts'
import { redis } from '../support/services.ts'
import type { Service } from '../support/services.ts'
import { scriptedUpstream } from '../support/upstream.ts'
import type { ScriptedUpstream } from '../support/upstream.ts'
import { client, ended, kinds, says, startBackground } from './background.ts'

describe('responses in the background', function () {
  let service: Service
  let upstream: ScriptedUpstream
  let gateway: RunningGateway
  before(async function () {
    service = await redis(this)
    upstream = await scriptedUpstream()
    const many = { request_policy: { stored_responses: { background: 1000 } } }
    gateway = await startBackground(upstream, service.url, { server_config: many })
  })
  after(async () => {
    await gateway?.close()
    await upstream?.close()
    await service?.stop()
  })

  const rowOf = (response: string) => gateway.row(({ id }) => `resp_${id.replaceAll('-', '')}` === response)

  for (const kind of kinds)
    it(`are answered at once and completed by a provider that speaks ${kind}`, async () => {
      const { promise: asked, resolve: answer } = Promise.withResolvers<void>()
      upstream.answer(async () => {
        await asked
        return says(kind, 'Well, hello.')
      })
      const at = client(gateway)
      const begun = await at.responses.create({
        model: kind,
        input: 'Hello?',
        instructions: 'Be kind.',
        metadata: { for: 'a test' },
        background: true,
      })
      expect(begun).to.deep.include({
        object: 'response',
        status: 'in_progress',
        background: true,
        store: true,
        output: [],
        model: kind,
        instructions: 'Be kind.',
        metadata: { for: 'a test' },
        usage: null,
        error: null,
        completed_at: null,
      })
      expect(begun.id).to.match(/^resp_[0-9a-f]{32}$/)
      expect((await at.responses.retrieve(begun.id)).status).to.equal('in_progress')
      answer()
      const done = await ended(at, begun.id)
      expect(done).to.deep.include({
        id: begun.id,
        created_at: begun.created_at,
        status: 'completed',
        background: true,
        store: true,
        output_text: 'Well, hello.',
        instructions: 'Be kind.',
        metadata: { for: 'a test' },
        error: null,
      })
      expect(done.completed_at).to.be.a('number').that.is.at.least(begun.created_at)
      expect(done.output[0]).to.have.property('id', `msg_${begun.id.slice(5)}0000`)
      expect(done.usage).to.deep.include({ input_tokens: 11, output_tokens: 7, total_tokens: 18 })
      const items = await at.responses.inputItems.list(begun.id)
      expect(items.data).to.have.length(1)
      const row = await rowOf(begun.id)
      expect(row).to.include({
        type: 'responses',
        model: kind,
        input_tokens: 11,
        output_tokens: 7,
        result: 'completed',
      })
      expect(row.key_id).to.be.a('string')
      expect(JSON.parse(row.metadata)).to.include({ background: true })
      expect((await gateway.rows()).filter(({ id }) => id === row.id)).to.have.length(1)
    })

  it('ask the provider for a whole answer that it makes at once', async () => {
    const before = upstream.requests.length
    upstream.answer(says('responses', 'Yes.'))
    const begun = (await (
      await gateway.post('/v1/responses', {
        model: 'responses',
        input: 'Hello?',
        background: true,
        stream: true,
        stream_options: { include_obfuscation: false },
        store: false,
      })
    ).json()) as { id: string; store: boolean }
    expect(begun.store).to.equal(true)
    const done = await ended(openai(gateway), begun.id)
    expect(done).to.include({ status: 'completed', store: true, background: true })
    const body = JSON.parse(String((await upstream.received(before + 1)).body)) as Record<string, unknown>
    expect(body).to.include({ model: 'responses-2026', store: false })
    expect(body).to.not.have.any.keys('background', 'stream', 'stream_options')
  })

  it('end incomplete', async () => {
    for (const kind of kinds) {
      upstream.answer(says(kind, 'Once upon', true))
      const begun = await openai(gateway).responses.create({ model: kind, input: 'A story.', background: true })
      const done = await ended(openai(gateway), begun.id)
      expect(done).to.deep.include({ status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } })
      expect(done).to.include({ id: begun.id, background: true, output_text: 'Once upon' })
    }
  })

  const failures = [
    { status: 500, code: 'server_error' },
    { status: 429, code: 'rate_limit_exceeded' },
    { status: 400, code: 'invalid_prompt' },
  ]
  for (const { status, code } of failures)
    it(`fail with ${code} when the provider answers ${status}`, async () => {
      upstream.answer({
        status,
        body: { error: { message: 'The kettle is cold.', type: 'x', code: null, param: null } },
      })
      const begun = await openai(gateway).responses.create({ model: 'chat', input: 'Tea.', background: true })
      const done = await ended(openai(gateway), begun.id)
      expect(done).to.deep.include({ id: begun.id, status: 'failed', output: [], usage: null, background: true })
      expect(done.error).to.include({ code })
      expect(done.error?.message).to.be.a('string').that.is.not.equal('')
      expect(await rowOf(begun.id)).to.include({ result: 'failed' })
    })

  it('go on when their client leaves before it was answered', async () => {
    const { promise: asked, resolve: answer } = Promise.withResolvers<void>()
    upstream.answer(async () => {
      await asked
      return says('chat', 'Still here.')
    })
    const before = (await gateway.rows()).length
    const body = JSON.stringify({ model: 'chat', input: 'Hello?', background: true })
    const { hostname, port } = new URL(gateway.url)
    const leaving = createConnection(Number(port), hostname)
    let heard = 0
    leaving.on('data', ({ length }) => (heard += length))
    const head = `POST /v1/responses HTTP/1.1\r\nhost: a\r\nauthorization: Bearer ${gateway.key}\r\n`
    leaving.write(`${head}content-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`, () =>
      leaving.destroy(),
    )
    await once(leaving, 'close')
    expect(heard).to.equal(0)
    answer()
    const row = (await gateway.rows(before + 1))[before]
    if (!row) throw new Error('there is no row')
    expect(row).to.include({ type: 'responses', result: 'completed', output_tokens: 7 })
    const id = `resp_${row.id.replaceAll('-', '')}`
    expect(await ended(openai(gateway), id)).to.include({ status: 'completed', output_text: 'Still here.' })
  })

  it('are not streamed while they are in progress', async () => {
    const { promise: asked, resolve: answer } = Promise.withResolvers<void>()
    upstream.answer(async () => {
      await asked
      return says('chat', 'At last.')
    })
    const at = openai(gateway)
    const { id } = await at.responses.create({ model: 'chat', input: 'Hello?', background: true })
    const streamed = () =>
      fetch(`${gateway.url}/v1/responses/${id}?stream=true`, { headers: { authorization: `Bearer ${gateway.key}` } })
    const early = await streamed()
    const { error } = (await early.json()) as { error: { type: string } }
    expect([early.status, error.type]).to.deep.equal([400, 'invalid_request_error'])
    answer()
    await ended(at, id)
    const late = await streamed()
    expect(late.headers.get('content-type')).to.equal('text/event-stream; charset=utf-8')
    expect(await late.text()).to.match(/event: response.completed\n.*\n\ndata: \[DONE\]\n\n$/)
  })

  it('are continued once they have ended, and not before', async () => {
    const { promise: asked, resolve: answer } = Promise.withResolvers<void>()
    upstream.answer(
      async () => {
        await asked
        return says('chat', 'Ada.')
      },
      says('chat', 'Ada, I said.'),
    )
    const at = openai(gateway)
    const first = await at.responses.create({ model: 'chat', input: 'Who?', background: true })
    const next = { model: 'chat', input: 'Again?', previous_response_id: first.id, background: true }
    const early = await gateway.post('/v1/responses', next)
    expect(early.status).to.equal(400)
    expect(((await early.json()) as { error: { param: string } }).error.param).to.equal('previous_response_id')
    answer()
    await ended(at, first.id)
    const second = await at.responses.create({ ...next, background: true })
    expect(second.previous_response_id).to.equal(first.id)
    expect(await ended(at, second.id)).to.include({ output_text: 'Ada, I said.', previous_response_id: first.id })
    const { messages } = JSON.parse(String(upstream.requests.at(-1)?.body)) as { messages: { content: unknown }[] }
    expect(messages).to.have.length(3)
    const third = await at.responses.create({ model: 'chat', input: 'And?', previous_response_id: second.id })
    expect(third.status).to.equal('completed')
    const last = JSON.parse(String(upstream.requests.at(-1)?.body)) as { messages: unknown[] }
    expect(last.messages).to.have.length(5)
  })

  it('hand sealed reasoning back to its provider, and show it to no client that did not ask for it', async () => {
    const told = says('responses', 'Ada.').body as { output: Json[] }
    const reasoning = { id: 'rs_theirs', type: 'reasoning', summary: [], encrypted_content: 'only-theirs' }
    upstream.answer({ body: { ...told, output: [reasoning, ...told.output] } }, says('responses', 'Ada, I said.'))
    const at = openai(gateway)
    const first = await at.responses.create({ model: 'responses', input: 'Who?', background: true })
    expect(JSON.stringify(await ended(at, first.id))).not.to.contain('only-theirs')
    await at.responses.create({ model: 'responses', input: 'Again?', previous_response_id: first.id })
    const { input } = JSON.parse(String(upstream.requests.at(-1)?.body)) as { input: unknown[] }
    expect(input[1]).to.include({ type: 'reasoning', encrypted_content: 'only-theirs' })
  })

  it('are refused at once for what any other is refused for', async () => {
    const before = upstream.requests.length
    const ask = (body: object) => gateway.post('/v1/responses', { input: 'Hello?', background: true, ...body })
    const statuses = [ask({ model: 'nobody' }), ask({ model: 'chat', previous_response_id: 'resp_none' }), ask({})]
    expect((await Promise.all(statuses)).map(({ status }) => status)).to.deep.equal([404, 400, 400])
    expect(upstream.requests.length).to.equal(before)
  })

  it('leave a conversation that is not here to a provider that may know it', async () => {
    const next = {
      model: 'responses',
      input: 'Again?',
      previous_response_id: 'resp_of_theirs',
      background: true,
    } as const
    const at = openai(gateway)
    const before = upstream.requests.length
    upstream.answer(says('responses', 'Again.'), {
      status: 400,
      body: { error: { message: 'Not here.', type: 'x', code: 'previous_response_not_found', param: null } },
    })
    expect(await ended(at, (await at.responses.create(next)).id)).to.include({ output_text: 'Again.' })
    const asked = JSON.parse(String((await upstream.received(before + 1)).body)) as object
    expect(asked).to.include({ previous_response_id: 'resp_of_theirs' })
    const failed = await ended(at, (await at.responses.create(next)).id)
    expect(failed).to.deep.include({ status: 'failed' })
    expect(failed.error).to.deep.equal({
      code: 'previous_response_not_found',
      message: 'Previous response with id "resp_of_theirs" not found.',
    })
  })

  it('are made two hundred at a time', async () => {
    upstream.answer(says('chat', 'One of many.'))
    const at = openai(gateway)
    const many = Array.from({ length: 200 }, (_, index) =>
      at.responses.create({ model: 'chat', input: `Number ${index}.`, background: true }),
    )
    const begun = await Promise.all(many)
    expect(new Set(begun.map(({ id }) => id)).size).to.equal(200)
    const done = await Promise.all(begun.map(({ id }) => ended(at, id)))
    expect(new Set(done.map(({ status }) => status))).to.deep.equal(new Set(['completed']))
  })

  it('go on after a reload of the configuration', async () => {
    const { promise: asked, resolve: answer } = Promise.withResolvers<void>()
    upstream.answer(async () => {
      await asked
      return says('chat', 'Through it all.')
    })
    const at = openai(gateway)
    const running = await at.responses.create({ model: 'chat', input: 'Hello?', background: true })
    await upstream.when(() => upstream.requests.at(-1)?.body.includes('Hello?') === true)
    expect(await gateway.engine.live.reload()).to.deep.equal([])
    const next = await at.responses.create({ model: 'chat', input: 'Hello again?', background: true })
    answer()
    expect(await ended(at, running.id)).to.include({ output_text: 'Through it all.' })
    expect(await ended(at, next.id)).to.include({ output_text: 'Through it all.' })
  })
})

describe('responses in the background that cannot be', () => {
  const refusal = async (gateway: RunningGateway, headers: Record<string, string> = {}) => {
    const response = await fetch(`${gateway.url}/v1/responses`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ model: 'echo', input: 'Hello?', background: true }),
    })
    const { error } = (await response.json()) as { error: { message: string; type: string; code: string } }
    return { status: response.status, retry: response.headers.get('x-should-retry'), error }
  }
  const refused = { status: 503, retry: 'false' }

  it('are refused without a key-value store', async () => {
    const gateway = await startGateway()
    const got = await refusal(gateway, { authorization: `Bearer ${gateway.key}` })
    expect(got).to.include(refused)
    expect(got.error).to.include({ code: 'redis_not_available', type: 'server_error' })
    expect(got.error.message).to.equal('Background responses need the shared key-value store: none is configured.')
    expect((await gateway.rows()).map(({ error }) => error)).to.deep.equal(['redis_not_available'])
    await gateway.close()
  })

  it('are refused while the key-value store cannot be reached', async () => {
    const gateway = await startGateway({ key_value: { url: 'redis://127.0.0.1:1' } })
    const got = await refusal(gateway, { authorization: `Bearer ${gateway.key}` })
    expect(got).to.include(refused)
    expect(got.error).to.include({ code: 'redis_not_available', type: 'server_error' })
    expect(got.error.message).to.equal('Background responses need the shared key-value store: it cannot be reached.')
    await gateway.close()
  })

  it('are refused without an API key', async function () {
    const service = await redis(this)
    const pipelines = await copyPipelines()
    const edits = [
      ['protocol: responses', 'protocol: responses\npublic: true\nwithout: [allow]'],
      ['  - auth: { with: key }\n', ''],
      [/ +- recall\b.*\n/, ''],
      ['  - use: route', '  - resolve\n  - requested'],
    ] as const
    for (const [from, to] of edits) await pipelines.edit('responses.yaml', from, to)
    const gateway = await startGateway({ pipelines: pipelines.folder, key_value: { url: service.url } })
    const got = await refusal(gateway)
    expect(got).to.include(refused)
    expect(got.error).to.include({ code: 'redis_not_available', message: 'Background responses need an API key.' })
    await gateway.close()
    await pipelines.remove()
    await service.stop()
  })
})
