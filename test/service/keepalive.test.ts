import { expect } from 'chai'
import { anthropic, openai } from '../support/clients.ts'
import { startGeneration } from '../support/generation.ts'
import type { Generation } from '../support/generation.ts'
import type { Script } from '../support/upstream.ts'
import { chatFrames, messagesFrames, printed, responsesFrames } from './streams.ts'
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
  let rig: Generation
  before(async () => (rig = await startGeneration({ server_config: { keepalive: { sse_interval: '32ms' } } })))
  after(() => rig.close())

  /** The first half of a stream, and the second once it may `goOn`. */
  const halves = (frames: readonly ScriptedFrame[]) => {
    const { promise, resolve: goOn } = Promise.withResolvers<void>()
    async function* chunks() {
      for (const [index, frame] of frames.entries()) {
        if (index === 4) await promise
        yield printed(frame)
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
        rig.upstream.answer(script)
        const response = await rig.gateway.post(path, { ...body, model, stream: true })
        const decoder = new TextDecoder()
        let text = ''
        for await (const chunk of response.body ?? []) {
          text += decoder.decode(chunk as Uint8Array, { stream: true })
          if (text.split(silence).length > 3) goOn()
        }
        const said = text.replaceAll(silence, '')
        expect(said).to.contain('Hello').and.contain(' there').and.not.contain('keepalive').and.not.contain('"ping"')
        rig.upstream.answer({ frames })
        const calm = await (await rig.gateway.post(path, { ...body, model, stream: true })).text()
        const ids = /[0-9a-f]{8}-[0-9a-f-]{27}|[0-9a-f]{32,}|"(created|created_at|completed_at)":\d+/g
        expect(said.replaceAll(ids, '')).to.equal(calm.replaceAll(silence, '').replaceAll(ids, ''))
      })

  it('keeps the official clients waiting', async () => {
    for (const [model, silence] of [
      ['chat', comment],
      ['messages', ping],
    ] as const) {
      const { script, goOn } = halves(streams[model] ?? [])
      rig.upstream.answer(script)
      const fetch = watching(silence, goOn)
      const said =
        model === 'chat'
          ? openai(rig.gateway, { fetch }).chat.completions.stream({ model, messages: hello }).finalContent()
          : anthropic(rig.gateway, { fetch }).messages.stream({ model, messages: hello, max_tokens: 9 }).finalText()
      expect(await said).to.equal('Hello there')
    }
  })
})
