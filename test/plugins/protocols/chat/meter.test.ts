import { expect } from 'chai'
import codec from '../../../../plugins/protocols/chat/codec.ts'
import type { JsonObject } from '../../../../engine/index.ts'
import { chunk } from './support.ts'

const usage = { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 }
const buckets = { input: 3, cacheRead: 0, cacheWrite: 0, output: 4, reasoning: 0 }
const frames = (list: readonly (JsonObject | string)[]) =>
  list.map((data) => ({ data: typeof data === 'string' ? data : JSON.stringify(data) }))

describe('chat meter', () => {
  it('reads a whole answer', () => {
    const body = {
      id: 'c1',
      model: 'small-1',
      choices: [{ finish_reason: 'length', message: { content: 'a' } }],
      usage,
    }
    expect(codec.meter.reply(body)).to.deep.equal({ id: 'c1', model: 'small-1', stop: 'length', usage: buckets })
    expect(codec.meter.reply(null)).to.deep.equal({})
  })

  it('knows a call that its server calls a stop', () => {
    const body = { choices: [{ finish_reason: 'stop', message: { tool_calls: [{ id: 'a' }] } }] }
    expect(codec.meter.reply(body)).to.deep.equal({ stop: 'tool' })
  })

  it('reads the ends of a stream', () => {
    const first = frames([chunk({ role: 'assistant', content: '' }), chunk({ content: 'a' })])
    const last = frames([chunk({ content: 'b' }), chunk({}, 'stop'), { id: 'c1', choices: [], usage }, '[DONE]'])
    expect(codec.meter.stream(first, last)).to.deep.equal({
      id: 'c1',
      model: 'small-1',
      stop: 'end',
      usage: buckets,
      complete: true,
    })
  })

  it('reads usage on the finish, and does without [DONE]', () => {
    const all = frames([chunk({ content: 'b' }), chunk({}, 'tool_calls', { usage })])
    expect(codec.meter.stream(all, all)).to.deep.equal({
      id: 'c1',
      model: 'small-1',
      stop: 'tool',
      usage: buckets,
      complete: true,
    })
  })

  it('tells a stream that was cut', () => {
    const all = frames([chunk({ content: 'b' }), chunk({ content: 'c' })])
    expect(codec.meter.stream(all, all)).to.deep.equal({ id: 'c1', model: 'small-1', complete: false })
    expect(codec.meter.stream([], [])).to.deep.equal({ complete: false })
  })

  it('tells a stream that failed after its finish', () => {
    const all = frames([chunk({ content: 'b' }), chunk({}, 'stop'), { error: { message: 'gone' } }])
    expect(codec.meter.stream(all, all)).to.include({ stop: 'end', complete: false })
  })

  it('tells a stream that ended in an error', () => {
    const all = frames([chunk({ content: 'b' }), { error: { message: 'gone' } }])
    expect(codec.meter.stream(all, all).complete).to.equal(false)
  })

  it('takes the last usage of those a server repeats', () => {
    const early = { prompt_tokens: 3, completion_tokens: 1 }
    const all = frames([chunk({ content: 'b' }, null, { usage: early }), chunk({}, 'stop', { usage }), '[DONE]'])
    expect(codec.meter.stream(all, all).usage).to.deep.equal(buckets)
  })
})
