import { expect } from 'chai'
import { GatewayError } from '../../../../engine/index.ts'
import type { Frame, Json } from '../../../../engine/index.ts'
import { dialect, fail, failed } from '../../../../plugins/protocols/media/errors.ts'

const parsed = (status: number, body: Json | undefined) => dialect.parse(status, body)

describe('dialect of media', () => {
  it('prints four keys, always', () => {
    const { failure } = new GatewayError('model_not_found', { model: 'x' })
    expect(dialect.print(failure, 'r1')).to.deep.equal({
      error: {
        message: 'The model "x" does not exist.',
        type: 'invalid_request_error',
        param: null,
        code: 'model_not_found',
      },
    })
  })

  it('reads what it prints', () => {
    const { failure } = new GatewayError('invalid_value', { param: 'input', reason: 'it is empty' })
    expect(parsed(400, dialect.print(failure, 'r1'))).to.deep.equal({ ...failure, status: 400 })
  })

  it('reads incomplete and foreign errors', () => {
    const base = { code: null, param: null }
    expect(parsed(400, { error: 'no' })).to.deep.equal({
      ...base,
      status: 400,
      type: 'invalid_request_error',
      message: 'no',
    })
    expect(parsed(429, { message: 'slow' })).to.deep.equal({
      ...base,
      status: 429,
      type: 'rate_limit_error',
      message: 'slow',
    })
    expect(parsed(404, { detail: 'gone' }).message).to.equal('gone')
    expect(parsed(400, { error: { message: 'm', code: 40_001 } }).code).to.equal('40001')
    for (const body of [undefined, null, 'text', [], { error: {} }, { error: { message: 5 } }]) {
      expect(parsed(500, body)).to.deep.equal({
        ...base,
        status: 500,
        type: 'server_error',
        message: 'The provider answered with status 500.',
      })
    }
  })

  const announced: readonly (readonly [frame: Frame, status: number | undefined])[] = [
    [
      {
        event: 'error',
        data: '{"type":"error","error":{"type":"image_generation_user_error","message":"m","code":"moderation_blocked"}}',
      },
      400,
    ],
    [{ data: '{"error":{"message":"m","type":"server_error"}}' }, 502],
    [{ data: '{"error":{"message":"m","code":503}}' }, 503],
    [{ data: '{"error":{"message":"m","code":"rate_limit_exceeded"}}' }, 429],
    [{ data: '{"error":"m"}' }, 502],
    [{ data: '{"type":"error","message":"m"}' }, 502],
    [{ event: 'error', data: 'what?' }, 502],
    [{ data: '{"type":"transcript.text.delta","delta":"the word \\"error\\""}' }, undefined],
    [{ data: '{"type":"transcript.text.delta","delta":"a","error":null}' }, undefined],
    [{ data: '"error"' }, undefined],
    [{ data: '[DONE]' }, undefined],
  ]
  for (const [frame, status] of announced) {
    it(`${status === undefined ? 'sees no failure' : `sees a ${status}`} in ${JSON.stringify(frame)}`, () => {
      expect(failed(frame)?.status).to.equal(status)
    })
  }

  it('keeps the words of an announced failure', () => {
    const data = '{"type":"error","error":{"type":"invalid_request_error","message":"m","code":"c","param":"prompt"}}'
    expect(failed({ event: 'error', data })).to.deep.equal({
      status: 400,
      code: 'c',
      type: 'invalid_request_error',
      message: 'm',
      param: 'prompt',
    })
  })

  it('ends a broken stream with an event that it knows as a failure', () => {
    const { failure } = new GatewayError('upstream_error', { model: 'm', reason: 'it broke' })
    const [frame, ...others] = fail(failure, { id: 'r1' })
    expect(others).to.deep.equal([])
    expect(frame).to.deep.equal({
      event: 'error',
      data: '{"type":"error","error":{"message":"The provider of \\"m\\" failed: it broke","type":"server_error","param":null,"code":"upstream_error"}}',
    })
    expect(frame && failed(frame)).to.deep.equal(failure)
  })
})
