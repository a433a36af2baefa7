import { join } from 'node:path'
import { expect } from 'chai'
import { encodeFrame } from '../../../engine/kit.ts'
import type { JsonObject } from '../../../engine/index.ts'
import { startGateway } from '../../support/gateway.ts'
import type { RunningGateway } from '../../support/gateway.ts'
import { copyPipelines } from '../../support/pipelines.ts'
import type { Pipelines } from '../../support/pipelines.ts'
import { scriptedUpstream } from '../../support/upstream.ts'
import type { Script, ScriptedUpstream } from '../../support/upstream.ts'
import {
  arrived,
  chatAnswer,
  chatFrames,
  messagesAnswer,
  messagesFrames,
  responsesAnswer,
  responsesFrames,
} from '../../service/streams.ts'

const content = [{ role: 'user', content: 'Hi' }]
const clients = {
  chat: { path: '/v1/chat/completions', body: { messages: content } },
  messages: { path: '/v1/messages', body: { max_tokens: 99, messages: content } },
  responses: { path: '/v1/responses', body: { input: 'Hi', store: false } },
}
type Protocol = keyof typeof clients
const protocols = Object.keys(clients) as readonly Protocol[]

const whole: Record<Protocol, JsonObject> = { chat: chatAnswer, messages: messagesAnswer, responses: responsesAnswer }
const frames = { chat: chatFrames, messages: messagesFrames, responses: responsesFrames }
const says = (protocol: Protocol, stream: boolean): Script =>
  stream ? { frames: frames[protocol]('Hello ', 'there') } : { body: whole[protocol] }

describe('the events of an answer', () => {
  let upstream: ScriptedUpstream
  const opened: (RunningGateway | Pipelines)[] = []
  before(async () => {
    upstream = await scriptedUpstream()
  })
  after(async () => {
    for (const one of opened) await ('close' in one ? one.close() : one.remove())
    await upstream.close()
  })

  const gateways = new Map<string, RunningGateway>()
  /** A gateway whose pipelines have these stages after "call". */
  async function gatewayWith(...stages: readonly string[]): Promise<RunningGateway> {
    const before = gateways.get(stages.join())
    if (before) return before
    const copy = await copyPipelines()
    opened.push(copy)
    const steps = stages.map((stage) => `\n        - answers.${stage}`).join('')
    await copy.edit('generate.yaml', '- call', `- call${steps}`)
    const at = { base_url: upstream.url, api_key: 'k' }
    const gateway = await startGateway({
      plugins: [join(import.meta.dirname, 'plugin.ts')],
      pipelines: copy.folder,
      providers: [
        { name: 'chat', type: 'compatible', ...at, offers: ['chat', 'embeddings'] },
        { name: 'messages', type: 'messages', ...at },
        { name: 'responses', type: 'native', ...at },
        { name: 'throws', type: 'throws' },
        { name: 'ends', type: 'ends' },
      ],
      models: [
        ...protocols.map((name) => ({
          name,
          provider: name,
          protocols: name === 'chat' ? ['chat', 'embeddings'] : [name],
        })),
        ...['throws', 'ends'].map((name) => ({ name, provider: name })),
      ],
    })
    opened.unshift(gateway)
    gateways.set(stages.join(), gateway)
    return gateway
  }

  async function ask(gateway: RunningGateway, client: Protocol, model: string, stream: boolean) {
    const { path, body } = clients[client]
    const response = await gateway.post(path, { ...body, model, ...(stream ? { stream } : {}) })
    return { status: response.status, text: await response.text() }
  }
  const noted = async (gateway: RunningGateway, name: string) => {
    const row = (await gateway.rows()).at(-1)
    return (JSON.parse(row?.metadata ?? '{}') as Record<string, readonly string[]>)[name] ?? []
  }
  const ends = (seen: readonly string[]) => seen.filter((one) => ['finish', 'failure', 'upstream_error'].includes(one))

  for (const client of protocols)
    for (const model of protocols)
      for (const stream of [false, true]) {
        const name = `${client} to ${model}, ${stream ? 'streamed' : 'whole'}`
        it(`are looked at and stay what they are: ${name}`, async () => {
          upstream.answer(says(model, stream))
          const plain = await ask(await gatewayWith(), client, model, stream)
          const gateway = await gatewayWith('watch')
          const seen = await ask(gateway, client, model, stream)
          if (client === model) expect(seen.text).to.equal(plain.text)
          expect(seen.status).to.equal(200)
          const told = await noted(gateway, 'watch')
          expect(told.join(' ')).to.include(stream ? 'Hello  there' : 'Hello there')
          expect(ends(told)).to.deep.equal(['finish'])
          expect(told.at(-1)).to.equal('finish')
        })

        it(`are changed: ${name}`, async () => {
          upstream.answer(says(model, stream))
          const gateway = await gatewayWith('shout', 'watch')
          const { status, text } = await ask(gateway, client, model, stream)
          expect(status, text).to.equal(200)
          expect(text).to.include('HELLO ').and.include('THERE').and.not.include('ello').and.not.include('here')
          // A client that has not asked for the usage of its stream is not shown it.
          if (client === 'chat' && stream) expect(text).to.not.include('prompt_tokens')
          expect((await noted(gateway, 'shout')).join(' ')).to.include('Hello ')
          expect((await noted(gateway, 'watch')).join(' '))
            .to.include('HELLO ')
            .and.include('. item-end finish')
          const { output_tokens: output } = (await gateway.rows()).at(-1) ?? {}
          expect(output).to.equal(4)
        })
      }

  for (const [asked, given] of [
    [true, false],
    [false, true],
  ] as const)
    it(`are seen where a client that ${asked ? 'streams' : 'does not'} is answered otherwise`, async () => {
      upstream.answer(says('chat', given))
      const { text } = await ask(await gatewayWith('shout', 'watch'), 'chat', 'chat', asked)
      expect(text).to.include('HELLO ').and.include('THERE').and.not.include('ello')
    })

  it('are changed in the order of the stages, and nothing comes after the last one', async () => {
    upstream.answer({ frames: chatFrames('Hello ').slice(0, 2), ending: 'hang' })
    const gateway = await gatewayWith('watch', 'enough', 'shout')
    const { text } = await ask(gateway, 'messages', 'chat', true)
    await upstream.closed()
    expect(text).to.include('HELLO ')
    expect(text).to.include('message_stop')
    expect(ends(await noted(gateway, 'shout'))).to.deep.equal(['finish'])
    // What was before hears that it ends when the exchange does.
    expect((await noted(gateway, 'watch')).at(-1)).to.equal('client_closed')
    const row = (await gateway.rows()).at(-1)
    expect(row?.metadata).to.include('estimated').and.include('filter')
  })

  it('come to an end for the client, though a stage drops it', async () => {
    upstream.answer(says('responses', true))
    const { text } = await ask(await gatewayWith('drop'), 'chat', 'responses', true)
    expect(text).to.include('"finish_reason":"stop"').and.include('[DONE]')
  })

  describe('fail', () => {
    const failing = async (client: Protocol, model: string, stream: boolean) => {
      const gateway = await gatewayWith('shout', 'watch')
      const { status, text } = await ask(gateway, client, model, stream)
      expect(status).to.equal(stream ? 200 : 502)
      for (const name of ['shout', 'watch']) {
        const seen = await noted(gateway, name)
        expect(seen.at(-1)).to.be.oneOf(['upstream_error', 'internal_error'])
        expect(seen.filter((one) => one.endsWith('_error'))).to.have.length(1)
      }
      return text
    }

    for (const model of ['throws', 'ends'])
      it(`where a provider of neutral events ${model}`, async () => {
        expect(await failing('chat', model, true))
          .to.include('HALF')
          .and.include('error')
        const whole = await ask(await gatewayWith(), 'chat', model, false)
        expect(whole.status).to.be.at.least(500)
      })

    for (const model of protocols)
      it(`where the stream of ${model} breaks off`, async () => {
        upstream.answer({ ...arrived(frames[model]('Hello ').slice(0, 4)), ending: 'reset' })
        expect(await failing('messages', model, true)).to.include('event: error')
      })

    it('where it breaks off and is only looked at', async () => {
      upstream.answer({ ...arrived(chatFrames('Hello ').slice(0, 2)), ending: 'reset' })
      const gateway = await gatewayWith('watch')
      await ask(gateway, 'chat', 'chat', true)
      expect((await noted(gateway, 'watch')).at(-1)).to.equal('upstream_error')
    })

    it('where a stage refuses them, streamed or whole', async () => {
      const gateway = await gatewayWith('refuse')
      upstream.answer(says('chat', true))
      const streamed = await ask(gateway, 'chat', 'chat', true)
      expect(streamed.text).to.include('Not this.').and.not.include('Hello')
      upstream.answer(says('chat', false))
      const given = await ask(gateway, 'chat', 'chat', false)
      expect(given.status).to.equal(403)
      expect(given.text).to.include('Not this.')
    })

    for (const stage of ['fail', 'fail-at-once'])
      it(`where a stage breaks (${stage}), with the reason in the log alone`, async () => {
        const gateway = await gatewayWith(stage, 'watch')
        for (const stream of [true, false]) {
          upstream.answer(says('chat', stream))
          const { text } = await ask(gateway, 'chat', 'chat', stream)
          expect(text).to.include('internal_error').and.not.include('concern').and.not.include('Hello')
          expect((await noted(gateway, 'watch')).at(-1)).to.equal('internal_error')
        }
        expect(gateway.lines.join('')).to.include('of no concern to clients')
      })

    it('never because of a stage that only looks', async () => {
      upstream.answer(says('chat', true))
      const gateway = await gatewayWith('blind', 'watch')
      const { text } = await ask(gateway, 'chat', 'chat', true)
      expect(text).to.include('Hello ').and.include('[DONE]')
      expect(await noted(gateway, 'blind')).to.have.length(1)
      expect((await noted(gateway, 'watch')).at(-1)).to.equal('finish')
      expect(gateway.lines.join('')).to.include('looked away')
    })
  })

  for (const stage of ['shout', 'watch'])
    it(`tell "${stage}" that the client has left, and the provider is left, too`, async () => {
      upstream.answer({ frames: chatFrames('Hello ').slice(0, 2), ending: 'hang' })
      const gateway = await gatewayWith(...(stage === 'shout' ? ['shout', 'watch'] : ['watch']))
      const { path, body } = clients.chat
      const leaving = new AbortController()
      const response = await fetch(gateway.url + path, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${gateway.key}` },
        body: JSON.stringify({ ...body, model: 'chat', stream: true }),
        signal: leaving.signal,
      })
      await response.body?.getReader().read()
      leaving.abort()
      await upstream.closed()
      let seen: readonly string[] = []
      while (seen.length === 0) seen = await noted(gateway, stage)
      expect(seen.at(-1)).to.equal('client_closed')
    })

  for (const stage of ['shout', 'watch'])
    it(`are not read while the client of "${stage}" does not`, async () => {
      const [start, delta, ...rest] = chatFrames('Hello '.repeat(2_000)).map((frame) =>
        typeof frame === 'string' ? encodeFrame({ data: frame }) : encodeFrame({ data: JSON.stringify(frame.data) }),
      )
      function* chunks() {
        yield start as string
        for (let count = 0; count < 3_000; count++) yield delta as string
        yield rest.join('')
      }
      upstream.answer({ headers: { 'content-type': 'text/event-stream' }, chunks: chunks() })
      const gateway = await gatewayWith(...(stage === 'shout' ? ['shout-quietly'] : ['watch-quietly']))
      const asked = upstream.requests.length
      const { path, body } = clients.chat
      const response = await gateway.post(path, { ...body, model: 'chat', stream: true })
      await upstream.when(() => upstream.requests[asked]?.blocked === true)
      expect(upstream.requests[asked]?.sent).to.be.below(20_000_000)
      const text = await response.text()
      expect(text.length).to.be.above(36_000_000)
      expect(text).to.include('[DONE]')
    }).timeout(60_000)

  it('are there for "generate" alone: elsewhere a stage that has not asked fails', async () => {
    const vectors = { body: { object: 'list', data: [], usage: { prompt_tokens: 1, total_tokens: 1 } } }
    upstream.answer(vectors)
    const body = { model: 'chat', input: 'Hi' }
    for (const stages of [['shout', 'watch'], ['watch']]) {
      const refused = await (await gatewayWith(...stages)).post('/v1/embeddings', body)
      expect(refused.status).to.equal(501)
      expect(await refused.text())
        .to.include('unsupported')
        .and.include('embed')
    }
    expect((await (await gatewayWith('watch-generate')).post('/v1/embeddings', body)).status).to.equal(200)
  })
})
