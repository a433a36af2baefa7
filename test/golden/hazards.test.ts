import { once } from 'node:events'
import { request as open } from 'node:http'
import type { IncomingMessage } from 'node:http'
import { expect } from 'chai'
import { isObject } from '../../engine/kit.ts'
import type { Json, JsonObject } from '../../engine/index.ts'
import { decoded, framesOf, json, text } from './files.ts'
import { addressed, clients, pairs, streamed } from './pairs.ts'
import { Session, streamOf } from './session.ts'
import { fieldOf, replayed, said } from './turns.ts'

/** What real clients and upstreams do to each other, through a gateway, over HTTP. */
describe('hazards', () => {
  const session = new Session()

  describe('of accounting', () => {
    for (const client of clients)
      for (const { name, protocol } of pairs[client])
        for (const stream of [false, true])
          it(`logs disjoint buckets: ${client} to ${name}, ${stream ? 'streamed' : 'whole'}`, async () => {
            const answer = text(`answers/full.${protocol}.${stream ? 'frames.txt' : 'json'}`)
            session.answer(answer, stream ? protocol : undefined)
            await session.ask(client, name, stream ? streamed[client] : {})
            const row = (await session.gateway.rows()).at(-1)
            expect(row).to.deep.include({
              result: 'completed',
              input_tokens: 30,
              cache_read_tokens: 100,
              // This vendor does not count what it writes to a cache.
              cache_write_tokens: protocol === 'gemini' ? 0 : 20,
              // This API does not tell how many of them were reasoning.
              ...(protocol === 'converse' ? { output_tokens: 20 } : { output_tokens: 12, reasoning_tokens: 8 }),
            })
          })

    it('asks chat upstreams for usage, and tells it only to clients that want it', async () => {
      session.answer(text('answers/length.messages.frames.txt'), 'messages')
      const { text: streamed } = await session.ask('chat', 'messages', { stream: true })
      expect(streamed).to.not.contain('"usage"')
      session.answer(text('answers/length.chat.frames.txt'), 'chat')
      await session.ask('messages', 'compatible', { stream: true })
      expect(session.asked()['stream_options']).to.deep.equal({ include_usage: true })
    })
  })

  describe('of versions and features', () => {
    const dated = { 'anthropic-version': '2026-10-21', 'anthropic-beta': 'some-feature-2026-01-01' }

    it('keeps the version and the features a client asks for where its bytes are kept', async () => {
      session.answer(text('answers/length.messages.json'))
      await session.ask('messages', 'messages', {}, dated)
      expect(session.upstream.requests.at(-1)?.headers).to.deep.include(dated)
    })

    it('names the version its own words are written for, which takes a temperature', async () => {
      session.answer(text('answers/length.messages.json'))
      await session.ask('chat', 'messages', { temperature: 0.5 }, dated)
      const headers = session.upstream.requests.at(-1)?.headers
      expect(headers).to.deep.include({ 'anthropic-version': '2023-06-01' })
      expect(headers).to.not.have.property('anthropic-beta')
      expect(session.asked()).to.deep.include({ temperature: 0.5 })
    })

    it('refuses threads it cannot hold with the code that makes clients send everything, and passes them on otherwise', async () => {
      const thread = { thread: { type: 'create' } }
      const feature = { 'anthropic-beta': 'some-feature-2026-01-01, message-threads-2026-08-12' }
      const asked = session.upstream.requests.length
      for (const [model, headers] of [
        ['compatible', feature],
        ['messages', dated],
      ] as const) {
        const refusal = await session.ask('messages', model, thread, headers)
        expect(refusal.status).to.equal(400)
        const { error } = JSON.parse(refusal.text) as { error: JsonObject }
        expect(error).to.deep.include({
          type: 'invalid_request_error',
          details: { error_code: 'thread_unsupported_request' },
        })
      }
      expect(session.upstream.requests).to.have.length(asked)
      session.answer(text('answers/length.messages.json'))
      await session.ask('messages', 'messages', thread, feature)
      expect(session.asked()).to.deep.include(thread)
    })
  })

  describe('of switched models', () => {
    for (const client of clients)
      for (const from of pairs[client].filter(({ protocol }) => protocol !== client))
        for (const to of pairs[client].filter(({ name }) => name !== from.name))
          it(`${client}: what ${from.name} sealed does not reach ${to.name}`, async () => {
            const [first, second] = json(`${client}/reasoning.json`) as [JsonObject, JsonObject]
            session.answer(text(`answers/reasoning.${from.protocol}.json`))
            const { text: reply } = await session.ask(client, from.name, first)
            expect(decoded(reply)).to.contain('gw1.')
            session.answer(text(`answers/length.${to.protocol}.json`))
            await session.ask(client, to.name, replayed(client, second, said(client, JSON.parse(reply) as JsonObject)))
            const sent = decoded(JSON.stringify(session.asked()))
            expect(sent)
              .to.not.contain('gw1.')
              .and.not.match(/(sig|ENC|RED|gAAAA)[+/]up/)
            expect(sent).to.contain('Let me look.').and.contain('call_b').and.contain('31 °C')
          })
  })

  describe('of size and slicing', () => {
    const long = 'Zürich ☃ 😀 '.repeat(30_000)

    for (const client of clients)
      for (const { name, protocol } of pairs[client])
        it(`${client} to ${name}: half a megabyte in odd pieces`, async () => {
          session.upstream.answer({
            headers: { 'content-type': 'application/json' },
            chunks: [text(`answers/length.${protocol}.json`)],
          })
          const turn = client === 'gemini' ? { role: 'user', parts: [{ text: long }] } : { role: 'user', content: long }
          const limit = client === 'messages' ? { max_tokens: 100 } : {}
          const { path, body } = addressed(client, { model: name, ...limit, [fieldOf(client)]: [turn] })
          const bytes = Buffer.from(JSON.stringify(body))
          const request = open(session.gateway.url + path, {
            method: 'POST',
            headers: { authorization: `Bearer ${session.gateway.key}`, 'content-type': 'application/json' },
          })
          for (let at = 0; at < bytes.length; at += 9973) request.write(bytes.subarray(at, at + 9973))
          request.end()
          const [response] = (await once(request, 'response')) as [IncomingMessage]
          response.resume()
          await once(response, 'end')
          expect(response.statusCode).to.equal(200)
          expect(texts(session.asked())).to.include(long)
        })

    for (const client of clients)
      for (const { name, protocol } of pairs[client])
        it(`${client} to ${name}: an answer in single bytes`, async () => {
          const { headers, chunks } = streamOf(protocol, 'full')
          session.upstream.answer({ headers, chunks: Array.from(chunks[0], (byte) => Uint8Array.of(byte)) })
          const { text: answer } = await session.ask(client, name, streamed[client])
          const told = framesOf(answer)
            .map(({ data }) => pieces(data).join(''))
            .join('')
          expect(told).to.equal('{"animal":"cat ☃😀"}')
        })
  })
})

/** Every text in a JSON value. */
function texts(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(texts) : []
}

/** What a frame of a stream says. */
function pieces(data: Json): string[] {
  if (!isObject(data)) return []
  const { type, delta, choices, candidates } = data
  if (Array.isArray(candidates)) return texts(candidates.map((one) => isObject(one) && one['content'])).filter((said) => said !== 'model')
  if (type === 'response.output_text.delta') return [delta as string]
  const deltas = [delta, ...(Array.isArray(choices) ? choices.filter(isObject).map((choice) => choice['delta']) : [])]
  return deltas
    .filter(isObject)
    .flatMap((one) => [one['content'], one['text']].filter((said) => typeof said === 'string'))
}
