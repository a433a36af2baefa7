import { expect } from 'chai'
import type { Asked } from '../../../../engine/index.ts'
import { close, fail } from '../../../../plugins/protocols/responses/closing.ts'
import { parsedFrames } from './exchange.ts'

const failure = { status: 429, code: 'busy', type: 'rate_limit_error', message: 'Slow', param: null }
const asked: Asked = {
  id: 'abc',
  model: 'm',
  stream: true,
  body: { instructions: 'Be brief.', temperature: 0.3 },
  origin: 'o',
}
const event = (type: string, fields: object) => ({ event: type, data: JSON.stringify({ type, ...fields }) })
const delta = event('response.output_text.delta', { sequence_number: 7 })
const response = { id: 'resp_up', object: 'response', status: 'in_progress', model: 'm-1', output: [], tools: [] }
const created = event('response.created', { sequence_number: 0, response })

describe('responses: closing a stream that was only passed on', () => {
  it('fails after the number it had reached', () => {
    const frames = fail(failure, asked, delta)
    expect(frames.map(({ event }) => event)).to.deep.equal(['error', 'response.failed', undefined])
    const [error, failed] = parsedFrames(frames)
    expect([error?.['sequence_number'], failed?.['sequence_number']]).to.deep.equal([8, 9])
    expect(failed?.['response']).to.deep.include({
      id: 'resp_abc',
      error: { code: 'rate_limit_exceeded', message: 'Slow' },
    })
    expect(parsedFrames(fail(failure, asked))[0]?.['sequence_number']).to.equal(0)
  })

  it('keeps the id and the echoes that the stream began with', () => {
    const failed = parsedFrames(fail(failure, asked, delta, created))[1]
    expect(failed?.['response']).to.deep.include({
      id: 'resp_up',
      model: 'm-1',
      status: 'failed',
      error: { code: 'rate_limit_exceeded', message: 'Slow' },
      usage: null,
      completed_at: null,
    })
    const cut = { event: 'response.created', data: created.data.slice(0, created.data.indexOf('m-1')) }
    expect(parsedFrames(fail(failure, asked, delta, cut))[1]?.['response']).to.deep.include({
      id: 'resp_up',
      model: 'm',
      instructions: 'Be brief.',
      temperature: 0.3,
    })
  })

  it('finds its number in an event that lacks its middle', () => {
    const torn = { event: delta.event, data: `${delta.data.slice(0, -1)},"item":{"text":"no middle` }
    expect(parsedFrames(fail(failure, asked, torn))[0]?.['sequence_number']).to.equal(8)
  })

  it('adds [DONE] where the upstream left it out, and the failed response after an error alone', () => {
    expect(close(asked, { data: '[DONE]' })).to.deep.equal([])
    expect(close(asked, event('response.completed', { sequence_number: 9, response }))).to.deep.equal([
      { data: '[DONE]' },
    ])
    expect(close(asked, event('response.failed', { sequence_number: 9, response }))).to.deep.equal([{ data: '[DONE]' }])
    expect(close(asked)).to.deep.equal([{ data: '[DONE]' }])
    const error = event('error', { sequence_number: 3, code: 'server_error', message: 'Oh', param: null })
    const frames = close(asked, error, created)
    expect(frames.map(({ event }) => event)).to.deep.equal(['response.failed', undefined])
    expect(parsedFrames(frames)[0]).to.deep.include({ type: 'response.failed', sequence_number: 4 })
    expect(parsedFrames(frames)[0]?.['response']).to.deep.include({
      id: 'resp_up',
      status: 'failed',
      error: { code: 'server_error', message: 'Oh' },
    })
  })
})
