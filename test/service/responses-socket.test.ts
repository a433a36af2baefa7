import { expect } from 'chai'
import { ResponsesWS } from 'openai/resources/responses/ws'
import type { WebSocketError } from 'openai/resources/responses/internal-base'
import type { ResponseCompletedEvent, ResponsesServerEvent } from 'openai/resources/responses/responses'
import { openai } from '../support/clients.ts'
import type { Script } from '../support/upstream.ts'
import { calls, codexFields, message, openSession, startService } from './responses-session.ts'
import type { Heard, Service } from './responses-session.ts'
import { chatFrames, messagesFrames, responsesFrames } from './streams.ts'

/** A streamed answer of each kind of upstream. */
const answers: Record<string, (...texts: string[]) => Script> = {
  chat: (...texts) => ({ frames: chatFrames(...texts) }),
  responses: (...texts) => ({ frames: responsesFrames(...texts) }),
  messages: (...texts) => ({ frames: messagesFrames(...texts) }),
}

const said = (frames: readonly Heard[]) => frames.map(({ delta }) => delta ?? '').join('')
const numbers = (frames: readonly Heard[]) => frames.map(({ sequence_number }) => sequence_number)
const upTo = (count: number) => Array.from({ length: count }, (_, index) => index)

describe('a responses socket', () => {
  let service: Service
  before(async () => {
    service = await startService({
      api_keys: [{ name: 'narrow', key: 'sk-narrow-0123456789abcdef0123456789abcdef', models: ['chat'] }],
    })
  })
  after(() => service.close())

  for (const [kind, answer] of Object.entries(answers))
    describe(`over an upstream of ${kind}`, () => {
      it('answers turn after turn, each ended by one terminal frame', async () => {
        const { gateway, upstream } = service
        const session = await openSession(gateway)
        for (const text of ['one', 'two']) {
          upstream.answer(answer(text, ' more'))
          const frames = await session.turn({ model: kind, input: 'Hi' })
          expect(frames[0]?.type).to.equal('response.created')
          expect(frames.at(-1)?.type).to.equal('response.completed')
          expect(said(frames)).to.equal(`${text} more`)
          expect(numbers(frames)).to.deep.equal(upTo(frames.length))
          expect(frames.at(-1)?.response?.output).to.have.length(1)
        }
        expect(session.heard).to.deep.equal([])
        session.socket.terminate()
      })

      it('is spoken by the official client', async () => {
        const { gateway, upstream } = service
        upstream.answer(answer('Hello', ' there'))
        const socket = await opened(new ResponsesWS(openai(gateway)))
        socket.send({ type: 'response.create', model: kind, input: 'Hi' })
        const events = await until(socket, 'response.completed')
        expect(said(events as unknown as readonly Heard[])).to.equal('Hello there')
        socket.close()
      })

      it('tells the official client of an error once, and goes on with it', async () => {
        const { gateway, upstream } = service
        const socket = new ResponsesWS(openai(gateway))
        const failed = new Promise<WebSocketError>((resolve) => socket.on('error', resolve))
        socket.send({ type: 'response.create', model: kind, input: 'Hi', stream_id: 'one', max_output_tokens: 0 })
        const { error } = await failed
        expect(error).to.deep.include({ type: 'error', status: 400, sequence_number: 0, stream_id: 'one' })
        upstream.answer(answer('Hello'))
        const completed = new Promise<ResponseCompletedEvent>((resolve) => socket.on('response.completed', resolve))
        socket.send({ type: 'response.create', model: kind, input: 'Hi' })
        const { response } = await completed
        expect(response.status).to.equal('completed')
        socket.close()
      })

      it('carries a session of Codex: a warm-up, a call of a tool, its result', async () => {
        const { gateway, upstream } = service
        const headers = { 'openai-beta': 'responses_websockets=2026-02-06', originator: 'codex_exec' }
        const session = await openSession(gateway, headers)
        const common = { ...codexFields, model: kind }
        const [system, user] = [message('developer', 'Help.'), message('user', 'Look')]
        const asked = upstream.requests.length
        const warm = await session.turn({ ...common, generate: false, input: [system] })
        expect(warm.at(-1)?.type).to.equal('response.completed')
        upstream.answer({ frames: calls[kind] ?? [] })
        const first = await session.turn({ ...common, input: [system, user] })
        const done = first.find(({ type }) => type === 'response.output_item.done') as
          | { readonly item?: object }
          | undefined
        expect(done?.item).to.include({ type: 'function_call', call_id: 'call_1', name: 'look', arguments: '{"at":1}' })
        upstream.answer(answer('Seen'))
        const output = { type: 'function_call_output', call_id: 'call_1', output: 'a cat' }
        const previous = first.at(-1)?.response?.id
        const second = await session.turn({ ...common, previous_response_id: previous, input: [output] })
        expect(said(second)).to.equal('Seen')
        expect(upstream.requests.length).to.equal(asked + 2)
        const sent = upstream.requests.at(-1)?.body.toString() ?? ''
        for (const text of ['Help.', 'Look', 'call_1', 'a cat']) expect(sent).to.include(text)
        expect(sent).to.not.match(/"(generate|previous_response_id|stream_id)"|response\.create/)
        session.socket.terminate()
      })

      it('goes on from a response that was only prepared', async () => {
        const { gateway, upstream } = service
        const session = await openSession(gateway)
        const prepared = await session.turn({ model: kind, input: 'My name is Ada.', generate: false, store: false })
        upstream.answer(answer('Ada'))
        const previous_response_id = prepared.at(-1)?.response?.id
        const frames = await session.turn({ model: kind, input: 'Who am I?', previous_response_id })
        expect(said(frames)).to.equal('Ada')
        const sent = upstream.requests.at(-1)?.body.toString() ?? ''
        for (const text of ['My name is Ada.', 'Who am I?']) expect(sent).to.include(text)
        session.socket.terminate()
      })

      it('says an error before the first event once, and goes on', async () => {
        const { gateway, upstream } = service
        const session = await openSession(gateway)
        upstream.answer({ status: 500, body: { error: { message: 'broken' } } })
        expect(await session.turn({ model: kind, input: 'Hi', stream_id: 'a.1' })).to.deep.equal([
          {
            type: 'error',
            status: 500,
            sequence_number: 0,
            error: {
              type: 'server_error',
              code: 'upstream_error',
              message: `The provider of "${kind}" failed: broken`,
              param: null,
            },
            stream_id: 'a.1',
          },
        ])
        upstream.answer({ status: 429, headers: { 'retry-after': '7' }, body: { error: { message: 'slow down' } } })
        const [busy] = await session.turn({ model: kind, input: 'Hi' })
        expect(busy).to.deep.include({ type: 'error', status: 429, sequence_number: 0 })
        expect(busy?.error).to.deep.include({ message: 'slow down', headers: { 'retry-after': '7' } })
        upstream.answer(answer('fine'))
        expect(said(await session.turn({ model: kind, input: 'Hi' }))).to.equal('fine')
        session.socket.terminate()
      })

      it('says an error in the middle once, and goes on', async () => {
        const { gateway, upstream } = service
        const session = await openSession(gateway)
        upstream.answer({ ...answer('one', 'two'), frames: answer('one', 'two').frames?.slice(0, 3) ?? [] })
        const frames = await session.turn({ model: kind, input: 'Hi', stream_id: 'lane' })
        expect(frames.length).to.be.greaterThan(2)
        expect(frames.at(-1)).to.deep.include({ type: 'error', status: 500, sequence_number: frames.length - 1 })
        expect(frames.at(-1)?.error).to.deep.include({ type: 'server_error', code: 'upstream_error', param: null })
        expect(new Set(frames.map(({ stream_id }) => stream_id))).to.deep.equal(new Set(['lane']))
        upstream.answer(answer('fine'))
        const next = await session.turn({ model: kind, input: 'Hi' })
        expect(said(next)).to.equal('fine')
        expect(next.every((frame) => !('stream_id' in frame))).to.equal(true)
        const broken = (await gateway.rows()).filter(({ result }) => result === 'failed').at(-1)
        expect(broken).to.include({ requested: kind, status: 200, stream: 1, error: 'upstream_error' })
        session.socket.terminate()
      })

      it('ends the call of the upstream when its client leaves', async () => {
        const { gateway, upstream } = service
        upstream.answer({ silent: true })
        const early = await openSession(gateway)
        early.create({ model: kind, input: 'Hi' })
        await upstream.received(upstream.requests.length + 1)
        early.socket.terminate()
        await upstream.closed()
        for (const leave of ['terminate', 'close'] as const) {
          upstream.answer({ frames: answer('Hello').frames?.slice(0, 3) ?? [], ending: 'hang' })
          const session = await openSession(gateway)
          session.create({ model: kind, input: 'Hi' })
          await session.frame()
          session.socket[leave]()
          await upstream.closed()
        }
      })
    })

  it('sends a native upstream the body of the message alone, byte for byte', async () => {
    const { gateway, upstream } = service
    upstream.answer({ frames: responsesFrames('x') })
    const session = await openSession(gateway)
    await session.turn(
      '{ "type":"response.create", "model":"responses","stream":false, "input" : "h\\u00e9", "stream_options":{"a":[1,{}]},\n' +
        '"stream_id":"s-1","temperature":1.0, "seed":9007199254740993 ,"background":true,"client_metadata":{"type":"x"},"generate":true }',
    )
    expect(upstream.requests.at(-1)?.body.toString()).to.equal(
      '{"stream":true, "model":"vendor-model", "input" : "h\\u00e9",' +
        '"temperature":1.0, "seed":9007199254740993 ,"client_metadata":{"type":"x"}}',
    )
    expect(upstream.requests.at(-1)?.headers).to.not.have.any.keys('upgrade', 'sec-websocket-key', 'openai-beta')
    session.socket.terminate()
  })

  it('answers on all its paths', async () => {
    const { gateway, upstream } = service
    upstream.answer({ frames: chatFrames('x') })
    for (const path of ['/responses', '/v1/v1/responses', '/v1/responses/']) {
      const session = await openSession(gateway, {}, path)
      expect(said(await session.turn({ model: 'chat', input: 'Hi' })), path).to.equal('x')
      session.socket.terminate()
    }
  })

  it('prepares a response without asking anybody (generate: false)', async () => {
    const { gateway, upstream } = service
    const session = await openSession(gateway)
    const [asked, rows] = [upstream.requests.length, (await gateway.rows()).length]
    const frames = await session.turn({
      model: 'responses',
      input: 'Hi',
      generate: false,
      stream_id: 'warm',
      metadata: { a: 'b' },
    })
    expect(frames.map(({ type, stream_id }) => [type, stream_id])).to.deep.equal([
      ['response.created', 'warm'],
      ['response.in_progress', 'warm'],
      ['response.completed', 'warm'],
    ])
    expect(numbers(frames)).to.deep.equal([0, 1, 2])
    const [created, , completed] = frames.map(({ response }) => response)
    expect(created).to.deep.include({ id: completed?.id, status: 'in_progress', output: [], usage: null })
    expect(completed).to.deep.include({ status: 'completed', model: 'responses', output: [], metadata: { a: 'b' } })
    expect(completed?.id).to.match(/^resp_[0-9a-f]{32}$/)
    expect(completed?.usage).to.deep.equal({
      input_tokens: 0,
      input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
      output_tokens: 0,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: 0,
    })
    const refused = await session.turn({ model: 'nothing', input: 'Hi', generate: false })
    expect(refused).to.have.length(1)
    expect(refused[0]).to.deep.include({ type: 'error', status: 404 })
    await session.turn({ model: 'responses', input: 7, generate: false })
    expect(upstream.requests.length).to.equal(asked)
    const [row] = (await gateway.rows()).slice(rows)
    expect(row).to.include({ requested: 'responses', status: 200, cost_micros: 0, input_tokens: 0, output_tokens: 0 })
    expect(JSON.parse(row?.metadata ?? '{}')).to.deep.include({ prepared: true })
    session.socket.terminate()
  })

  it('takes "generate" over HTTP for any other field', async () => {
    const { gateway, upstream } = service
    upstream.answer({ frames: chatFrames('x') })
    const answer = await gateway.post('/v1/responses', { model: 'chat', input: 'Hi', generate: false, stream: true })
    expect(await answer.text()).to.include('"delta":"x"')
  })
})

/** The client once its socket is open. */
async function opened(socket: ResponsesWS): Promise<ResponsesWS> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  socket.on('error', reject)
  socket.socket.on('open', () => resolve())
  await promise
  return socket
}

/** Every event up to the first of a type. */
function until(socket: ResponsesWS, type: ResponsesServerEvent['type']): Promise<readonly ResponsesServerEvent[]> {
  const { promise, resolve, reject } = Promise.withResolvers<readonly ResponsesServerEvent[]>()
  const events: ResponsesServerEvent[] = []
  socket.on('error', reject)
  socket.on('event', (event) => {
    events.push(event)
    if (event.type === type) resolve(events)
  })
  return promise
}
