import { expect } from 'chai'
import { anthropic, openai } from '../support/clients.ts'
import { startGateway } from '../support/gateway.ts'
import type { RunningGateway } from '../support/gateway.ts'
import { scriptedUpstream } from '../support/upstream.ts'
import type { Script, ScriptedUpstream } from '../support/upstream.ts'
import { chatAnswer, chatFrames, messagesAnswer, messagesFrames } from './streams.ts'

const onlyFirst = 'sk-first-0123456789abcdef0123456789abcdef'
const onlySecond = 'sk-second-0123456789abcdef0123456789abcdef'

/** After which failures of the first provider the second one is asked. */
const causes: Record<string, Script> = {
  'a 503': { status: 503, body: { error: { message: 'no room' } } },
  'a 500': { status: 500, body: 'page' },
  'a 429 with a time to wait': { status: 429, body: { error: { message: 'busy' } }, headers: { 'retry-after': '30' } },
  'a closed connection': { raw: '', ending: 'close' },
  'an unreadable answer': { body: '<html>' },
  'an error as the first event of a stream': {
    frames: [
      { event: 'error', data: { type: 'error', error: { type: 'overloaded_error', message: 'no room', code: 503 } } },
    ],
  },
  'an empty stream': { frames: [] },
  'a stream of [DONE] alone': { frames: ['[DONE]'], ending: 'hang' },
  'a stream that breaks before its first event': {
    headers: { 'content-type': 'text/event-stream' },
    chunks: [': wait\n\ndata: {"id":'],
    ending: 'close',
  },
  'a whole answer that breaks off': {
    headers: { 'content-type': 'application/json' },
    chunks: ['{"id":"chatcmpl-1","cho'],
    ending: 'close',
  },
}

/** After which it is not: the second one could not know better. */
const verdicts: Record<string, readonly [script: Script, status: number]> = {
  'a 400': [{ status: 400, body: { error: { message: 'no' } } }, 400],
  'a 404': [{ status: 404, body: { error: { message: 'no' } } }, 404],
  'a 413': [{ status: 413, body: { error: { message: 'no' } } }, 413],
}

describe('the next model', () => {
  let first: ScriptedUpstream
  let second: ScriptedUpstream
  let gateway: RunningGateway
  before(async () => {
    first = await scriptedUpstream()
    second = await scriptedUpstream()
    gateway = await startGateway({
      server_config: { resilience: { retries: { wait: '1ms' }, breaker: { enabled: false } } },
      providers: [
        { name: 'a-chat', type: 'compatible', base_url: first.url },
        { name: 'a-messages', type: 'messages', base_url: first.url, api_key: 'key-a' },
        { name: 'hasty', type: 'compatible', base_url: first.url, timeouts: { first_byte: '60ms' } },
        { name: 'gone', type: 'compatible', base_url: 'http://127.0.0.1:9' },
        { name: 'b-chat', type: 'compatible', base_url: second.url },
        { name: 'b-messages', type: 'messages', base_url: second.url, api_key: 'key-b' },
      ],
      models: [
        { name: 'chat', provider: 'a-chat', aliases: ['c'], fallbacks: ['next-messages'] },
        { name: 'messages', provider: 'a-messages', fallbacks: ['next-chat'] },
        { name: 'slow', provider: 'hasty', fallbacks: ['next-chat'] },
        { name: 'gone', provider: 'gone', fallbacks: ['next-chat'] },
        { name: 'alone', provider: 'a-chat' },
        { name: 'chat-to-chat', provider: 'a-chat', fallbacks: ['next-chat'] },
        { name: 'next-chat', provider: 'b-chat' },
        { name: 'next-messages', provider: 'b-messages' },
      ],
      api_keys: [
        { name: 'only-first', key: onlyFirst, models: ['chat'] },
        { name: 'only-second', key: onlySecond, models: ['next-messages'] },
      ],
    })
  })
  after(async () => {
    await gateway.close()
    await first.close()
    await second.close()
  })

  const lastRow = async () => (await gateway.rows()).at(-1)

  /** Asks whole and streamed with both clients; what `model`'s fallback answers. */
  const answers = async (model: string) => {
    const next =
      model === 'chat'
        ? [{ body: messagesAnswer }, { frames: messagesFrames('Hello', ' there') }]
        : [{ body: chatAnswer }, { frames: chatFrames('Hello', ' there') }]
    const [whole = {}, streamed = {}] = next
    const messages = [{ role: 'user' as const, content: 'hello' }]
    const texts: unknown[] = []
    second.answer(whole)
    const completion = await openai(gateway).chat.completions.create({ model, messages })
    texts.push(completion.choices[0]?.message.content)
    const message = await anthropic(gateway).messages.create({ model, messages, max_tokens: 9 })
    texts.push(message.content[0]?.type === 'text' && message.content[0].text)
    second.answer(streamed)
    texts.push(await openai(gateway).chat.completions.stream({ model, messages }).finalContent())
    texts.push(await anthropic(gateway).messages.stream({ model, messages, max_tokens: 9 }).finalText())
    return texts
  }

  for (const [name, script] of Object.entries(causes)) {
    it(`answers after ${name}, in both protocols, whole and streamed`, async () => {
      for (const model of ['chat', 'messages']) {
        first.answer(script)
        const asked = [first.requests.length, second.requests.length] as const
        expect(await answers(model)).to.deep.equal(['Hello there', 'Hello there', 'Hello there', 'Hello there'])
        // A request is sent once more where its connection may have been closed before it.
        expect(first.requests.length - asked[0]).to.be.within(4, name === 'a closed connection' ? 8 : 4)
        expect(second.requests.length - asked[1]).to.equal(4)
        const next = model === 'chat' ? 'next-messages' : 'next-chat'
        const row = await lastRow()
        expect(row).to.include({
          status: 200,
          result: 'completed',
          attempts: 2,
          requested: model,
          model: next,
          error: null,
        })
        const { tries } = JSON.parse(row?.metadata ?? '') as { tries: { model: string; code: string }[] }
        expect(tries).to.have.length(1)
        expect(tries[0]?.model).to.equal(model)
      }
    })
  }

  it('answers when nobody is there, and when nobody speaks', async () => {
    expect(await answers('gone')).to.deep.equal(['Hello there', 'Hello there', 'Hello there', 'Hello there'])
    first.answer({ silent: true })
    expect(await answers('slow')).to.deep.equal(['Hello there', 'Hello there', 'Hello there', 'Hello there'])
    expect(JSON.parse((await lastRow())?.metadata ?? '')).to.have.deep.property('tries', [
      { model: 'slow', provider: 'hasty', code: 'upstream_timeout' },
    ])
  })

  it('is asked on a connection of its own: the stream that was given up is closed', async () => {
    for (const name of ['an error as the first event of a stream', 'a stream of [DONE] alone']) {
      first.answer({ ...causes[name], ending: 'hang' })
      second.answer({ frames: chatFrames('Hello') })
      const body = { model: 'chat-to-chat', stream: true, messages: [{ role: 'user', content: 'hi' }] }
      expect((await (await gateway.post('/v1/chat/completions', body)).text()).includes('Hello'), name).to.equal(true)
      await first.closed()
    }
  })

  it('is named in the headers', async () => {
    first.answer({ status: 503 })
    second.answer({ body: messagesAnswer })
    const response = await gateway.post('/v1/chat/completions', {
      model: 'c',
      messages: [{ role: 'user', content: 'x' }],
    })
    expect(response.headers.get('x-gateway-model')).to.equal('next-messages')
    expect(response.headers.get('x-gateway-provider')).to.equal('b-messages')
    expect(((await response.json()) as { model: string }).model).to.equal('vendor-model')
    const sent = second.requests.at(-1)
    expect(sent?.headers['x-api-key']).to.equal('key-b')
    expect(sent?.headers).not.to.have.property('authorization')
    expect(JSON.parse(String(sent?.body))).to.include({ model: 'next-messages' })
  })

  for (const [name, [script, status]] of Object.entries(verdicts)) {
    it(`is not asked after ${name}`, async () => {
      for (const model of ['chat', 'messages']) {
        first.answer(script)
        const asked = second.requests.length
        for (const path of ['/v1/chat/completions', '/v1/messages'])
          expect(
            (await gateway.post(path, { model, max_tokens: 9, messages: [{ role: 'user', content: 'x' }] })).status,
          ).to.equal(status)
        expect(second.requests).to.have.length(asked)
      }
    })
  }

  it('is asked at most as often as the pipeline says; the last error is told', async () => {
    first.answer({ status: 503, body: { error: { message: 'the first' } } })
    second.answer({ status: 503, body: { error: { message: 'the second' } } })
    const asked = first.requests.length + second.requests.length
    const response = await gateway.post('/v1/chat/completions', {
      model: 'chat',
      messages: [{ role: 'user', content: 'x' }],
    })
    expect(response.status).to.equal(502)
    expect(await response.text()).to.match(/the (first|second)/)
    expect(first.requests.length + second.requests.length - asked).to.equal(3)
    expect(await lastRow()).to.include({ status: 502, result: 'failed', attempts: 3, error: 'upstream_error' })
  })

  it('is not asked for a key that may not use it', async () => {
    first.answer({ status: 503, body: { error: { message: 'no room' } } })
    const asked = second.requests.length
    const ask = (key: string, model: string) =>
      gateway.post(
        '/v1/chat/completions',
        { model, messages: [{ role: 'user', content: 'x' }] },
        { authorization: `Bearer ${key}` },
      )
    expect((await ask(onlyFirst, 'chat')).status).to.equal(502)
    expect(second.requests).to.have.length(asked)
    const tried = first.requests.length
    expect((await ask(onlySecond, 'chat')).status).to.equal(403)
    expect((await ask(onlySecond, 'c')).status).to.equal(403)
    expect((await ask(onlySecond, 'a-chat/chat')).status).to.equal(403)
    expect([first.requests.length, second.requests.length]).to.deep.equal([tried, asked])
    second.answer({ body: messagesAnswer })
    expect((await ask(onlySecond, 'next-messages')).status).to.equal(200)
    expect((await ask(onlySecond, 'b-messages/next-messages')).status).to.equal(200)
  })

  it('is not asked when the client has left', async () => {
    first.answer({ silent: true })
    const asked = [first.requests.length, second.requests.length, (await gateway.rows()).length] as const
    const abort = new AbortController()
    const answer = openai(gateway)
      .chat.completions.create({ model: 'chat', messages: [{ role: 'user', content: 'x' }] }, { signal: abort.signal })
      .then(
        () => 'answered',
        () => 'left',
      )
    await first.received(asked[0] + 1)
    abort.abort()
    expect(await answer).to.equal('left')
    await first.closed()
    await gateway.rows(asked[2] + 1)
    expect(await lastRow()).to.include({ result: 'client_closed', attempts: 1 })
    expect(second.requests).to.have.length(asked[1])
  })
})
