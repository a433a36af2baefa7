import { expect } from 'chai'
import { GatewayError, scrubbedFailure } from '../../../engine/spec/error.ts'
import { defineErrors, errors, rowOf, serveErrors } from '../../../engine/spec/error-table.ts'
import type { ErrorCode } from '../../../engine/spec/error-table.ts'

describe('engine/spec/error', () => {
  it('speaks of the provider of a model only where the model is known', () => {
    for (const code of Object.keys(errors) as ErrorCode[])
      expect(new GatewayError(code, { reason: 'x' }).message, code).not.to.match(/provider of/)
    expect(new GatewayError('upstream_error', { reason: 'x' }).message).to.equal('The provider failed: x')
    expect(new GatewayError('upstream_error', { model: 'm', reason: 'x' }).message).to.equal(
      'The provider of "m" failed: x',
    )
  })

  it('has a code and a type for every client', () => {
    for (const code of Object.keys(errors) as ErrorCode[])
      expect(new GatewayError(code).failure, code).to.include({ code, type: rowOf(code)?.type })
  })

  it('knows the codes that a plugin declares, and what serves keeps its words while others are loaded', () => {
    const [tide, ebb] = ['error_test_tide', 'error_test_ebb'] as unknown as readonly [ErrorCode, ErrorCode]
    const rows = defineErrors({
      error_test_tide: { status: 409, message: 'The tide is out at {place}.' },
      error_test_ebb: { status: 503, retry: 'same', message: 'The water leaves.' },
    })
    expect(new GatewayError(tide, { place: 'Mont' }).failure).to.include({
      status: 409,
      code: 'error_test_tide',
      type: 'invalid_request_error',
      message: 'The tide is out at Mont.',
    })
    expect(new GatewayError(ebb)).to.include({ retry: 'same' }).and.nested.include({ 'failure.type': 'server_error' })
    serveErrors(new Map(Object.entries(rows)))
    defineErrors({
      error_test_tide: { status: 410, message: 'Gone.' },
      not_found: { status: 200, message: 'Never mind.' },
    })
    expect(new GatewayError(tide).failure.status).to.equal(409)
    expect(new GatewayError('not_found').failure.status).to.equal(404)
  })

  it('lets no text of a failure out before it was cut and scrubbed, however deep it stands', () => {
    const secret = 'hidden'
    const scrub = (text: string) => text.replaceAll(secret, '*')
    const deep = JSON.parse('{"a":'.repeat(40) + `"${secret}"` + '}'.repeat(40))
    const failure = scrubbedFailure(
      {
        status: 400,
        code: secret,
        type: secret,
        param: secret,
        message: secret + 'x'.repeat(100_000),
        details: { [secret]: [{ [secret]: secret }, 1, null], deep },
        retryAfter: 3,
      },
      scrub,
    )
    expect(JSON.stringify(failure)).not.to.include(secret)
    expect(failure).to.deep.include({ status: 400, code: '*', type: '*', param: '*', retryAfter: 3 })
    expect(failure.message.length).to.be.below(20_000)
    expect(failure.details?.['*']).to.deep.equal([{ '*': '*' }, 1, null])
    expect(scrubbedFailure({ status: 400, code: null, type: 't', message: 'm', param: null }, scrub)).to.deep.equal({
      status: 400,
      code: null,
      type: 't',
      message: 'm',
      param: null,
    })
  })
})
