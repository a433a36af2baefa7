import { expect } from 'chai'
import type { Json, JsonObject } from '../../engine/index.ts'
import type { RequestsTable } from '../../plugins/request-log/table.ts'
import { openai } from '../support/clients.ts'
import { startGeneration } from '../support/generation.ts'
import type { Generation } from '../support/generation.ts'
import type { Script } from '../support/upstream.ts'
import { chatAnswer, chatFrames, messagesFrames, responsesFrames } from './streams.ts'
import type { ScriptedFrame } from './streams.ts'

const prompt = 'Tell me all there is to say.'
const messages = [{ role: 'user', content: prompt }] as const satisfies object[]
const pricing = { input: 1, output: 4, cache_read: 0, cache_write: 0 }

describe('the usage of a stream', () => {
  let rig: Generation
  before(
    async () =>
      (rig = await startGeneration({
        each: { upstream_model: 'vendor-model', pricing },
        providers: (at) => [
          { name: 'bridge', type: 'bridge_c', ...at },
          { name: 'older', type: 'compatible', ...at, traits: { stream_usage: false } },
        ],
        models: ['vendor', 'bridge', 'older'].map((name) => ({ name, provider: name })),
      })),
  )
  after(() => rig.close())

  const lastRow = async () => (await rig.gateway.rows()).at(-1) as RequestsTable
  const sent = () => rig.upstream.requests.at(-1)?.body.toString()

  /** Sends a body as it is written, and reads the answer. */
  const post = async (body: string, path = '/v1/chat/completions') => {
    const response = await fetch(rig.gateway.url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${rig.gateway.key}` },
      body,
    })
    return { status: response.status, losses: response.headers.get('x-gateway-losses'), text: await response.text() }
  }

  for (const model of ['vendor', 'chat', 'bridge'])
    describe(`of ${model}`, () => {
      beforeEach(() => rig.upstream.answer({ frames: chatFrames('Hello', ' there') }))

      it('is asked for and counted when the client asks for none, and not shown to it', async () => {
        const stream = await openai(rig.gateway).chat.completions.create({ model, messages, stream: true })
        const chunks = await Array.fromAsync(stream)
        expect(chunks.map(({ choices }) => choices.length)).to.deep.equal([1, 1, 1, 1])
        expect(chunks.some((chunk) => 'usage' in chunk)).to.equal(false)
        expect(JSON.parse(sent() ?? '')).to.have.deep.property('stream_options', { include_usage: true })
        const row = await lastRow()
        expect(row).to.include({ input_tokens: 9, output_tokens: 4, cost_micros: 25, result: 'completed' })
        expect(JSON.parse(row.metadata)).not.to.have.property('usage')
      })

      it('is shown to a client that asks for it', async () => {
        const stream_options = { include_usage: true }
        const stream = await openai(rig.gateway).chat.completions.create({
          model,
          messages,
          stream: true,
          stream_options,
        })
        const last = (await Array.fromAsync(stream)).at(-1)
        expect(last?.choices).to.deep.equal([])
        expect(last?.usage?.total_tokens).to.equal(13)
        expect(await lastRow()).to.include({ input_tokens: 9, output_tokens: 4 })
      })
    })

  describe('in the bytes of a request', () => {
    const wanted = '"stream_options":{"include_usage":true}'
    const cases: Record<string, readonly [given: string, passed: string]> = {
      'that says nothing of it': [
        '{ "model": "chat",\n"stream" : true, "seed":12345678901234567890, "messages":MESSAGES }\n',
        `{${wanted}, "model": "vendor-model",\n"stream" : true, "seed":12345678901234567890, "messages":MESSAGES }\n`,
      ],
      'that says null': [
        '{"model":"chat","stream_options":null,"stream":true,"messages":MESSAGES}',
        `{${wanted},"model":"vendor-model","stream":true,"messages":MESSAGES}`,
      ],
      'that says nothing in it': [
        '{"model":"chat","stream":true,"messages":MESSAGES,"stream_options":{}}',
        `{${wanted},"model":"vendor-model","stream":true,"messages":MESSAGES}`,
      ],
      'that wants none': [
        '{"model":"chat","stream":true,  "stream\\u005foptions" : { "include_usage" : false },"messages":MESSAGES}',
        `{${wanted},"model":"vendor-model","stream":true,"messages":MESSAGES}`,
      ],
      'that says something else': [
        '{"stream_options":{"include_obfuscation":false},"model":"chat","stream":true,"messages":MESSAGES}',
        '{"stream_options":{"include_obfuscation":false,"include_usage":true},"model":"vendor-model","stream":true,"messages":MESSAGES}',
      ],
      'that asks for it': [
        '{"model":"chat","stream":true,"stream_options":{ "include_usage":true },"messages":MESSAGES}',
        '{"model":"vendor-model","stream":true,"stream_options":{ "include_usage":true },"messages":MESSAGES}',
      ],
      'that is no stream': [
        '{"model":"chat","stream":false,"messages":MESSAGES}',
        '{"model":"vendor-model","stream":false,"messages":MESSAGES}',
      ],
      'to a provider that does not take it': [
        '{"model":"older","stream":true,"messages":MESSAGES}',
        '{"model":"vendor-model","stream":true,"messages":MESSAGES}',
      ],
    }
    for (const [name, [given, passed]] of Object.entries(cases))
      it(`${name} stands as it should`, async () => {
        const streamed = !given.includes('"stream":false')
        rig.upstream.answer(streamed ? { frames: chatFrames('Hello') } : { body: chatAnswer })
        const full = (text: string) => text.replace('MESSAGES', JSON.stringify(messages))
        const { status, text } = await post(full(given))
        expect(status).to.equal(200)
        expect(sent()).to.equal(full(passed))
        expect(text.includes('"choices":[]')).to.equal(name === 'that asks for it')
        expect(text.endsWith('data: [DONE]\n\n')).to.equal(streamed)
      })

    it('that says it twice is refused', async () => {
      const asked = rig.upstream.requests.length
      const twice = `{"model":"chat","stream":true,"stream_options":{},"stream_options":null,"messages":${JSON.stringify(messages)}}`
      expect((await post(twice)).status).to.equal(400)
      expect(rig.upstream.requests).to.have.length(asked)
    })

    it('of responses is nothing that is passed on', async () => {
      rig.upstream.answer({ frames: responsesFrames('Hello') })
      const body = (options: string) => `{"model":"vendor","stream":true,"input":"hi","store":false${options}}`
      const { status, losses } = await post(
        body(',"stream_options":{"include_obfuscation":false,"x":1}'),
        '/v1/responses',
      )
      expect([status, losses]).to.deep.equal([200, 'stream_options.x'])
      expect(JSON.parse(sent() ?? '')).to.have.deep.property('stream_options', { include_obfuscation: false })
      await post(body(',"stream_options":{"include_obfuscation":true}'), '/v1/responses')
      expect(JSON.parse(sent() ?? '')).to.have.deep.property('stream_options', { include_obfuscation: true })
      await post(body(',"stream_options":{"x":1}'), '/v1/responses')
      expect(JSON.parse(sent() ?? '')).to.have.property('stream_options', null)
    })
  })

  describe('beside a choice', () => {
    it('stays where the provider has put it', async () => {
      const [role, ...rest] = chatFrames('Hello').slice(0, -2) as { readonly data: JsonObject }[]
      const usage = { prompt_tokens: 9, completion_tokens: 4, total_tokens: 13 }
      const frames = [role, ...rest.map(({ data }) => ({ data: { ...data, usage } })), '[DONE]'] as ScriptedFrame[]
      rig.upstream.answer({ frames })
      const { text } = await post(JSON.stringify({ model: 'chat', messages, stream: true }))
      const expected = frames.map((frame) => (typeof frame === 'string' ? frame : JSON.stringify(frame.data)))
      expect(text).to.equal(expected.map((data) => `data: ${data}\n\n`).join(''))
      expect(await lastRow()).to.include({ input_tokens: 9, output_tokens: 4 })
    })

    it('has a finish before it for the official client, though the provider sent none', async () => {
      const [role, hello] = chatFrames('Hello')
      rig.upstream.answer({ frames: [role, hello, '[DONE]'] as ScriptedFrame[] })
      const stream = openai(rig.gateway).chat.completions.stream({ model: 'chat', messages })
      const { choices } = await stream.finalChatCompletion()
      expect(choices[0]).to.deep.include({ finish_reason: 'stop' })
      expect(choices[0]?.message.content).to.equal('Hello')
      expect(await lastRow()).to.include({ result: 'completed' })
    })

    it('is no chunk of usage because somebody speaks of it', async () => {
      const frames = chatFrames('a "prompt_tokens" and {"choices":[],"usage":{}}').toSpliced(-2, 1)
      rig.upstream.answer({ frames })
      const { text } = await post(JSON.stringify({ model: 'chat', messages, stream: true }))
      expect(text.match(/data: /g)).to.have.length(frames.length)
    })
  })

  describe('that nobody sees the end of', () => {
    const words = Array.from({ length: 200 }, (_, at) => `word number ${at} `)
    const beginnings: Record<string, readonly ScriptedFrame[]> = {
      chat: chatFrames(...words).slice(0, 201),
      responses: responsesFrames(...words).slice(0, 203),
      messages: messagesFrames(...words).slice(0, 202),
    }
    /** Tokens that 200 times three words are about. */
    const [fewest, most] = [500, 1_100]
    const paths = { '/v1/chat/completions': { messages }, '/v1/messages': { messages, max_tokens: 9 } }

    const left = async (model: string, path: string, body: Json) => {
      rig.upstream.answer({ frames: beginnings[model] as NonNullable<Script['frames']>, ending: 'hang' })
      const { length } = await rig.gateway.rows()
      const response = await rig.gateway.post(path, { ...(body as object), model, stream: true })
      const reader = (response.body as ReadableStream<Uint8Array>).getReader()
      let text = ''
      while (!text.includes('number 199')) text += Buffer.from((await reader.read()).value ?? []).toString()
      await reader.cancel()
      return (await rig.gateway.rows(length + 1))[length] as RequestsTable
    }

    for (const [path, body] of Object.entries(paths))
      for (const model of Object.keys(beginnings)) {
        it(`is counted by what arrived when the client of ${path} leaves ${model}`, async () => {
          const row = await left(model, path, body)
          expect(row.result).to.equal('client_closed')
          expect(row.output_tokens).to.be.within(fewest, most)
          expect(row.input_tokens).to.be.within(5, 12)
          expect(row.cost_micros).to.equal(Number(row.input_tokens) + 4 * Number(row.output_tokens))
          expect(JSON.parse(row.metadata)).to.include({ usage: 'estimated' })
        })

        it(`is counted by what arrived when ${model} breaks off for ${path}`, async () => {
          rig.upstream.answer({ frames: beginnings[model] as NonNullable<Script['frames']> })
          await (await rig.gateway.post(path, { ...body, model, stream: true })).text()
          const row = await lastRow()
          expect(row.result).to.equal('failed')
          expect(row.output_tokens).to.be.within(fewest, most)
          expect(JSON.parse(row.metadata)).to.include({ usage: 'estimated' })
        })
      }

    it('is counted for responses, too', async () => {
      const row = await left('responses', '/v1/responses', { input: prompt })
      expect(row.output_tokens).to.be.within(fewest, most)
      expect(row.input_tokens).to.be.within(5, 12)
      expect(JSON.parse(row.metadata)).to.include({ usage: 'estimated' })
    })

    it('is what the provider has told of it where that is more', async () => {
      const row = await left('messages', '/v1/messages', { messages, max_tokens: 9 })
      expect(row.input_tokens).to.equal(9)
    })
  })
})
