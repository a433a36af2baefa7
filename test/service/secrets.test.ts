import { expect } from 'chai'
import { encodeFrame } from '../../engine/kit.ts'
import type { Json } from '../../engine/index.ts'
import { startGateway } from '../support/gateway.ts'
import type { RunningGateway } from '../support/gateway.ts'
import { lockedRedis, postgres } from '../support/services.ts'
import { scriptedUpstream } from '../support/upstream.ts'
import type { Script, ScriptedUpstream } from '../support/upstream.ts'
import { client, ended, says } from './background.ts'
import type { Kind } from './background.ts'
import { openSession } from './responses-session.ts'
import { chatFrames, messagesFrames, responsesFrames } from './streams.ts'
import type { ScriptedFrame } from './streams.ts'
import { keysOf } from '../support/keys.ts'

/** What an operator may have configured that nobody may ever read again. */
const canaries = {
  'key of a client': 'Ck5Tq0vR8mZx2LpW7dYh',
  'key of a provider': 'Pk9sJ4bN1gVc6XtQ3rEa',
  'header by name': 'Hn7uI2oF5wBz8KyM0jGd',
  'header by value': 'Hv3xS6eC9qTl4ArU1nOp',
  'password in a header': 'Hb8zW1kD6iRf5VmJ2cQs',
  'query of an address': 'Qa4gY7tL0hXo9NuE3vBw',
  'query of an operation': 'Qo6mK2rP5jZd8FsC1yTi',
  'password of the database': 'Db1cV9aH4nUe7GqX6oLr',
  'password of the key-value store': 'Rd2wE5yM8tJk3SbZ0fPx',
  'master secret': 'Ms0lO7iA3uHg9DvR4qNc',
}
const kinds: readonly Kind[] = ['chat', 'responses', 'messages']

/** Any twelve characters of a canary betray it. */
const parts = Object.entries(canaries).flatMap(([name, secret]) =>
  Array.from({ length: secret.length - 11 }, (_, at) => ({ name, part: secret.slice(at, at + 12) })),
)
const betrayed = (text: string) => [...new Set(parts.flatMap(({ name, part }) => (text.includes(part) ? [name] : [])))]

const echoed = `${Object.values(canaries).join(' / ')} Bearer ${canaries['key of a provider']}`

/** An error that quotes the secrets in every place of every shape. */
const told = {
  message: echoed,
  code: echoed,
  type: echoed,
  param: echoed,
  detail: echoed,
  details: { error_code: echoed, [echoed]: [echoed, { deep: echoed }] },
  metadata: { raw: echoed },
}
/** Each secret by itself as the whole of a field: no length hides it. */
const each: readonly Json[] = Object.values(canaries).map((secret) => ({ ...told, code: secret, param: secret }))
const refused = {
  type: 'error',
  error: told,
  request_id: echoed,
  message: echoed,
  detail: [{ loc: [echoed], msg: echoed }],
}

const headers = {
  'x-request-id': echoed,
  'openai-organization': echoed,
  'x-gateway-reason': echoed,
  'server-timing': echoed,
}
const stream = { ...headers, 'content-type': 'text/event-stream' }

/** Failures before the answer has begun. */
const early: Readonly<Record<string, Script>> = {
  ...Object.fromEntries(
    [400, 401, 403, 404, 409, 413, 422, 429, 500, 503, 529].map((status) => [
      status,
      { status, headers, body: refused },
    ]),
  ),
  ...Object.fromEntries(each.map((error, at) => [`400 with secret ${at}`, { status: 400, headers, body: { error } }])),
  '400 with a text': { status: 400, headers, body: { error: echoed } },
  '400 with a list': { status: 400, headers, body: [{ error: told }] },
  '400 with a page': { status: 400, headers: { ...headers, 'content-type': 'text/html' }, body: `<p>${echoed}</p>` },
  '200 with an error': { headers, body: refused },
  '200 with an error as text': { headers, body: { error: echoed } },
  '200 with a failed response': { headers, body: { object: 'response', status: 'failed', error: told, output: [] } },
  '200 with a page': { headers: { ...headers, 'content-type': 'text/html' }, body: echoed },
  '200 with half a body': { headers: { ...headers, 'content-type': 'application/json' }, body: `{"error":"${echoed}` },
  'a redirect': { status: 302, headers: { location: `http://127.0.0.1:9/${encodeURIComponent(echoed)}` }, body: '' },
  'no HTTP': { raw: `SSH-2.0-${echoed}\r\n\r\n`, ending: 'close' },
  'a stream that begins with an error': { headers: stream, frames: [{ event: 'error', data: refused }] },
  'a stream that begins with an error of responses': {
    headers: stream,
    frames: [
      { event: 'response.failed', data: { type: 'response.failed', response: { status: 'failed', error: told } } },
    ],
  },
}

/** What only one of the protocols takes for a failure. */
const answered = new Set(['200 with a failed response', 'a stream that begins with an error of responses'])

const begun: Readonly<Record<Kind, readonly ScriptedFrame[]>> = {
  chat: chatFrames('Hello', ' there').slice(0, 3),
  responses: responsesFrames('Hello', ' there').slice(0, 5),
  messages: messagesFrames('Hello', ' there').slice(0, 4),
}

/** What an upstream says in the middle of a stream, each as the last it says. */
const late: Readonly<Record<string, readonly string[]>> = {
  'a nested error': [encodeFrame({ data: JSON.stringify({ error: told }) })],
  'an event named error': [encodeFrame({ event: 'error', data: JSON.stringify(refused) })],
  'a flat error': [
    encodeFrame({ event: 'error', data: JSON.stringify({ ...told, type: 'error', sequence_number: 7 }) }),
  ],
  'an error as text': [encodeFrame({ event: 'error', data: JSON.stringify({ error: echoed }) })],
  'an error that is no JSON': [encodeFrame({ event: 'error', data: echoed })],
  'a failed response': [
    encodeFrame({
      event: 'response.failed',
      data: JSON.stringify({ type: 'response.failed', response: { id: 'resp_1', status: 'failed', error: told } }),
    }),
  ],
  'an error with CR LF': [`event: error\r\ndata: ${JSON.stringify(refused)}\r\n\r\n`],
  'an error without its empty line': [`event: error\ndata: ${JSON.stringify(refused)}`],
  'an error and the last word': [
    encodeFrame({ data: JSON.stringify({ error: told }) }),
    encodeFrame({ data: '[DONE]' }),
  ],
}

const printed = (frames: readonly ScriptedFrame[]) =>
  frames.map((frame) =>
    typeof frame === 'string'
      ? encodeFrame({ data: frame })
      : encodeFrame({ ...frame, data: JSON.stringify(frame.data) }),
  )

describe('secrets', function () {
  this.timeout(300_000)
  let upstream: ScriptedUpstream
  let gateway: RunningGateway
  let made: string

  before(async function () {
    const store = await lockedRedis(this, canaries['password of the key-value store'])
    const database = new URL((await postgres(this)).url)
    database.password = canaries['password of the database']
    upstream = await scriptedUpstream()
    const at = {
      base_url: `${upstream.url}/v1?access=${canaries['query of an address']}&api-version=2024-10-21`,
      endpoint_base_urls: { embeddings: `${upstream.url}/v1?sig=${canaries['query of an operation']}` },
      api_key: canaries['key of a provider'],
      headers: {
        'x-tenant-token': canaries['header by name'],
        'x-tenant': canaries['header by value'],
        'x-proxy-auth': `Basic ${Buffer.from(`me:${canaries['password in a header']}`).toString('base64')}`,
        'x-region': 'eu',
        'x-kind': 'application/json',
      },
    }
    const { base_url, headers: lines, api_key } = at
    gateway = await startGateway({
      server_config: { resilience: { retries: { wait: '1ms' }, breaker: { enabled: false } } },
      database: database.href,
      key_value: { url: store.url },
      environment: { SLUICE_SECRET: canaries['master secret'] },
      api_keys: [{ name: 'second', key: canaries['key of a client'] }],
      providers: [
        { name: 'chat', type: 'compatible', ...at },
        { name: 'responses', type: 'native', ...at },
        { name: 'messages', type: 'messages', base_url, headers: lines, api_key },
        { name: 'decider', type: 'bridge_a', base_url, headers: lines, api_key },
      ],
      models: [
        { name: 'chat', provider: 'chat' },
        { name: 'responses', provider: 'responses', protocols: ['responses'] },
        { name: 'messages', provider: 'messages' },
        { name: 'decider', provider: 'decider', supports_mapeval: true },
      ],
    })
    made = (await keysOf(gateway.engine).create({ name: 'made' })).text
  })

  after(async () => {
    await gateway.close()
    await upstream.close()
  })

  /** After each test: no line, no row and nothing that was kept holds a secret. */
  afterEach(async () => {
    expect(gateway.lines.flatMap(betrayed), 'log').to.deep.equal([])
    expect(betrayed(JSON.stringify(await gateway.rows())), 'rows').to.deep.equal([])
  })

  const generate: Readonly<Record<string, (model: string) => object>> = {
    '/v1/chat/completions': (model) => ({ model, messages: [{ role: 'user', content: 'hello' }] }),
    '/v1/responses': (model) => ({ model, input: 'hello' }),
    '/v1/messages': (model) => ({ model, max_tokens: 9, messages: [{ role: 'user', content: 'hello' }] }),
  }
  const others: Readonly<Record<string, object>> = {
    '/v1/embeddings': { model: 'responses', input: 'hello' },
    '/v1/images/generations': { model: 'responses', prompt: 'a cat' },
    '/v1/audio/speech': { model: 'responses', input: 'hello', voice: 'alloy' },
    '/v1/responses/compact': { model: 'responses', input: 'hello' },
    '/v1/responses/input_tokens': { model: 'responses', input: 'hello' },
    '/v1/messages/count_tokens': { model: 'messages', messages: [{ role: 'user', content: 'hello' }] },
    '/v1/decisions': {
      model: 'decider',
      input: 'hello',
      questions: [{ name: 'polite', type: 'boolean', instructions: 'Is it polite?' }],
    },
    '/v1/mapeval': {
      model: 'decider',
      state: 'hello',
      questions: { polite: { type: 'noul', instructions: 'Is it polite?' } },
    },
  }

  /** All that a client reads of an answer, which must hold no secret. */
  const read = async (what: string, path: string, body: object) => {
    const answer = await gateway.post(path, body)
    const text = await answer.text()
    const lines = JSON.stringify([...answer.headers])
    expect(betrayed(text), `${what}: the body ${text.slice(0, 400)}`).to.deep.equal([])
    expect(betrayed(lines), `${what}: the headers`).to.deep.equal([])
    return { status: answer.status, text }
  }

  for (const [path, body] of Object.entries(generate))
    for (const kind of kinds)
      it(`${path}: a ${kind} upstream that fails before its answer begins tells none`, async () => {
        for (const [name, script] of Object.entries(early))
          for (const stream of [false, true]) {
            upstream.answer(script)
            const { status } = await read(`${name}, stream: ${stream}`, path, { ...body(kind), stream })
            if (!answered.has(name)) expect(status, name).to.be.at.least(400)
          }
      })

  for (const [path, body] of Object.entries(generate))
    for (const kind of kinds)
      it(`${path}: a ${kind} upstream that fails in its stream tells none`, async () => {
        for (const [name, end] of Object.entries(late))
          for (const joined of [false, true]) {
            const chunks = [...printed(begun[kind]), ...end]
            upstream.answer({ headers: stream, chunks: joined ? [chunks.join('')] : chunks })
            const { text } = await read(`${name}, joined: ${joined}`, path, { ...body(kind), stream: true })
            expect(text, name).to.include('error').and.to.include('Hello')
          }
      })

  for (const [path, body] of Object.entries(others))
    it(`${path}: an upstream that fails tells none`, async () => {
      for (const [name, script] of Object.entries(early)) {
        upstream.answer(script)
        await read(name, path, body)
      }
    })

  it('a socket tells none, before the answer and in the middle of it', async () => {
    const session = await openSession(gateway)
    for (const kind of kinds) {
      for (const [name, script] of Object.entries(early)) {
        upstream.answer(script)
        const frames = await session.turn({ model: kind, input: 'hello' })
        expect(betrayed(JSON.stringify(frames)), `${kind}, ${name}`).to.deep.equal([])
      }
      for (const [name, end] of Object.entries(late)) {
        upstream.answer({ headers: stream, chunks: [...printed(begun[kind]), ...end] })
        const frames = await session.turn({ model: kind, input: 'hello' })
        expect(betrayed(JSON.stringify(frames)), `${kind}, ${name}`).to.deep.equal([])
      }
    }
    session.socket.terminate()
  })

  it('a response in the background keeps none', async () => {
    const openai = client(gateway)
    for (const kind of kinds)
      for (const name of ['400', '401', '500', '200 with an error', 'no HTTP']) {
        upstream.answer(early[name] as Script)
        const { id } = await openai.responses.create({ model: kind, input: 'hello', background: true })
        const response = await ended(openai, id)
        expect(response.status, name).to.equal('failed')
        expect(betrayed(JSON.stringify(response)), `${kind}, ${name}`).to.deep.equal([])
      }
  })

  it('an answer that names a secret as its model has a row without it', async () => {
    for (const kind of kinds) {
      const { body } = says(kind, 'hello') as { readonly body: object }
      upstream.answer({ body: { ...body, model: echoed, id: canaries['header by value'] } as Json })
      expect((await gateway.post('/v1/chat/completions', generate['/v1/chat/completions']?.(kind))).status).to.equal(
        200,
      )
    }
  })

  it('a header that names what a client sent tells none', async () => {
    upstream.answer(says('messages', 'hello'))
    const answer = await gateway.post('/v1/chat/completions', {
      ...generate['/v1/chat/completions']?.('messages'),
      [canaries['header by name']]: 1,
    })
    expect(answer.headers.get('x-gateway-losses')).to.include('[redacted]')
    expect(betrayed(JSON.stringify([...answer.headers]))).to.deep.equal([])
  })

  it('a key that was made here is told by its looks', async () => {
    upstream.answer({ status: 400, body: { error: { message: `no luck with ${made}`, code: made } } })
    const { text } = await read('a made key', '/v1/chat/completions', generate['/v1/chat/completions']?.('chat') ?? {})
    expect(text).not.to.include(made.slice(-12))
    expect(JSON.stringify(await gateway.rows())).not.to.include(made.slice(-12))
  })

  it("a model's own words stay, and so do plain words of headers", async () => {
    const words = `${canaries['key of a provider']} application/json 2024-10-21`
    for (const kind of kinds) {
      upstream.answer(says(kind, words))
      const answer = await gateway.post('/v1/chat/completions', generate['/v1/chat/completions']?.(kind))
      expect(await answer.text()).to.include(words)
    }
    upstream.answer({ headers: stream, chunks: printed(chatFrames('error ', words)) })
    const streamed = await gateway.post('/v1/chat/completions', {
      ...generate['/v1/chat/completions']?.('chat'),
      stream: true,
    })
    expect(await streamed.text()).to.include(words)
    upstream.answer({ status: 400, body: { error: { message: 'send application/json of 2024-10-21' } } })
    const { text } = await read('plain words', '/v1/chat/completions', generate['/v1/chat/completions']?.('chat') ?? {})
    expect(text).to.include('send application/json of 2024-10-21')
  })
})
