import Anthropic from '@anthropic-ai/sdk'
import { expect } from 'chai'
import OpenAI from 'openai'
import type { Frame } from '../../engine/index.ts'
import { FrameDecoder } from '../../engine/kit.ts'
import { anthropic, openai } from '../support/clients.ts'
import { startGateway } from '../support/gateway.ts'
import type { RunningGateway } from '../support/gateway.ts'
import { scriptedUpstream } from '../support/upstream.ts'
import type { Script, ScriptedUpstream } from '../support/upstream.ts'
import { arrived, chatAnswer, chatFrames, messagesAnswer, messagesFrames, responsesFrames } from './streams.ts'
import type { ScriptedFrame } from './streams.ts'

const canary = 'canary-sk-90ab56cd12ef34'
const told = 'The machine under it went away.'

const protocols = ['chat', 'responses', 'messages'] as const
type Protocol = (typeof protocols)[number]

/** A stream up to the word "Hello", after which something happens. */
const beginnings: Record<Protocol, readonly ScriptedFrame[]> = {
  chat: chatFrames('Hello', ' there').slice(0, 2),
  responses: responsesFrames('Hello', ' there').slice(0, 4),
  messages: messagesFrames('Hello', ' there').slice(0, 3),
}

/** How each kind of provider says in the middle of a stream that it cannot go on. */
const failures: Record<Protocol, ScriptedFrame> = {
  chat: { data: { error: { message: told, type: 'server_error', param: null, code: null } } },
  responses: {
    event: 'response.failed',
    data: {
      type: 'response.failed',
      sequence_number: 4,
      response: {
        id: 'resp_1',
        object: 'response',
        status: 'failed',
        error: { code: 'server_error', message: told },
        output: [],
      },
    },
  },
  messages: { event: 'error', data: { type: 'error', error: { type: 'api_error', message: told } } },
}

/** What happens after "Hello". */
const accidents: Record<string, (protocol: Protocol) => Script> = {
  'a provider that says so': (protocol) => ({ frames: [...beginnings[protocol], failures[protocol]] }),
  'a stream that just ends': (protocol) => ({ frames: beginnings[protocol] }),
  'a closed connection': (protocol) => ({ ...arrived(beginnings[protocol]), ending: 'close' }),
  'a reset connection': (protocol) => ({ ...arrived(beginnings[protocol]), ending: 'reset' }),
  silence: (protocol) => ({ frames: beginnings[protocol], ending: 'hang' }),
}

describe('a stream that breaks in the middle', () => {
  let upstream: ScriptedUpstream
  let gateway: RunningGateway
  before(async () => {
    upstream = await scriptedUpstream()
    const at = { base_url: upstream.url, api_key: canary }
    const hasty = { ...at, timeouts: { idle: '500ms' } }
    gateway = await startGateway({
      server_config: { resilience: { breaker: { enabled: false } } },
      providers: [
        { name: 'family', type: 'compatible', ...at },
        { name: 'vendor', type: 'native', ...at },
        { name: 'other', type: 'messages', ...at },
        { name: 'hasty-family', type: 'compatible', ...hasty },
        { name: 'hasty-vendor', type: 'native', ...hasty },
        { name: 'hasty-other', type: 'messages', ...hasty },
        { name: 'echo', type: 'echo', fail: { after: 2 } },
      ],
      models: [
        { name: 'chat', provider: 'family', fallbacks: ['second'] },
        { name: 'responses', provider: 'vendor', protocols: ['responses'], fallbacks: ['second'] },
        { name: 'messages', provider: 'other', fallbacks: ['second'] },
        { name: 'hasty-chat', provider: 'hasty-family', fallbacks: ['second'] },
        { name: 'hasty-responses', provider: 'hasty-vendor', protocols: ['responses'], fallbacks: ['second'] },
        { name: 'hasty-messages', provider: 'hasty-other', fallbacks: ['second'] },
        { name: 'second', provider: 'family' },
        { name: 'echo', provider: 'echo' },
      ],
    })
  })
  after(async () => {
    await gateway.close()
    await upstream.close()
  })

  const ask = (path: string, model: string) =>
    gateway.post(path, {
      model,
      max_tokens: 99,
      stream: true,
      messages: [{ role: 'user', content: 'hello you out there' }],
    })

  const framesOf = async (response: Response): Promise<readonly Frame[]> => {
    expect(response.status).to.equal(200)
    expect(response.headers.get('content-type')).to.match(/^text\/event-stream/)
    const decoder = new FrameDecoder()
    return [...decoder.push(await response.bytes()), ...decoder.end()]
  }

  const lastRow = async () => (await gateway.rows()).at(-1)

  for (const protocol of protocols)
    for (const [name, script] of Object.entries(accidents)) {
      describe(`${name}, of a provider of ${protocol}`, () => {
        const model = name === 'silence' ? `hasty-${protocol}` : protocol
        beforeEach(() => upstream.answer(() => script(protocol)))

        it('ends chat completions with an error and without its last word', async () => {
          const asked = upstream.requests.length
          const frames = await framesOf(await ask('/v1/chat/completions', model))
          const { error, ...rest } = JSON.parse(frames.at(-1)?.data ?? '') as { error: object; [key: string]: unknown }
          expect(rest).to.deep.equal({})
          expect(Object.keys(error)).to.deep.equal(['message', 'type', 'param', 'code'])
          expect(frames.map(({ data }) => data)).not.to.include('[DONE]')
          expect(frames.some(({ data }) => data.includes('Hello'))).to.equal(true)
          expect(frames.filter(({ data }) => data.includes('"error"'))).to.have.length(1)
          expect(frames.some(({ data }) => /"finish_reason":"/.test(data))).to.equal(false)
          expect(upstream.requests.length - asked, 'nobody else is asked').to.equal(1)
          expect(await lastRow()).to.include({ status: 200, result: 'failed', stream: 1, attempts: 1, model })
          expect((await lastRow())?.error).to.be.a('string')
        })

        it('ends messages with the event error and without its last word', async () => {
          const asked = upstream.requests.length
          const frames = await framesOf(await ask('/v1/messages', model))
          const last = frames.at(-1)
          expect(last?.event).to.equal('error')
          const event = JSON.parse(last?.data ?? '') as Record<string, unknown>
          expect(event['type']).to.equal('error')
          expect(event['error']).to.have.all.keys('type', 'message')
          expect(frames.filter(({ event: word }) => word === 'error')).to.have.length(1)
          expect(frames.map(({ event: word }) => word)).not.to.include.members(['message_stop'])
          expect(frames.some(({ data }) => data.includes('Hello'))).to.equal(true)
          expect(upstream.requests.length - asked, 'nobody else is asked').to.equal(1)
          expect(await lastRow()).to.include({ status: 200, result: 'failed', stream: 1, type: 'messages' })
        })

        it('throws in the official clients, after what came', async () => {
          const pieces: string[] = []
          const chat = openai(gateway)
            .chat.completions.stream({ model, messages: [{ role: 'user', content: 'hello' }] })
            .on('content', (piece) => pieces.push(piece))
          expect(await caught(chat.finalMessage())).to.be.instanceOf(OpenAI.APIError)
          const messages = anthropic(gateway)
            .messages.stream({ model, max_tokens: 9, messages: [{ role: 'user', content: 'hello' }] })
            .on('text', (piece) => pieces.push(piece))
          expect(await caught(messages.finalMessage())).to.be.instanceOf(Anthropic.APIError)
          expect(pieces.filter((piece) => piece !== '')).to.deep.equal(['Hello', 'Hello'])
        })
      })
    }

  it('breaks in the same way when the provider is the smallest one', async () => {
    const chat = await framesOf(await ask('/v1/chat/completions', 'echo'))
    expect(JSON.parse(chat.at(-1)?.data ?? '')).to.have.nested.property('error.type', 'server_error')
    const messages = await framesOf(await ask('/v1/messages', 'echo'))
    expect(messages.at(-1)?.event).to.equal('error')
  })

  it('tells nobody the key, where the stream is translated', async () => {
    const leaking = (protocol: Protocol): ScriptedFrame =>
      JSON.parse(JSON.stringify(failures[protocol]).replace(told, `bad key ${canary}`)) as ScriptedFrame
    for (const protocol of protocols)
      for (const path of ['/v1/chat/completions', '/v1/messages']) {
        if (path.endsWith(protocol === 'chat' ? 'completions' : protocol)) continue
        upstream.answer({ frames: [...beginnings[protocol], leaking(protocol)] })
        const text = await (await ask(path, protocol)).text()
        expect(text).to.include('bad key').and.not.include(canary)
      }
    expect(gateway.lines.join('')).not.to.include(canary)
    expect(JSON.stringify(await gateway.rows())).not.to.include(canary)
  })

  it('a provider that names its media types carelessly is understood', async () => {
    for (const type of ['Text/Event-Stream;charset=UTF-8', 'text/event-stream; x=y']) {
      upstream.answer({ frames: chatFrames('Hello', ' there'), headers: { 'content-type': type } })
      const stream = openai(gateway).chat.completions.stream({
        model: 'chat',
        messages: [{ role: 'user', content: 'hi' }],
      })
      expect(await stream.finalContent()).to.equal('Hello there')
    }
    for (const type of ['text/plain', 'Application/JSON', '']) {
      upstream.answer({ body: chatAnswer, headers: { 'content-type': type } })
      const whole = await openai(gateway).chat.completions.create({
        model: 'chat',
        messages: [{ role: 'user', content: 'hi' }],
      })
      expect(whole.choices[0]?.message.content).to.equal('Hello there')
    }
  })

  it('a provider that streams though it was not asked to gives a whole answer', async () => {
    upstream.answer({ frames: chatFrames('Hello', ' there') })
    const message = await anthropic(gateway).messages.create({
      model: 'chat',
      max_tokens: 9,
      messages: [{ role: 'user', content: 'hi' }],
    })
    expect(message.content).to.deep.equal([{ type: 'text', text: 'Hello there' }])
    upstream.answer({ frames: messagesFrames('Hello', ' there') })
    const completion = await openai(gateway).chat.completions.create({
      model: 'messages',
      messages: [{ role: 'user', content: 'hi' }],
    })
    expect(completion.choices[0]?.message.content).to.equal('Hello there')
  })

  it('a provider that does not stream though it was asked to still gives a stream', async () => {
    upstream.answer({ body: chatAnswer })
    const message = anthropic(gateway).messages.stream({
      model: 'chat',
      max_tokens: 9,
      messages: [{ role: 'user', content: 'hi' }],
    })
    expect(await message.finalText()).to.equal('Hello there')
    upstream.answer({ body: messagesAnswer })
    const stream = openai(gateway).chat.completions.stream({
      model: 'messages',
      messages: [{ role: 'user', content: 'hi' }],
    })
    expect(await stream.finalContent()).to.equal('Hello there')
    upstream.answer({ body: chatAnswer })
    const own = openai(gateway).chat.completions.stream({ model: 'chat', messages: [{ role: 'user', content: 'hi' }] })
    expect(await own.finalContent()).to.equal('Hello there')
    upstream.answer({ body: messagesAnswer })
    const ownMessage = anthropic(gateway).messages.stream({
      model: 'messages',
      max_tokens: 9,
      messages: [{ role: 'user', content: 'hi' }],
    })
    expect(await ownMessage.finalText()).to.equal('Hello there')
  })
})

function caught(asking: Promise<unknown>): Promise<unknown> {
  return asking.then(
    () => expect.fail('it should have failed'),
    (error: unknown) => error,
  )
}
