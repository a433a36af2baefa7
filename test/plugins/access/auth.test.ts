import { expect } from 'chai'
import { ExchangeScope } from '../../../engine/http/scope.ts'
import { GatewayError } from '../../../engine/index.ts'
import type { Host, Principal } from '../../../engine/index.ts'
import auth from '../../../plugins/access/auth.ts'

const KEYS: ReadonlyMap<string, Principal> = new Map([
  ['key-one-1', { keyId: '1', name: 'one' }],
  ['key-two-2', { keyId: '2', name: 'two' }],
])

function ask(headers: Readonly<Record<string, string | string[] | undefined>>, query = ''): unknown {
  const host = { keys: { find: (text: string) => KEYS.get(text) } } as Partial<Host> as Host
  const ingress = { headers, query: new URLSearchParams(query) }
  return auth.build({ with: 'key' }, host)({ ingress }, new ExchangeScope())
}

function refused(headers: Readonly<Record<string, string | string[]>>, query?: string): void {
  expect(() => ask(headers, query), JSON.stringify(headers).slice(0, 80))
    .to.throw(GatewayError)
    .that.includes({ code: 'invalid_api_key' })
    .and.has.nested.property('failure.status', 401)
}

describe('plugins/access/auth', () => {
  it('needs and provides what it uses', () => {
    expect(auth).to.deep.include({ name: 'auth', needs: ['ingress'], provides: ['principal'] })
  })

  it('takes the key of either header, the scheme in any case', () => {
    for (const authorization of ['Bearer key-one-1', 'bearer key-one-1', 'BEARER   key-one-1 ']) {
      expect(ask({ authorization })).to.deep.equal({ principal: { keyId: '1', name: 'one' } })
    }
    expect(ask({ 'x-api-key': 'key-two-2' })).to.deep.equal({ principal: { keyId: '2', name: 'two' } })
  })

  it('takes the first valid of two', () => {
    expect(ask({ authorization: 'Bearer key-one-1', 'x-api-key': 'key-two-2' })).to.have.nested.property(
      'principal.name',
      'one',
    )
    expect(ask({ authorization: 'Bearer wrong', 'x-api-key': 'key-two-2' })).to.have.nested.property(
      'principal.name',
      'two',
    )
    expect(ask({ authorization: 'Bearer key-one-1', 'x-api-key': 'wrong' })).to.have.nested.property(
      'principal.name',
      'one',
    )
  })

  it('refuses everything else', () => {
    refused({})
    refused({ authorization: 'Bearer wrong' })
    refused({ authorization: 'Bearer' })
    refused({ authorization: 'Bearer ' })
    refused({ authorization: 'key-one-1' })
    refused({ authorization: 'Basic key-one-1' })
    refused({ authorization: 'Bearer key-one-1, Bearer key-two-2' })
    refused({ 'x-api-key': ['key-one-1', 'key-two-2'] })
    refused({ 'x-api-key': 'key-one-1, key-one-1' })
    refused({ 'x-api-key': `key-one-1\0` })
    refused({ authorization: `Bearer ${'x'.repeat(1_000_000)}` })
    refused({ 'x-api-key': '__proto__' })
  })

  it('never reads a key from the query', () => {
    refused({}, 'key=key-one-1&api_key=key-one-1&x-api-key=key-one-1')
  })
})
