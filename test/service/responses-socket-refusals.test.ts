import { once } from 'node:events'
import { expect } from 'chai'
import OpenAI from 'openai'
import { ResponsesWS } from 'openai/resources/responses/ws'
import { WebSocket } from 'ws'
import { encodeFrame } from '../../engine/kit.ts'
import type { ScriptedUpstream } from '../support/upstream.ts'
import { openSession, startService } from './responses-session.ts'
import type { Heard, Service } from './responses-session.ts'
import { chatFrames, responsesFrames } from './streams.ts'
import { keysOf } from '../support/keys.ts'
import { tablesOf } from '../support/tables.ts'

const narrow = 'sk-narrow-0123456789abcdef0123456789abcdef'

/** An error frame with nothing else in it. */
const refusal = (
  status: number,
  code: string,
  param: string | null,
  message: string,
  type = 'invalid_request_error',
) => ({
  type: 'error',
  status,
  sequence_number: 0,
  error: { type, code, message, param },
})

describe('a responses socket refuses', () => {
  let service: Service
  before(async () => {
    service = await startService({ api_keys: [{ name: 'narrow', key: narrow, models: ['chat'] }] })
  })
  after(() => service.close())

  const notCreate = refusal(400, 'invalid_request', 'type', 'A message must be a "response.create".')
  const noObject = refusal(400, 'invalid_request', null, 'It must be a JSON object.')
  const noJson = refusal(400, 'invalid_request', null, 'The body is not valid JSON: it cannot be parsed.')
  const messages: readonly (readonly [string, string, object])[] = [
    ['another type', '{"type":"response.steer","previous_response_id":"resp_1","input":"x"}', notCreate],
    ['no type', '{"model":"chat","input":"x"}', notCreate],
    ['a type that is no text', '{"type":["response.create"],"model":"chat"}', notCreate],
    ['an empty object', '{}', notCreate],
    ['a list', '[{"type":"response.create","model":"chat","input":"x"}]', noObject],
    ['a text', '"response.create"', noObject],
    ['nothing', '', noObject],
    ['what is no JSON', 'hello', noObject],
    ['what stops in the middle', '{"type":"response.create","model":"chat","input":"x', noJson],
    ['a comma too many', '{"type":"response.create","model":"chat","input":"x",}', noJson],
    ['what goes on after its end', '{"type":"response.create","model":"chat","input":"x"} {}', noJson],
    ['a type that is no JSON', '{"type":"response.create"x,"model":"chat","input":"x"}', noJson],
    [
      'a depth bomb',
      `{"type":"response.create","model":"chat","input":${'['.repeat(200_000)}`,
      refusal(400, 'invalid_request', null, 'The body is not valid JSON: it is nested deeper than 128 levels.'),
    ],
    [
      'a type twice',
      '{"type":"response.create","ty\\u0070e":"response.create","model":"chat","input":"x"}',
      refusal(400, 'invalid_value', 'type', 'Invalid value at type: it is there more than once.'),
    ],
    [
      'a model twice',
      '{"type":"response.create","model":"chat","model":"responses","input":"x"}',
      refusal(400, 'invalid_value', 'model', 'Invalid value at model: it is there more than once.'),
    ],
    [
      'a stream_id with other characters',
      '{"type":"response.create","stream_id":"a b","model":"chat","input":"x"}',
      refusal(400, 'invalid_value', 'stream_id', 'Invalid value at stream_id: it must match ^[A-Za-z0-9_.-]{1,256}$.'),
    ],
    [
      'a generate that is no word of JSON for yes or no',
      '{"type":"response.create","generate":"no","model":"chat","input":"x"}',
      refusal(400, 'invalid_value', 'generate', 'Invalid value at generate: it must be true or false.'),
    ],
    [
      'a body that its schema refuses',
      '{"type":"response.create","stream_id":"s","model":"chat","input":"x","max_output_tokens":0}',
      {
        ...refusal(
          400,
          'invalid_value',
          'max_output_tokens',
          'Invalid value at max_output_tokens: it must be at least 1.',
        ),
        stream_id: 's',
      },
    ],
    [
      'an unknown model',
      '{"type":"response.create","model":"constructor","input":"x"}',
      refusal(404, 'model_not_found', 'model', 'The model "constructor" does not exist.'),
    ],
  ]
  for (const [name, message, expected] of messages)
    it(`${name}, and stays open`, async () => {
      const { gateway, upstream } = service
      const session = await openSession(gateway)
      expect(await session.turn(message)).to.deep.equal([expected])
      upstream.answer({ frames: chatFrames('fine') })
      const frames = await session.turn({ model: 'chat', input: 'Hi' })
      expect(frames.at(-1)?.type).to.equal('response.completed')
      expect(session.heard).to.deep.equal([])
      session.socket.terminate()
    })

  it('no key of a prototype', async () => {
    const { gateway, upstream } = service
    upstream.answer({ frames: responsesFrames('x') })
    const session = await openSession(gateway)
    const [first] = await session.turn('{"__proto__":{"type":"response.create"},"model":"responses","input":"x"}')
    expect(first).to.deep.equal(notCreate)
    const body = '"model":"responses","__proto__":{"stream_id":"s"},"constructor":1,"input":"x"'
    const frames = await session.turn(`{"type":"response.create",${body}}`)
    expect(frames.at(-1)?.type).to.equal('response.completed')
    expect(frames[0]).to.not.have.property('stream_id')
    const sent = upstream.requests.at(-1)?.body.toString()
    expect(sent).to.equal(`{"stream":true,${body.replace('"responses"', '"vendor-model"')}}`)
    session.socket.terminate()
  })

  it('a model that the key may not use, with 403', async () => {
    const session = await openSession(service.gateway, { authorization: `Bearer ${narrow}` })
    const message = 'This API key may not use the model "messages".'
    expect(await session.turn({ model: 'messages', input: 'Hi' })).to.deep.equal([
      refusal(403, 'model_not_allowed', 'model', message),
    ])
    expect((await session.turn({ model: 'messages', input: 'Hi', generate: false }))[0]).to.deep.include({
      status: 403,
    })
    session.socket.terminate()
  })

  it('whatever comes while a response is under way, which goes on unharmed', async () => {
    const { gateway, upstream } = service
    const gate = held(upstream)
    const session = await openSession(gateway)
    session.create({ model: 'responses', input: 'Hi', stream_id: 'one' })
    expect(await session.frame()).to.deep.include({ type: 'response.created', stream_id: 'one' })
    const inFlight = refusal(
      400,
      'response_already_in_flight',
      null,
      'A response is still in progress; send the next message when it is complete.',
    )
    const asked = upstream.requests.length
    session.create({ model: 'chat', input: 'Hi', stream_id: 'two' })
    expect(await frameOfType(session, 'error')).to.deep.equal({ ...inFlight, stream_id: 'two' })
    session.create({ model: 'chat', input: 'Hi', generate: false })
    expect(await frameOfType(session, 'error')).to.deep.equal(inFlight)
    session.send({ type: 'response.steer', stream_id: 'one' })
    expect(await frameOfType(session, 'error')).to.deep.equal({ ...notCreate, stream_id: 'one' })
    gate()
    expect(await frameOfType(session, 'response.completed')).to.deep.include({ stream_id: 'one' })
    expect(upstream.requests.length).to.equal(asked)
    upstream.answer({ frames: chatFrames('next') })
    expect((await session.turn({ model: 'chat', input: 'Hi' })).at(-1)?.type).to.equal('response.completed')
    session.socket.terminate()
  })

  it('a message of bytes, and stays open', async () => {
    const { gateway, upstream } = service
    const session = await openSession(gateway)
    session.socket.send(Buffer.from('{"type":"response.create","model":"chat","input":"x"}'), { binary: true })
    expect(await session.frame()).to.deep.equal(refusal(400, 'invalid_request', null, 'Messages must be text.'))
    upstream.answer({ frames: chatFrames('fine') })
    expect((await session.turn({ model: 'chat', input: 'Hi' })).at(-1)?.type).to.equal('response.completed')
    session.socket.terminate()
  })

  it('a message of more than 64 MiB, with 1009', async () => {
    const session = await openSession(service.gateway)
    session.socket.send(Buffer.alloc(64 * 1024 * 1024 + 1, ' '), { binary: false })
    expect((await session.closed).code).to.equal(1009)
  })

  it('a client without a key, with 4401', async () => {
    const socket = new WebSocket(`${service.gateway.url.replace('http', 'ws')}/v1/responses`)
    await once(socket, 'open')
    const [code] = (await once(socket, 'close')) as [number]
    expect(code).to.equal(4401)
  })

  it('a wrong key, so that the official client hears why', async () => {
    const { url } = service.gateway
    const session = new ResponsesWS(new OpenAI({ apiKey: 'sk-wrong', baseURL: `${url}/v1` }))
    const closed = once(session.socket as never, 'close')
    const [error] = (await once(session as never, 'error')) as [{ error?: { code?: string } }]
    expect(error.error).to.deep.include({ type: 'error', status: 401 })
    expect(error.error).to.have.nested.property('error.code', 'invalid_api_key')
    expect((await closed)[0]).to.equal(4401)
  })
})

describe('a turn on a responses socket', () => {
  let service: Service
  afterEach(() => service.close())

  it('ends with the first terminal event of its upstream', async () => {
    service = await startService()
    const { gateway, upstream } = service
    const [created] = responsesFrames('x')
    const error = { type: 'error', sequence_number: 1, code: 'server_error', message: 'It broke.', param: null }
    const failed = {
      type: 'response.failed',
      sequence_number: 2,
      response: { id: 'resp_1', status: 'failed', output: [] },
    }
    const session = await openSession(gateway)
    upstream.answer({
      frames: [created ?? '', { event: 'error', data: error }, { event: 'response.failed', data: failed }],
    })
    const frames = await session.turn({ model: 'responses', input: 'Hi' })
    expect(frames.slice(1)).to.deep.equal([
      {
        type: 'error',
        status: 500,
        sequence_number: 1,
        error: { type: 'server_error', code: 'server_error', message: 'It broke.', param: null },
      },
    ])
    upstream.answer({ frames: [created ?? '', { data: failed }, { data: error }] })
    const [alone, ...others] = (await session.turn({ model: 'responses', input: 'Hi' })).slice(1)
    expect([alone?.type, others]).to.deep.equal(['error', []])
    session.socket.terminate()
  })

  it('is finished before its socket is closed for age, and the client is told why', async () => {
    service = await startService({ limits: { sockets: { age: 1_500 } } })
    const { gateway, upstream } = service
    const gate = held(upstream)
    const [busy, idle] = [await openSession(gateway), await openSession(gateway)]
    busy.create({ model: 'responses', input: 'Hi' })
    await busy.frame()
    expect(await idle.closed).to.deep.equal({ code: 1001, reason: 'open for too long' })
    const expired = refusal(
      400,
      'websocket_connection_limit_reached',
      null,
      'The socket has been open for the longest time allowed; connect again.',
    )
    expect(idle.heard.map((text) => JSON.parse(text) as unknown)).to.deep.equal([expired])
    gate()
    expect((await busy.closed).code).to.equal(1001)
    const heard = busy.heard.map((text) => JSON.parse(text) as Heard)
    expect(heard.at(-2)?.type).to.equal('response.completed')
    expect(heard.at(-1)).to.deep.equal(expired)
  })

  it('is finished before the gateway stops', async () => {
    service = await startService()
    const { gateway, upstream } = service
    const gate = held(upstream)
    const [busy, idle] = [await openSession(gateway), await openSession(gateway)]
    busy.create({ model: 'responses', input: 'Hi' })
    await busy.frame()
    const closing = gateway.close()
    expect((await idle.closed).code).to.equal(1001)
    expect(idle.heard).to.deep.equal([])
    gate()
    expect((await busy.closed).code).to.equal(1001)
    expect((JSON.parse(busy.heard.at(-1) ?? '') as Heard).type).to.equal('response.completed')
    await closing
    service = { ...service, close: () => upstream.close() }
  })

  it('is the last one of a key that is revoked', async () => {
    service = await startService({ limits: { sockets: { recheck: 20 } } })
    const { gateway } = service
    const { id, text } = await keysOf(gateway.engine).create({ name: 'brief' })
    const session = await openSession(gateway, { authorization: `Bearer ${text}` })
    await tablesOf(gateway.engine.database)
      .updateTable('api_keys')
      .set({ revoked_at: 1 })
      .where('id', '=', id)
      .execute()
    // Reads the keys again, and nothing more.
    await keysOf(gateway.engine).search(text)
    session.create({ model: 'chat', input: 'Hi' })
    expect(await session.closed).to.deep.equal({ code: 4401, reason: 'not authenticated' })
    for (const heard of session.heard) expect(JSON.parse(heard)).to.deep.include({ type: 'error', status: 401 })
  })
})

async function frameOfType(session: { frame(): Promise<Heard> }, type: string): Promise<Heard> {
  for (;;) {
    const frame = await session.frame()
    if (frame.type === type) return frame
  }
}

/** Has the upstream stop after the first event of its answer until what it returns is called. */
function held(upstream: ScriptedUpstream): () => void {
  const gate = Promise.withResolvers<void>()
  const texts = responsesFrames('x').map((frame) => (typeof frame === 'string' ? frame : JSON.stringify(frame.data)))
  async function* chunks() {
    const [first, ...others] = texts.map((data) => encodeFrame({ data }))
    yield first ?? ''
    await gate.promise
    yield* others
  }
  upstream.answer({ headers: { 'content-type': 'text/event-stream' }, chunks: chunks() })
  return gate.resolve
}
