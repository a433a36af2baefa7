import { once } from 'node:events'
import { request as open } from 'node:http'
import type { IncomingMessage } from 'node:http'
import { expect } from 'chai'
import type { JsonObject } from '../../engine/index.ts'
import { framesOf, text } from './files.ts'
import type { ReadFrame } from './files.ts'
import { addressed, clients, pairs, streamed } from './pairs.ts'
import type { Spoken } from './pairs.ts'
import { Session } from './session.ts'

/** What ends a stream that broke, in each protocol, as an upstream says it. */
const breaks: Readonly<Record<Spoken, string>> = {
  converse: 'event: internalServerException\ndata: {"message":"GPU on fire"}\n\n',
  chat: 'data: {"error":{"message":"GPU on fire","type":"server_error","param":null,"code":null}}\n\n',
  messages: 'event: error\ndata: {"type":"error","error":{"type":"api_error","message":"GPU on fire"}}\n\n',
  responses:
    'event: error\ndata: {"type":"error","sequence_number":9,"code":"server_error","message":"GPU on fire","param":null}\n\n' +
    'event: response.failed\ndata: {"type":"response.failed","sequence_number":10,"response":{"id":"resp_up","status":"failed","error":{"code":"server_error","message":"GPU on fire"},"output":[]}}\n\n',
  gemini: 'data: {"error":{"code":500,"message":"GPU on fire","status":"INTERNAL"}}\n\n',
}

describe('failures through a gateway', () => {
  const session = new Session()

  describe('of streams that break', () => {
    for (const client of clients)
      for (const { name, protocol } of pairs[client])
        for (const cut of [false, true])
          it(`${client} to ${name}: ${cut ? 'the connection ends' : 'an error comes'} in the middle of a text`, async () => {
            const transcript = text(`answers/full.${protocol}.frames.txt`)
            const half = transcript.slice(0, transcript.indexOf('\n\n', transcript.indexOf('\\"animal\\"')) + 2)
            session.answer(cut ? half : half + breaks[protocol], protocol)
            const { status, text: answer } = await session.ask(client, name, streamed[client])
            const frames = framesOf(answer)
            expect(status).to.equal(200)
            expect(frames.some(({ data }) => JSON.stringify(data).includes('animal'))).to.equal(true)
            const last = frames.at(client === 'responses' ? -3 : -1) as ReadFrame
            // An upstream of the client's own protocol has said it in its own words.
            const told = last.data as JsonObject
            const error = (told['error'] ?? told) as JsonObject
            expect(error['message']).to.match(cut ? /ended before it was complete/ : /GPU on fire/)
            if (client === 'messages') {
              expect(last.event).to.equal('error')
              expect(last.data).to.deep.include({ type: 'error' })
              expect(error['type']).to.equal('api_error')
              expect(answer).to.not.contain('message_stop')
            } else if (client === 'responses') {
              expect(frames.slice(-3).map(({ event }) => event)).to.deep.equal(['error', 'response.failed', undefined])
              expect(last.data).to.deep.include({ message: error['message'], code: error['code'] })
              const { response } = (frames.at(-2) as ReadFrame).data as { response: JsonObject }
              expect(response).to.deep.include({ status: 'failed', error: { code: 'server_error', message: error['message'] } })
              expect(frames.at(-1)?.data).to.equal('[DONE]')
              const numbers = frames.slice(0, -1).map(({ data }) => (data as JsonObject)['sequence_number'])
              if (!cut || name !== 'responses') expect(numbers.at(-1)).to.equal((numbers.at(-2) as number) + 1)
            } else if (client === 'gemini') {
              expect(Object.keys(error)).to.have.members(['code', 'message', 'status'])
              expect(answer).to.not.contain('"finishReason"').and.not.contain('[DONE]')
            } else {
              expect(Object.keys(error)).to.have.members(['message', 'type', 'param', 'code'])
              expect(error['type']).to.equal('server_error')
              expect(answer).to.not.contain('[DONE]').and.not.contain('"finish_reason":"')
            }
            expect((await session.gateway.rows()).at(-1)).to.deep.include({ status: 200, result: 'failed' })
          })
  })

  describe('of errors', () => {
    /** The error type for a messages client and its status, by what the upstream answers. */
    const refused = [
      { given: 400, status: 400, type: 'invalid_request_error' },
      { given: 401, status: 502, type: 'api_error' },
      { given: 403, status: 502, type: 'api_error' },
      { given: 404, status: 404, type: 'not_found_error' },
      { given: 413, status: 413, type: 'request_too_large' },
      { given: 422, status: 422, type: 'invalid_request_error' },
      { given: 429, status: 429, type: 'rate_limit_error' },
      { given: 529, status: 529, other: 503, type: 'overloaded_error' },
    ]
    for (const client of clients)
      for (const { name, protocol } of pairs[client])
        for (const { given, status, type, other = status } of refused)
          it(`an upstream's ${given}: ${client} to ${name}`, async () => {
            const error = { message: 'No, thanks.', type: 'some_error', param: null, code: null }
            const body = protocol === 'converse' ? error : protocol === 'messages' ? { type: 'error', error } : { error }
            session.upstream.answer({ status: given, body, headers: { 'retry-after': '7' } })
            const refusal = await session.ask(client, name, {})
            expect(refusal.status).to.equal(client === 'messages' ? status : other)
            const told = JSON.parse(refusal.text) as { error: JsonObject; request_id?: string }
            if (client === 'messages') {
              expect(told).to.deep.include({ type: 'error', request_id: refusal.headers.get('request-id') })
              expect(told.error['type']).to.equal(type)
            } else if (client === 'gemini') expect(told.error).to.include({ code: other, message: told.error['message'] ?? '' })
            else expect(Object.keys(told.error)).to.have.members(['message', 'type', 'param', 'code'])
            if (given === 401 || given === 403) expect(refusal.text).to.not.contain('No, thanks.')
            else expect(refusal.text).to.contain('No, thanks.')
            expect(refusal.headers.get('retry-after')).to.equal('7')
          })

    const own = [
      {
        name: 'no key',
        headers: { authorization: 'Bearer wrong' },
        given: {},
        status: 401,
        type: 'authentication_error',
      },
      { name: 'no such model', model: 'nothing', given: {}, status: 404, type: 'not_found_error' },
      { name: 'no meaning', given: { messages: 5, input: 5, contents: 5 }, status: 400, type: 'invalid_request_error' },
      {
        name: 'a form',
        headers: { 'content-type': 'multipart/form-data; boundary=x' },
        given: {},
        status: 415,
        type: 'invalid_request_error',
      },
    ]
    for (const client of clients)
      for (const { name, headers, model, given, status, type } of own)
        it(`the gateway's own, ${name}: for ${client}`, async () => {
          const before = session.upstream.requests.length
          const refusal = await session.ask(client, model ?? 'compatible', given, headers)
          expect(refusal.status).to.equal(status)
          const told = JSON.parse(refusal.text) as { error: JsonObject; request_id?: string }
          if (client === 'messages') {
            expect(told).to.deep.include({ type: 'error', request_id: refusal.headers.get('request-id') })
            expect(told.error['type']).to.equal(type)
          } else if (client === 'gemini') {
            expect(told.error['code']).to.equal(status)
          } else {
            expect(Object.keys(told.error)).to.have.members(['message', 'type', 'param', 'code'])
            expect(told.error['type']).to.equal('invalid_request_error')
          }
          expect(session.upstream.requests.length).to.equal(before)
        })

    for (const client of clients)
      it(`the gateway's own, a body too large: for ${client}`, async () => {
        const request = open(session.gateway.url + addressed(client, { model: 'compatible' }).path, {
          method: 'POST',
          headers: {
            authorization: `Bearer ${session.gateway.key}`,
            'content-type': 'application/json',
            'content-length': 100_000_000,
          },
        })
        request.on('error', () => undefined)
        request.flushHeaders()
        const [response] = (await once(request, 'response')) as [IncomingMessage]
        const told = JSON.parse(Buffer.concat(await response.toArray()).toString()) as { error: JsonObject }
        request.destroy()
        expect(response.statusCode).to.equal(413)
        const types = { messages: 'request_too_large', gemini: undefined }
        expect(told.error['type']).to.equal(client in types ? types[client as keyof typeof types] : 'invalid_request_error')
      })
  })
})
