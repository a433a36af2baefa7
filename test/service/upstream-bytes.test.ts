import { expect } from 'chai'
import { encodeFrame } from '../../engine/kit.ts'
import { openai } from '../support/clients.ts'
import { startGateway } from '../support/gateway.ts'
import type { RunningGateway, GatewaySettings } from '../support/gateway.ts'
import { scriptedUpstream } from '../support/upstream.ts'
import type { Script, ScriptedUpstream } from '../support/upstream.ts'
import { chatAnswer, chatFrames } from './streams.ts'

const byteBudget = 1024 * 1024
const piece = 'x'.repeat(64 * 1024)

function* endless(beginning: string) {
  yield beginning
  for (;;) yield piece
}

const json = { 'content-type': 'application/json' }
const events = { 'content-type': 'text/event-stream' }
const chat = (model: string, stream: boolean) => ({ model, stream, messages: [{ role: 'user', content: 'hi' }] })

describe('what upstreams send without an end', function () {
  this.timeout(300_000)
  let upstream: ScriptedUpstream
  let gateway: RunningGateway
  beforeEach(async () => (upstream = await scriptedUpstream()))
  afterEach(async () => {
    await gateway.close()
    await upstream.close()
  })
  const start = async (more: GatewaySettings) => {
    const at = { base_url: upstream.url, api_key: 'upstream-key' }
    gateway = await startGateway({
      providers: [
        { name: 'near', type: 'native', ...at },
        { name: 'far', type: 'messages', ...at },
      ],
      models: [
        { name: 'near', provider: 'near' },
        { name: 'far', provider: 'far' },
      ],
      ...more,
    })
  }
  /** A whole answer in chat completions of so many bytes, and a few. */
  const answerOf = (bytes: number): Script => ({ body: { ...chatAnswer, padding: 'x'.repeat(bytes) } })

  it('takes no more than the bytes in hand when it is a whole answer, of all requests together', async () => {
    await start({ limits: { bodies: byteBudget } })
    upstream.answer(() => ({ headers: json, chunks: endless('{"a":"') }))
    const answers = await Promise.all(
      Array.from({ length: 12 }, () => gateway.post('/v1/chat/completions', chat('near', false))),
    )
    for (const answer of answers) {
      expect([answer.status, answer.headers.get('retry-after')]).to.deep.equal([503, '1'])
      expect(await answer.text()).to.contain('overloaded')
    }
    await upstream.closed()
    upstream.answer(() => ({ status: 400, headers: json, chunks: endless('{"a":"') }))
    expect((await gateway.post('/v1/chat/completions', chat('near', false))).status).to.equal(502)
    await upstream.closed()
    // All of it was given back, for answers that were refused and for one that was sent.
    upstream.answer(answerOf(byteBudget - 10_000))
    for (let round = 0; round < 3; round++) {
      const answer = await gateway.post('/v1/chat/completions', chat('near', false))
      expect([answer.status, (await answer.text()).length > byteBudget - 10_000]).to.deep.equal([200, true])
    }
  })

  it('gives back what an answer took that is none, before another provider is asked', async () => {
    const more = { fallbacks: ['other'] }
    const provider = { name: 'near', type: 'native', base_url: upstream.url, api_key: 'upstream-key' }
    await start({
      limits: { bodies: byteBudget },
      providers: [provider],
      models: [
        { name: 'near', provider: 'near', ...more },
        { name: 'other', provider: 'near' },
      ],
    })
    upstream.answer({ headers: json, chunks: ['x'.repeat(byteBudget - 10_000)] }, answerOf(byteBudget - 10_000))
    expect((await gateway.post('/v1/chat/completions', chat('near', false))).status).to.equal(200)
  })

  it('leaves room for a little answer beside the large one of somebody else', async () => {
    await start({ limits: { bodies: byteBudget } })
    async function* slow() {
      yield `{"a":"${'x'.repeat(byteBudget - 1000)}`
      await gate.promise
      yield '"}'
    }
    const gate = Promise.withResolvers<void>()
    upstream.answer({ headers: json, chunks: slow() }, { body: chatAnswer })
    const large = gateway.post('/v1/chat/completions', chat('near', false))
    await upstream.when(() => upstream.requests.some(({ sent }) => sent >= byteBudget - 1000))
    expect((await gateway.post('/v1/chat/completions', chat('near', false))).status).to.equal(200)
    gate.resolve()
    expect((await large).status).to.equal(200)
  })

  it('ends with an error when it is an event that has to be read', async () => {
    await start({ server_config: { resilience: { max_event_bytes: 65_536 } } })
    upstream.answer(() => ({ headers: events, chunks: endless('event: message_start\ndata: {"a":"') }))
    const text = await (await gateway.post('/v1/chat/completions', chat('far', true))).text()
    expect(text).to.contain('an event is larger than 65536 bytes')
    await upstream.closed()
  })

  it('ends with an error when all such events together are more than the bytes in hand', async () => {
    await start({ limits: { bodies: byteBudget }, server_config: { resilience: { max_event_bytes: 67_108_864 } } })
    upstream.answer(() => ({ headers: events, chunks: endless('event: message_start\ndata: {"a":"') }))
    const texts = await Promise.all(
      Array.from({ length: 8 }, async () => (await gateway.post('/v1/chat/completions', chat('far', true))).text()),
    )
    for (const text of texts) expect(text).to.contain('overloaded')
    await upstream.closed()
  })

  it('passes as it arrives when it is an event that nobody reads, and is cut off with its client', async () => {
    await start({ limits: { bodies: byteBudget } })
    upstream.answer({ headers: events, chunks: endless('data: {"a":"') })
    const answer = await gateway.post('/v1/chat/completions', chat('near', true))
    const reader = answer.body?.getReader()
    let read = 0
    while (read < 8 * byteBudget) read += (await reader?.read())?.value?.length ?? 0
    await reader?.cancel()
    await upstream.closed()
  })

  for (const answer_model of ['upstream', 'gateway'])
    it(`breaks for the client where it broke inside such an event, with the model in the word of the ${answer_model}`, async () => {
      await start({ limits: { bodies: byteBudget }, server_config: { request_policy: { answer_model } } })
      for (const ending of ['reset', 'end'] as const) {
        const arrived = Promise.withResolvers<void>()
        async function* broken() {
          yield `data: {"a":"${'x'.repeat(3 * byteBudget)}`
          await arrived.promise
        }
        upstream.answer({ headers: events, chunks: broken(), ending })
        const answer = await gateway.post('/v1/chat/completions', chat('near', true))
        const reader = answer.body?.getReader()
        await reader?.read()
        arrived.resolve()
        const read = async () => {
          for (;;) if ((await reader?.read())?.done !== false) return 'complete'
        }
        expect(await read().catch(() => 'broken'), ending).to.equal('broken')
      }
    })

  it('is not passed on when it begins as a failure', async () => {
    await start({})
    const [first] = chatFrames('Hello')
    if (typeof first !== 'object') throw new Error('it is no frame')
    for (const failure of [
      'data: {"error": {"message": "',
      'event: error\ndata: {"a":"',
      'data: {"type":"error","m":"',
    ]) {
      const chunks = [encodeFrame({ data: JSON.stringify(first.data) }), failure, `canary${'x'.repeat(2 * byteBudget)}`]
      upstream.answer({ headers: events, chunks })
      const text = await (await gateway.post('/v1/chat/completions', chat('near', true))).text()
      expect(text).to.contain('an event is larger than').and.not.to.contain('canary')
    }
  })

  it('may be pictures of several megabytes, the first event among them', async () => {
    await start({})
    const pictures = ['image_generation.partial_image', 'image_generation.completed'].map((type, index) => ({
      event: type,
      data: {
        type,
        b64_json: String(index).repeat(5 * byteBudget),
        ...(index === 1 ? { usage: { input_tokens: 50, output_tokens: 4160, total_tokens: 4210 } } : {}),
      },
    }))
    upstream.answer({ frames: pictures })
    const stream = await openai(gateway).images.generate({ model: 'near', prompt: 'a cat', stream: true })
    const seen: { type: string; length: number }[] = []
    for await (const { type, b64_json: data } of stream) seen.push({ type, length: data.length })
    expect(seen).to.deep.equal(pictures.map(({ event: type }) => ({ type, length: 5 * byteBudget })))
    const [row] = await gateway.rows()
    expect(row).to.include({ result: 'completed', input_tokens: 50, output_tokens: 4160 })
  })
})
