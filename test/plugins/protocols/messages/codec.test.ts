import { expect } from 'chai'
import codec from '../../../../plugins/protocols/messages/codec.ts'
import { frames, streamOf } from './fixtures.ts'

describe('messages: the codec', () => {
  it('reads the head of a body', () => {
    expect(codec.head({ model: 'opus', stream: true })).to.deep.equal({
      model: 'opus',
      stream: true,
      background: false,
    })
    expect(codec.head({ model: 'opus', stream: null })).to.deep.equal({
      model: 'opus',
      stream: false,
      background: false,
    })
  })

  it('meters a whole answer', () => {
    const body = {
      id: 'msg_1',
      model: 'opus-1',
      stop_reason: 'end_turn',
      content: [],
      usage: { input_tokens: 1, output_tokens: 2 },
    }
    expect(codec.meter.reply(body)).to.deep.equal({
      id: 'msg_1',
      model: 'opus-1',
      stop: 'end',
      usage: { input: 1, cacheRead: 0, cacheWrite: 0, output: 2, reasoning: 0 },
    })
    expect(codec.meter.reply('text')).to.deep.equal({})
  })

  it('meters a stream by its first and last frames', () => {
    const all = streamOf([{ type: 'text', text: 'says "message_stop" and "message_delta"' }], 'max_tokens')
    const metered = {
      id: 'msg_u',
      model: 'opus-1',
      stop: 'length',
      usage: { input: 3, cacheRead: 0, cacheWrite: 0, output: 9, reasoning: 0 },
    }
    expect(codec.meter.stream(all, all)).to.deep.equal({ ...metered, complete: true })
    expect(codec.meter.stream(all.slice(0, 2), all.slice(-2))).to.deep.equal({ ...metered, complete: true })
    const unnamed = all.map(({ data }) => ({ data }))
    expect(codec.meter.stream(unnamed, unnamed)).to.deep.equal({ ...metered, complete: true })
    expect(codec.meter.stream(all, all.slice(0, -1))).to.deep.equal({ ...metered, complete: false })
    expect(codec.meter.stream(unnamed.slice(0, 3), unnamed.slice(0, 3)).complete).to.equal(false)
    expect(codec.meter.stream([], [])).to.deep.equal({ complete: false })
    expect(codec.meter.stream([{ event: 'message_start', data: '{"cut' }], all)).to.deep.equal({
      stop: 'length',
      complete: true,
    })
  })

  it('sees a stream that begins with an error', () => {
    const error = { type: 'error', error: { type: 'rate_limit_error', message: 'Slow down' } }
    expect(codec.failed?.(frames(error)[0]!)).to.deep.include({ status: 429, message: 'Slow down' })
    expect(codec.failed?.({ data: '{"error":{"message":"Odd"}}' })).to.deep.include({ status: 500, message: 'Odd' })
    for (const frame of frames({ type: 'message_start', message: {} }, { type: 'ping', error: {} }))
      expect(codec.failed?.(frame)).to.equal(undefined)
    expect(codec.failed?.({ event: 'error', data: 'not JSON' })).to.deep.include({ status: 500 })
  })

  it('ends a broken stream in its own way', () => {
    const failure = { status: 504, code: 'upstream_timeout', type: 'server_error', message: 'Too late.', param: null }
    expect(codec.fail?.(failure, { id: 'r1', model: 'm', stream: true, body: {}, origin: '' })).to.deep.equal([
      {
        event: 'error',
        data: '{"type":"error","error":{"type":"timeout_error","message":"Too late."},"request_id":"r1"}',
      },
    ])
  })
})
