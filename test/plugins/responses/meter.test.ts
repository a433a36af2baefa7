import { expect } from 'chai'
import type { Frame } from '../../../engine/index.ts'
import { meter } from '../../../plugins/responses/meter.ts'

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

  it('reads the usage off the end of a last event that was too large to be kept', () => {
    const usage =
      '"usage": {"input_tokens":30,"input_tokens_details":{"cached_tokens":10},"output_tokens":20,"output_tokens_details":{"reasoning_tokens":12},"total_tokens":50}'
    expect(meter.torn?.(`AAAA"}],${usage},"user":null,"metadata":{}}}\n\n`)).to.deep.equal({
      usage: { input: 20, cacheRead: 10, cacheWrite: 0, output: 8, reasoning: 12 },
    })
    const tools = '"tool_usage":{"web_search":{"num_requests":3}}'
    expect(meter.torn?.(`AAAA"}],${tools},${usage},"user":null}}\n\n`)?.usage).to.include({ input: 20, searches: 3 })
    const all = '"tool_usage":{"image_gen":{"input_tokens_details":{"text_tokens":0}},"web_search":{"num_requests":2}}'
    expect(meter.torn?.(`AAAA"}],${usage},${all}}}\n\n`)?.usage).to.include({ input: 20, searches: 2 })
    expect(meter.torn?.('AAAA"}}\n\n')).to.equal(undefined)
    expect(meter.torn?.('AAAA"}],"usage":null}}\n\n')).to.equal(undefined)
    expect(meter.torn?.('')).to.equal(undefined)
  })

  it('reads what the pictures of an answer used, whose model has prices of its own', () => {
    const image_gen = {
      input_tokens: 50,
      input_tokens_details: { text_tokens: 10, image_tokens: 40 },
      cached_tokens: 30,
      cached_tokens_details: { cached_image_tokens: 25, cached_text_tokens: 5 },
      output_tokens: 4160,
      total_tokens: 4210,
    }
    const tools = [
      { type: 'function', name: 'f' },
      { model: 'painter-2026', type: 'image_generation', size: 'auto' },
    ]
    const drew = { ...response, tools, tool_usage: { image_gen, web_search: { num_requests: 0 } } }
    const usage = {
      input: 20,
      inputImage: 15,
      cacheRead: 30,
      cacheWrite: 0,
      output: 4160,
      outputImage: 4160,
      reasoning: 0,
    }
    const further = [{ model: 'painter-2026', usage }]
    expect(meter.reply(drew)).to.deep.equal({ ...metered, further })
    const { output: _pictures, ...rest } = drew
    expect(meter.torn?.(`AAAA"}],${JSON.stringify(rest).slice(1)}}\n\n`)).to.deep.equal({
      usage: metered.usage,
      further,
    })
    expect(meter.reply({ ...drew, tools: [] }).further).to.deep.equal([{ model: '', usage }])
    const none = { ...image_gen, input_tokens: 0, cached_tokens: 0, output_tokens: 0 }
    expect(meter.reply({ ...drew, tool_usage: { image_gen: none } })).to.deep.equal(metered)
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
