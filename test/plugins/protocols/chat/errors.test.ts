import { expect } from 'chai'
import codec from '../../../../plugins/protocols/chat/codec.ts'

const { error } = codec

describe('chat errors', () => {
  it('print four keys', () => {
    const failure = { status: 429, code: null, type: 'rate_limit_error', message: 'busy', param: null, retryAfter: 3 }
    expect(error.print(failure, 'id')).to.deep.equal({
      error: { message: 'busy', type: 'rate_limit_error', param: null, code: null },
    })
  })

  it('are read with all they say', () => {
    const body = {
      error: { message: 'no such field', type: 'invalid_request_error', param: 'x', code: 'unknown_parameter' },
    }
    expect(error.parse(400, body)).to.deep.equal({
      status: 400,
      code: 'unknown_parameter',
      type: 'invalid_request_error',
      message: 'no such field',
      param: 'x',
    })
  })

  const variants: [string, Parameters<typeof error.parse>[1], string][] = [
    ['a bare text', 'no', 'no'],
    ['a text as error', { error: 'out of memory' }, 'out of memory'],
    ['a message', { object: 'error', message: 'wrong', type: 'BadRequestError', code: 400 }, 'wrong'],
    ['a detail', { detail: 'Not Found' }, 'Not Found'],
    [
      'a validation report',
      { detail: [{ loc: ['body', 'model'], msg: 'field required' }, { msg: 'odd' }] },
      'body.model: field required; body: odd',
    ],
    ['a report inside the message', { message: { detail: [{ loc: ['body', 'n'], msg: 'extra' }] } }, 'body.n: extra'],
    ['another protocol', { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }, 'Overloaded'],
    ['a list of one', [{ error: { code: 400, message: 'bad key', status: 'INVALID_ARGUMENT' } }], 'bad key'],
    ['nothing', undefined, 'The provider answered with status 400.'],
    ['an empty object', {}, 'The provider answered with status 400.'],
  ]
  for (const [name, body, message] of variants) {
    it(`are read from ${name}`, () =>
      expect(error.parse(400, body)).to.include({ status: 400, message, code: null, param: null }))
  }

  it('get a type that fits the status', () => {
    const types = [400, 429, 500, 529].map((status) => error.parse(status, undefined).type)
    expect(types).to.deep.equal(['invalid_request_error', 'rate_limit_error', 'server_error', 'server_error'])
  })
})
