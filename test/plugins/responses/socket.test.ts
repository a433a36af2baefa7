import { expect } from 'chai'
import type { Frame } from '../../../engine/index.ts'
import { socket } from '../../../plugins/responses/socket.ts'

const event = (type: string, more: object = {}): Frame => ({ event: type, data: JSON.stringify({ type, ...more }) })
const json = (text: string | undefined) => (text === undefined ? undefined : (JSON.parse(text) as unknown))
const broken = { type: 'server_error', code: 'upstream_error', message: 'It broke.', param: null }

describe('a responses socket', () => {
  describe('reads a message', () => {
    it('as a request that streams', () => {
      expect(socket.request({ type: 'response.create' })).to.deep.equal({ stream: true })
      expect(socket.request({ type: 'response.create', generate: null, stream_id: null })).to.deep.equal({
        stream: true,
      })
    })

    it('with a stream_id of 1 to 256 characters', () => {
      for (const lane of ['a', 'A-Z_a.z-09', 'x'.repeat(256)])
        expect(() => socket.request({ type: 'response.create', stream_id: lane }), lane).to.not.throw()
      for (const lane of ['', 'x'.repeat(257), 'a b', 'é', 'a\n', 7])
        expect(() => socket.request({ type: 'response.create', stream_id: lane }), String(lane)).to.throw('stream_id')
    })
  })

  describe('writes', () => {
    it('events as they are, and nothing for what is none', () => {
      const writer = socket.printer({})
      expect(writer.event(event('response.created', { n: 1.5 }))).to.equal('{"type":"response.created","n":1.5}')
      expect(writer.event({ data: '{"type":"keepalive"}' })).to.equal('{"type":"keepalive"}')
      for (const data of ['[DONE]', 'ping', '[]', '{}', '{"a":1}', '7'])
        expect(writer.event({ data }), data).to.equal(undefined)
      expect(writer.event({ event: 'response.created', data: '{}' })).to.equal(undefined)
    })

    it('the name of the turn on each of them', () => {
      const writer = socket.printer({ stream_id: 'a.1' })
      expect(writer.event({ data: '{"type":"x","response":{}} ' })).to.equal(
        '{"type":"x","response":{},"stream_id":"a.1"}',
      )
      expect(json(writer.whole(404, { error: broken }, {}))).to.include({ stream_id: 'a.1' })
      expect(json(socket.printer({ stream_id: 'a b' }).whole(404, { error: broken }, {}))).to.not.have.key('stream_id')
    })

    for (const type of ['response.completed', 'response.incomplete', 'response.failed', 'error'])
      it(`nothing after ${type}`, () => {
        const writer = socket.printer({})
        expect(writer.ended).to.equal(false)
        expect(writer.event(event(type, { response: {}, error: broken }))).to.be.a('string')
        expect(writer.ended).to.equal(true)
        expect(writer.event(event('response.failed'))).to.equal(undefined)
        expect(writer.whole(500, { error: broken }, {})).to.equal(undefined)
        expect(writer.end()).to.equal(undefined)
      })

    it('an error after events with the number that follows', () => {
      const writer = socket.printer({})
      writer.event(event('response.created', { sequence_number: 6 }))
      expect(json(writer.whole(504, { error: broken }, {}))).to.deep.equal({
        type: 'error',
        status: 500,
        sequence_number: 7,
        error: broken,
      })
    })

    it('an error that is flat or nested in one shape', () => {
      const { type, ...flat } = broken
      for (const error of [flat, { error: broken }, { ...flat, error: broken }])
        expect(json(socket.printer({}).event(event('error', { sequence_number: 3, ...error })))).to.deep.equal({
          type: 'error',
          status: 500,
          sequence_number: 3,
          error: { ...broken, type },
        })
    })

    it('the status that an error has over HTTP, and 500 for the trouble of a provider', () => {
      const status = (error: object) =>
        (json(socket.printer({}).event(event('error', { error }))) as { readonly status: number }).status
      expect(status({ code: 'rate_limit_exceeded', message: 'x' })).to.equal(429)
      expect(status({ code: 'upstream_timeout', message: 'x' })).to.equal(500)
      expect(status({ code: 'draining', message: 'x' })).to.equal(503)
      expect(status({ code: 'context_length_exceeded', message: 'x' })).to.equal(400)
      expect(status({ code: 'vendor_trouble', type: 'server_error', message: 'x' })).to.equal(500)
      expect(status({ message: 'x' })).to.equal(500)
      for (const [given, shown] of [
        [400, 400],
        [403, 403],
        [502, 500],
        [503, 503],
        [504, 500],
      ] as const)
        expect(json(socket.printer({}).whole(given, { error: broken }, {}))).to.include({ status: shown })
    })

    it('a code that is a text, always, and when to try again', () => {
      const writer = socket.printer({})
      const error = { ...broken, code: null, type: 'rate_limit_error' }
      expect(json(writer.whole(429, { error }, { 'retry-after': '3', 'x-gateway-model': 'm' }))).to.deep.equal({
        type: 'error',
        status: 429,
        sequence_number: 0,
        error: { ...error, code: 'rate_limit_error', headers: { 'retry-after': '3' } },
      })
    })

    it('a whole response as its terminal event, and an error where there is none', () => {
      const response = { id: 'resp_1', status: 'incomplete' }
      expect(json(socket.printer({}).whole(200, response, {}))).to.deep.equal({
        type: 'response.incomplete',
        sequence_number: 0,
        response,
      })
      const writer = socket.printer({})
      writer.event(event('response.created', { sequence_number: 0 }))
      expect(json(writer.end())).to.deep.include({ type: 'error', status: 500, sequence_number: 1 })
      expect(writer.ended).to.equal(true)
    })
  })
})
