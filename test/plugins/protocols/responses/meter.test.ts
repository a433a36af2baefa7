import { expect } from 'chai'
import type { Frame } from '../../../../engine/index.ts'
import { meter } from '../../../../plugins/protocols/responses/meter.ts'

const response = {
  id: 'resp_1',
  model: 'think-2',
  status: 'completed',
  output: [{ type: 'function_call', call_id: 'c', name: 'n', arguments: '{}' }],
  usage: { input_tokens: 3, output_tokens: 4 },
}
const metered = {
  id: 'resp_1',
  model: 'think-2',
  stop: 'tool',
  usage: { input: 3, cacheRead: 0, cacheWrite: 0, output: 4, reasoning: 0 },
}
const frame = (type: string, fields: object = {}): Frame => ({ event: type, data: JSON.stringify({ type, ...fields }) })
const created = frame('response.created', { response: { id: 'resp_1', model: 'think-2', status: 'in_progress' } })
const delta = frame('response.output_text.delta', { delta: '"response.completed"' })
const done = { data: '[DONE]' }

describe('responses: meter', () => {
  it('reads a whole answer', () => {
    expect(meter.reply(response)).to.deep.equal(metered)
    expect(
      meter.reply({ ...response, status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } }),
    ).to.include({ stop: 'length' })
    expect(meter.reply(null)).to.deep.equal({})
  })

  it('reads the end of a stream, with and without event lines', () => {
    const completed = frame('response.completed', { response })
    expect(meter.stream([created, delta], [delta, completed, done])).to.deep.equal({ ...metered, complete: true })
    expect(meter.stream([created], [{ data: delta.data }, { data: completed.data }])).to.deep.equal({
      ...metered,
      complete: true,
    })
    expect(meter.stream([completed], [])).to.deep.equal({ ...metered, complete: true })
  })

  it('tells a stream that was cut from one that failed', () => {
    expect(meter.stream([created, delta], [created, delta, done])).to.deep.equal({
      id: 'resp_1',
      model: 'think-2',
      complete: false,
    })
    expect(
      meter.stream([created], [frame('response.failed', { response: { ...response, status: 'failed' } })]),
    ).to.include({ stop: 'failed', complete: true })
    expect(meter.stream([created], [frame('error', { message: 'Oh' })])).to.deep.equal({
      id: 'resp_1',
      model: 'think-2',
      complete: true,
    })
    expect(meter.stream([], [])).to.deep.equal({ complete: false })
    expect(meter.stream([{ data: 'not json' }], [{ data: '{"type":"response.comp' }])).to.deep.equal({
      complete: false,
    })
  })
})
