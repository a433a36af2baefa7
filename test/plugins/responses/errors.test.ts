import { expect } from 'chai'
import { error, failed, responseError } from '../../../plugins/responses/errors.ts'

describe('responses: errors', () => {
  it('reads an error body', () => {
    const body = { error: { message: 'Bad', type: 'invalid_request_error', param: 'input', code: 'invalid_value' } }
    const failure = {
      status: 400,
      code: 'invalid_value',
      type: 'invalid_request_error',
      message: 'Bad',
      param: 'input',
    }
    expect(error.parse(400, body)).to.deep.equal(failure)
    expect(error.print(failure, 'id')).to.deep.equal(body)
  })

  it('reads what its relatives answer', () => {
    const message = (body: Parameters<typeof error.parse>[1]) => error.parse(503, body).message
    expect(message({ error: 'Down' })).to.equal('Down')
    expect(message({ message: 'Down', type: 'x' })).to.equal('Down')
    expect(message({ detail: 'Down' })).to.equal('Down')
    expect(message({ detail: [{ loc: ['body'], msg: 'a' }, { msg: 'b' }] })).to.equal('a; b')
    expect(error.parse(503, undefined)).to.deep.equal({
      status: 503,
      code: null,
      type: 'server_error',
      message: 'status 503',
      param: null,
    })
    expect(error.parse(429, [])).to.include({ type: 'rate_limit_error' })
    expect(error.parse(404, {})).to.include({ type: 'invalid_request_error' })
  })

  it('prints exactly four keys', () => {
    const failure = { status: 502, code: null, type: 'server_error', message: 'Oh', param: null, retryAfter: 3 }
    expect(error.print(failure, 'id')).to.deep.equal({
      error: { message: 'Oh', type: 'server_error', param: null, code: null },
    })
  })

  it('sees a stream that begins with an error', () => {
    const frame = (value: object, event?: string) =>
      failed({ ...(event ? { event } : {}), data: JSON.stringify(value) })
    expect(frame({ type: 'error', error: { type: 'server_error', code: null, message: 'Oh' } }, 'error')).to.deep.equal(
      {
        status: 502,
        code: null,
        type: 'server_error',
        message: 'Oh',
        param: null,
      },
    )
    expect(frame({ type: 'error', status: 403, error: { code: 'x', message: 'Oh' } })).to.include({ status: 403 })
    expect(frame({ error: { message: 'Oh', code: 'context_length_exceeded' } })).to.include({ status: 400 })
    expect(frame({ code: 'insufficient_quota', message: 'Oh' }, 'error')).to.include({ status: 429 })
    const response = { error: { code: 'server_error', message: 'Oh' } }
    expect(frame({ type: 'response.failed', response }, 'response.failed')).to.include({ status: 502 })
    expect(frame({ type: 'response.created', response: { error: null } }, 'response.created')).to.equal(undefined)
    expect(frame({ type: 'response.created', response: { error: null } })).to.equal(undefined)
    expect(failed({ data: '{"type":"err' })).to.equal(undefined)
  })

  it('maps to the codes of a failed response', () => {
    const code = (status: number, code: string | null) =>
      responseError({ status, code, type: 'x', message: 'Oh', param: null })['code']
    expect(code(502, 'upstream_error')).to.equal('server_error')
    expect(code(429, 'busy')).to.equal('rate_limit_exceeded')
    expect(code(429, 'insufficient_quota')).to.equal('insufficient_quota')
    expect(code(400, 'context_length_exceeded')).to.equal('context_length_exceeded')
    expect(code(400, null)).to.equal('invalid_prompt')
  })
})
