import { expect } from 'chai'
import fc from 'fast-check'
import { FrameDecoder, encodeFrame } from '../../../engine/kit.ts'
import type { Asked, Frame, JsonObject } from '../../../engine/index.ts'
import { Keeper, done } from '../../../plugins/responses/keeper.ts'
import { parsedFrames } from './exchange.ts'

const failure = { status: 429, code: 'busy', type: 'rate_limit_error', message: 'Slow', param: null }
const asked: Asked = {
  id: 'abc',
  model: 'm',
  stream: true,
  body: { instructions: 'Be brief.', temperature: 0.3 },
  origin: 'o',
}
const response = { id: 'resp_up', object: 'response', status: 'in_progress', model: 'm-1', output: [], tools: [] }
const event = (type: string, number: number | undefined, fields: JsonObject = {}): Frame => ({
  event: type,
  data: JSON.stringify({ type, ...fields, ...(number === undefined ? {} : { sequence_number: number }) }),
})
const created = event('response.created', 0, { response })
const delta = (number: number | undefined) => event('response.output_text.delta', number, { delta: 'Hi' })
const completed = (number: number) =>
  event('response.completed', number, { response: { ...response, status: 'completed' } })
const failed = (number: number) =>
  event('response.failed', number, {
    response: { ...response, status: 'failed', error: { code: 'server_error', message: 'Oh' } },
  })
const error = (number: number) => event('error', number, { code: 'server_error', message: 'Oh', param: null })

const bytesOf = (...frames: readonly Frame[]) => Buffer.from(frames.map(encodeFrame).join(''))

/** What a client gets of a stream whose events come in these chunks, and that its upstream then ends. */
function kept(...chunks: readonly (readonly Frame[])[]): readonly Frame[] {
  const keeper = new Keeper(asked)
  const passed = chunks.map((chunk) => Buffer.from(keeper.pass(bytesOf(...chunk))))
  return [...new FrameDecoder().push(Buffer.concat(passed)), ...keeper.end()]
}

/** Names and numbers of the events, `[DONE]` as it is. */
const outline = (frames: readonly Frame[]) =>
  frames.map(({ event: type, data }) =>
    data === done.data ? data : [type, (JSON.parse(data) as JsonObject)['sequence_number']],
  )

const ended = [['error', 2], ['response.failed', 3], '[DONE]']

describe('responses: the keeper of a stream that is only passed on', () => {
  it('leaves the bytes of a legal stream alone', () => {
    const whole = new Keeper(asked)
    const chunks = [
      bytesOf(created),
      Buffer.concat([bytesOf(delta(1)), Buffer.from(': ping\n\n'), bytesOf(delta(2))]),
      Buffer.from(`data: ${event('response.output_text.done', 3).data}\n\n`),
      Buffer.from(': ping\n\n'),
      bytesOf(completed(4), done),
    ]
    for (const chunk of chunks) expect(whole.pass(chunk)).to.equal(chunk)
    expect(whole.end()).to.deep.equal([])
    const keeper = new Keeper(asked)
    const failing = bytesOf(created, error(1), failed(2))
    expect(keeper.pass(failing)).to.equal(failing)
    expect(keeper.end(failure)).to.deep.equal([done])
  })

  for (const [name, frames, told] of [
    ['a number that is missing', [delta(undefined), delta(1), completed(2)], [1, 2, 3]],
    ['a number that comes twice', [delta(1), delta(1), completed(2)], [1, 2, 3]],
    ['a number that is left out', [delta(1), delta(5), completed(6)], [1, 2, 3]],
  ] as const)
    it(`mends ${name}`, () => {
      const types = [...frames.map((frame, index) => [frame.event, told[index]]), '[DONE]']
      expect(outline(kept([created], frames))).to.deep.equal([['response.created', 0], ...types])
      expect(outline(kept([created, ...frames, done]))).to.deep.equal([['response.created', 0], ...types])
    })

  for (const [name, frames] of [
    ['ends without its last event', [delta(1)]],
    ['says [DONE] before its last event', [delta(1), done]],
    ['says [DONE] between its events', [delta(1), done, delta(2), completed(3), done]],
    ['says its failure alone', [delta(1), error(2)]],
    ['says its failure alone and [DONE]', [delta(1), error(2), done]],
    ['says only that it failed', [delta(1), failed(2), done]],
    ['goes on after its failure', [delta(1), error(2), delta(3), failed(4)]],
    ['fails twice', [delta(1), error(2), failed(3), error(4), failed(5), done, done]],
    ['completes after its failure', [delta(1), error(2), completed(3), done]],
  ] as const)
    it(`fails once, in order, where a stream ${name}`, () => {
      for (const chunks of [[[created, ...frames]], [[created], ...frames.map((frame) => [frame])]])
        expect(outline(kept(...chunks))).to.deep.equal([
          ['response.created', 0],
          ['response.output_text.delta', 1],
          ...ended,
        ])
    })

  it('drops what comes after the last event', () => {
    const late = [delta(2), completed(2), error(3), failed(4), delta(undefined)]
    for (const frames of [
      [completed(1), ...late, done, ...late, done],
      [completed(1), done, ...late],
      [completed(1), ...late],
    ])
      expect(outline(kept([created], frames))).to.deep.equal([
        ['response.created', 0],
        ['response.completed', 1],
        '[DONE]',
      ])
  })

  it('fails with the id and the echoes that the stream began with', () => {
    const keeper = new Keeper(asked)
    keeper.pass(bytesOf(created, delta(1)))
    const [said, failed] = parsedFrames(keeper.end(failure))
    expect([said?.['sequence_number'], said?.['message']]).to.deep.equal([2, 'Slow'])
    expect(failed?.['response']).to.deep.include({
      id: 'resp_up',
      model: 'm-1',
      status: 'failed',
      error: { code: 'rate_limit_exceeded', message: 'Slow' },
      usage: null,
      completed_at: null,
    })
    const cut = new Keeper(asked)
    cut.pass(bytesOf(event('response.created', 0, { response: { ...response, instructions: 'x'.repeat(10_000) } })))
    expect(parsedFrames(cut.end(failure))[1]?.['response']).to.deep.include({
      id: 'resp_up',
      model: 'm',
      instructions: 'Be brief.',
      temperature: 0.3,
    })
    expect(parsedFrames(new Keeper(asked).end(failure)).map((frame) => frame?.['sequence_number'])).to.deep.equal([
      0, 1,
    ])
  })

  it('tells the failure that the upstream told', () => {
    for (const frames of [
      [created, error(1)],
      [created, failed(1)],
    ]) {
      const told = parsedFrames(kept(frames))
      expect(told[1]).to.deep.include({ type: 'error', code: 'server_error', message: 'Oh' })
      expect(told[2]?.['response']).to.deep.include({ error: { code: 'server_error', message: 'Oh' } })
    }
  })

  it('counts an event that is too large to be looked at, and knows whether it is the last one', () => {
    const keeper = new Keeper(asked)
    keeper.pass(bytesOf(created))
    const picture = (type: string, number: string) =>
      Buffer.from(`event: ${type}\ndata: {"type":"${type}",${number}"result":"AAA`)
    expect(keeper.large(picture('response.output_item.done', ''))).to.equal(true)
    const next = bytesOf(delta(2))
    expect(keeper.pass(next)).to.equal(next)
    expect(keeper.large(picture('response.completed', '"sequence_number":3,'))).to.equal(true)
    expect(keeper.large(picture('response.completed', '"sequence_number":4,'))).to.equal(false)
    expect(keeper.end()).to.deep.equal([done])
  })

  it('makes a legal stream of any', () => {
    const any = fc.oneof(
      fc.constantFrom(created, done, delta(undefined), { data: 'no JSON' }),
      fc.nat(6).map(delta),
      fc.nat(6).map(completed),
      fc.nat(6).map(failed),
      fc.nat(6).map(error),
    )
    fc.assert(
      fc.property(
        fc.array(fc.array(any, { maxLength: 4 })),
        fc.option(fc.constant(failure), { nil: undefined }),
        (chunks, broken) => {
          const keeper = new Keeper(asked)
          const passed = chunks.map((chunk) => Buffer.from(keeper.pass(bytesOf(...chunk))))
          const frames = [...new FrameDecoder().push(Buffer.concat(passed)), ...keeper.end(broken)]
          const told = parsedFrames(frames.filter(({ data }) => data !== 'no JSON'))
          const types = told.map((frame) => frame?.['type'])
          expect(frames.filter(({ data }) => data === done.data)).to.have.length(1)
          expect(frames.at(-1)).to.deep.equal(done)
          const last = types.at(-1)
          expect(last).to.be.oneOf(['response.completed', 'response.failed'])
          expect(types.filter((type) => type === 'response.completed' || type === 'response.failed')).to.have.length(1)
          expect(types.indexOf('error')).to.equal(last === 'response.failed' ? types.length - 2 : -1)
          const numbers = told.map((frame) => Number(frame?.['sequence_number']))
          expect(numbers).to.deep.equal(numbers.map((_, index) => index))
        },
      ),
    )
  })
})
