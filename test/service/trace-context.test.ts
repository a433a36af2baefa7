import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { expect } from 'chai'
import type { Told, ToldCall } from '../../engine/index.ts'
import { startGateway } from '../support/gateway.ts'
import type { RunningGateway } from '../support/gateway.ts'
import { redis } from '../support/services.ts'
import type { Service } from '../support/services.ts'
import { scriptedUpstream } from '../support/upstream.ts'
import type { RecordedRequest, ScriptedUpstream } from '../support/upstream.ts'
import { client, ended, says } from './background.ts'
import { openSession } from './responses-session.ts'
import { chatAnswer, chatFrames, messagesAnswer, responsesAnswer } from './streams.ts'

const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
const trace = { traceparent, tracestate: 'rojo=1,congo=2' }
const messages = [{ role: 'user', content: 'Hello' }]

describe('a trace context', function () {
  let service: Service
  let upstream: ScriptedUpstream
  let gateway: RunningGateway
  before(async function () {
    service = await redis(this)
    upstream = await scriptedUpstream()
    const at = { base_url: upstream.url, api_key: 'upstream-key' }
    gateway = await startGateway({
      key_value: { url: service.url },
      providers: [
        { name: 'chat', type: 'compatible', ...at },
        { name: 'messages', type: 'messages', ...at },
        { name: 'responses', type: 'native', ...at },
      ],
      models: ['chat', 'messages', 'responses'].map((name) => ({ name, provider: name })),
    })
  })
  after(async () => {
    await gateway?.close()
    await upstream?.close()
    await service?.stop()
  })
  const post = (model: string, headers: Record<string, string>, more: object = {}) =>
    gateway.post('/v1/chat/completions', { model, messages, ...more }, headers)
  const last = () => upstream.requests.at(-1) as RecordedRequest

  it('goes on to the provider on every lane, and no other header with it', async () => {
    const baggage = { ...trace, baggage: 'user=me', 'x-b3-traceid': '1', 'x-own': '2' }
    for (const [model, body] of [
      ['chat', chatAnswer],
      ['messages', messagesAnswer],
      ['responses', responsesAnswer],
    ] as const) {
      upstream.answer({ body })
      expect((await post(model, baggage)).status, model).to.equal(200)
      expect(last().headers, model).to.include(trace)
      expect(last().headers, model).not.to.have.any.keys('baggage', 'x-b3-traceid', 'x-own')
    }
    upstream.answer({ frames: chatFrames('Hello') })
    await (await post('chat', trace, { stream: true })).text()
    expect(last().headers).to.include(trace)
  })

  it('goes on with each try, and with none that brought none', async () => {
    upstream.answer({ status: 503, body: {} }, { body: chatAnswer })
    const before = upstream.requests.length
    expect((await post('chat', { traceparent })).status).to.equal(200)
    for (const { headers } of upstream.requests.slice(before)) {
      expect(headers).to.include({ traceparent })
      expect(headers).not.to.have.property('tracestate')
    }
    expect((await post('chat', {})).status).to.equal(200)
    expect(last().headers).not.to.have.any.keys('traceparent', 'tracestate')
  })

  it('stays here where it is not right', async () => {
    upstream.answer({ body: chatAnswer })
    expect((await post('chat', { ...trace, traceparent: 'mine' })).status).to.equal(200)
    expect(last().headers).not.to.have.any.keys('traceparent', 'tracestate')
    expect((await post('chat', { traceparent, tracestate: 'Not Right' })).status).to.equal(200)
    expect(last().headers).to.include({ traceparent })
    expect(last().headers).not.to.have.property('tracestate')
  })

  it('of a WebSocket goes on with each of its turns', async () => {
    upstream.answer({ body: says('responses', 'Hello').body! })
    const session = await openSession(gateway, trace)
    await session.turn({ type: 'response.create', model: 'chat', input: 'Hello' })
    expect(last().headers).to.include(trace)
    session.socket.close()
  })

  it('goes on with a response that nobody waits for', async () => {
    upstream.answer(says('responses', 'Well, hello.'))
    const at = client(gateway)
    const begun = await at.responses.create(
      { model: 'responses', input: 'Hello?', background: true },
      { headers: trace },
    )
    expect((await ended(at, begun.id)).status).to.equal('completed')
    expect(last().headers).to.include(trace)
  })

  it('is replaced by who listens: of an exchange for all of its calls, of a call for that one', async () => {
    const own = (span: string) => ({ traceparent: `00-0af7651916cd43dd8448eb211c80319c-${span.repeat(16)}-01` })
    upstream.answer({ body: chatAnswer })
    const ofExchange = (message: unknown) => void ((message as Told['exchange']).trace = own('a'))
    const calls: ToldCall[] = []
    const ofCall = (message: unknown) => {
      calls.push({ ...(message as ToldCall) })
      ;(message as ToldCall).trace = own('b')
    }
    subscribe('sluice:exchange:start', ofExchange)
    try {
      await post('chat', trace)
      expect(last().headers).to.include(own('a'))
      expect(last().headers).not.to.have.property('tracestate')
      subscribe('sluice:call:start', ofCall)
      await post('chat', {})
      expect(calls.map((call) => call.trace)).to.deep.equal([own('a')])
      expect(last().headers).to.include(own('b'))
    } finally {
      unsubscribe('sluice:exchange:start', ofExchange)
      unsubscribe('sluice:call:start', ofCall)
    }
  })
})
