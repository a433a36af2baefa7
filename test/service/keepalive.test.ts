import { expect } from 'chai'
import { encodeFrame } from '../../engine/kit.ts'
import { anthropic, openai } from '../support/clients.ts'
import { startGateway } from '../support/gateway.ts'
import type { Gateway } from '../support/gateway.ts'
import { scriptedUpstream } from '../support/upstream.ts'
import type { Script, ScriptedUpstream } from '../support/upstream.ts'
import { chatFrames, messagesFrames, responsesFrames } from './streams.ts'
import type { ScriptedFrame } from './streams.ts'

const streams: Record<string, readonly ScriptedFrame[]> = {
  chat: chatFrames('Hello', ' there'),
  responses: responsesFrames('Hello', ' there'),
  messages: messagesFrames('Hello', ' there'),
}
const ping = 'event: ping\ndata: {"type":"ping"}\n\n'
const comment = ': keepalive\n\n'
const hello = [{ role: 'user', content: 'hello' }] as const satisfies object[]

const clients = {
  '/v1/chat/completions': { body: { messages: hello }, silence: comment },
  '/v1/responses': { body: { input: 'hello', store: false }, silence: comment },
  '/v1/messages': { body: { messages: hello, max_tokens: 9 }, silence: ping },
}

describe('a stream whose provider is silent', () => {
  let upstream: ScriptedUpstream
  let gateway: Gateway
  before(async () => {
    upstream = await scriptedUpstream()
    const at = { base_url: upstream.url, api_key: 'upstream-key' }
    gateway = await startGateway({
      providers: [
        { name: 'family', type: 'compatible', ...at },
        { name: 'vendor', type: 'native', ...at },
        { name: 'other', type: 'messages', ...at },
      ],
      models: [
        { name: 'chat', provider: 'family' },
        { name: 'responses', provider: 'vendor', protocols: ['responses'] },
        { name: 'messages', provider: 'other' },
      ],
      server_config: { keepalive: { sse_interval: '32ms' } },
    })
  })
  after(async () => {
    await gateway.close()
    await upstream.close()
  })

  /** The first half of a stream, and the second once it may `goOn`. */
  const halves = (frames: readonly ScriptedFrame[]) => {
    const { promise, resolve: goOn } = Promise.withResolvers<void>()
    async function* chunks() {
      for (const [index, frame] of frames.entries()) {
        if (index === 4) await promise
        const { event, data } = typeof frame === 'string' ? { event: undefined, data: frame } : frame
        const text = typeof data === 'string' ? data : JSON.stringify(data)
        yield encodeFrame(event === undefined ? { data: text } : { event, data: text })
      }
    }
    const script: Script = { headers: { 'content-type': 'text/event-stream' }, chunks: chunks() }
    return { script, goOn }
  }

  /** A `fetch` whose reader goes on reading; `heard` is called once it has brought the sign of life three times. */
  const watching =
    (silence: string, heard: () => void): typeof fetch =>
    async (address, how) => {
      const response = await fetch(address, how)
      const decoder = new TextDecoder()
      let text = ''
      const watch = new TransformStream<Uint8Array, Uint8Array>({
        transform(chunk, controller) {
          text += decoder.decode(chunk, { stream: true })
          if (text.split(silence).length > 3) heard()
          controller.enqueue(chunk)
        },
      })
      return new Response(response.body?.pipeThrough(watch) ?? null, response)
    }

  for (const [path, { body, silence }] of Object.entries(clients))
    for (const [model, frames] of Object.entries(streams))
      it(`of ${model} says so to clients of ${path}, and goes on`, async () => {
        const { script, goOn } = halves(frames)
        upstream.answer(script)
        const response = await gateway.post(path, { ...body, model, stream: true })
        const decoder = new TextDecoder()
        let text = ''
        for await (const chunk of response.body ?? []) {
          text += decoder.decode(chunk as Uint8Array, { stream: true })
          if (text.split(silence).length > 3) goOn()
        }
        const said = text.replaceAll(silence, '')
        expect(said).to.contain('Hello').and.contain(' there').and.not.contain('keepalive').and.not.contain('"ping"')
        upstream.answer({ frames })
        const calm = await (await gateway.post(path, { ...body, model, stream: true })).text()
        const ids = /[0-9a-f]{8}-[0-9a-f-]{27}|[0-9a-f]{32,}|"created(_at)?":\d+/g
        expect(said.replaceAll(ids, '')).to.equal(calm.replaceAll(silence, '').replaceAll(ids, ''))
      })

  it('keeps the official clients waiting', async () => {
    for (const [model, silence] of [
      ['chat', comment],
      ['messages', ping],
    ] as const) {
      const { script, goOn } = halves(streams[model] ?? [])
      upstream.answer(script)
      const fetch = watching(silence, goOn)
      const said =
        model === 'chat'
          ? openai(gateway, { fetch }).chat.completions.stream({ model, messages: hello }).finalContent()
          : anthropic(gateway, { fetch }).messages.stream({ model, messages: hello, max_tokens: 9 }).finalText()
      expect(await said).to.equal('Hello there')
    }
  })
})
