import { expect } from 'chai'
import { GatewayError } from '../../../../engine/index.ts'
import type { Failure } from '../../../../engine/index.ts'
import { dialect } from '../../../../plugins/protocols/messages/errors.ts'
import { parse } from '../../../../plugins/protocols/messages/parse-request.ts'

const failure = (status: number, more: Partial<Failure> = {}): Failure => ({
  status,
  code: null,
  type: 'server_error',
  message: 'It failed.',
  param: null,
  ...more,
})

describe('messages: errors', () => {
  const types: [number, string][] = [
    [400, 'invalid_request_error'],
    [401, 'authentication_error'],
    [402, 'billing_error'],
    [403, 'permission_error'],
    [404, 'not_found_error'],
    [408, 'timeout_error'],
    [409, 'conflict_error'],
    [413, 'request_too_large'],
    [422, 'invalid_request_error'],
    [429, 'rate_limit_error'],
    [499, 'invalid_request_error'],
    [500, 'api_error'],
    [502, 'api_error'],
    [503, 'api_error'],
    [504, 'timeout_error'],
    [529, 'overloaded_error'],
  ]
  for (const [status, type] of types)
    it(`prints ${status} as ${type}`, () => {
      expect(dialect.print(failure(status), 'r1')).to.deep.equal({
        type: 'error',
        error: { type, message: 'It failed.' },
        request_id: 'r1',
      })
    })

  it('prints an overload as such', () => {
    expect(dialect.print(failure(503, { code: 'overloaded' }), 'r')).to.have.nested.property(
      'error.type',
      'overloaded_error',
    )
  })

  it('prints the details that tell clients to go on without a thread', () => {
    const refuse = () =>
      parse({ model: 'm', max_tokens: 1, messages: [], thread: { type: 'continue', previous_message_id: 'x' } })
    expect(refuse)
      .to.throw(GatewayError)
      .that.satisfies((error: GatewayError) => {
        expect(dialect.print(error.failure, 'r')).to.deep.equal({
          type: 'error',
          error: {
            type: 'invalid_request_error',
            message: 'Threads are not held here: send the whole conversation without `thread`.',
            details: { error_code: 'thread_unsupported_request' },
          },
          request_id: 'r',
        })
        return true
      })
  })

  it('keeps the wording of an overflow that agents look for', () => {
    const overflow = failure(400, { code: 'context_length_exceeded', message: 'Maximum is 10 tokens.' })
    expect(dialect.print(overflow, 'r')).to.have.nested.property(
      'error.message',
      'prompt is too long: Maximum is 10 tokens.',
    )
    const own = dialect.parse(400, {
      type: 'error',
      error: { type: 'invalid_request_error', message: 'prompt is too long: 9 > 8' },
    })
    expect(own.code).to.equal('context_length_exceeded')
    expect(dialect.print(own, 'r')).to.have.nested.property('error.message', 'prompt is too long: 9 > 8')
  })

  const bodies: [number, Parameters<typeof dialect.parse>[1], Partial<Failure>][] = [
    [
      429,
      { type: 'error', error: { type: 'rate_limit_error', message: 'Slow down' } },
      { type: 'rate_limit_error', message: 'Slow down' },
    ],
    [
      400,
      {
        type: 'error',
        error: { type: 'invalid_request_error', message: 'No', details: { error_code: 'tool_name_conflict' } },
      },
      { type: 'invalid_request_error', code: 'tool_name_conflict', details: { error_code: 'tool_name_conflict' } },
    ],
    [400, { error: { message: 'Bad', type: 'x', code: 'c', param: 'p' } }, { message: 'Bad', code: 'c', param: 'p' }],
    [500, { error: 'plain' }, { message: 'plain', type: 'server_error' }],
    [404, { detail: 'Not Found' }, { message: 'Not Found', type: 'invalid_request_error' }],
    [403, { message: 'Denied' }, { message: 'Denied' }],
    [529, undefined, { status: 529, message: 'The upstream answered with status 529.', code: null, param: null }],
    [502, ['odd'], { message: 'The upstream answered with status 502.' }],
  ]
  for (const [status, body, told] of bodies)
    it(`reads ${JSON.stringify(body)}`, () => expect(dialect.parse(status, body)).to.deep.include({ status, ...told }))
})
