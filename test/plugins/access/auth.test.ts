import { expect } from 'chai'
import { ExchangeScope } from '../../../engine/http/scope.ts'
import { GatewayError, Refusal } from '../../../engine/index.ts'
import type { Host, Principal } from '../../../engine/index.ts'
import auth from '../../../plugins/access/auth.ts'

const KEYS: ReadonlyMap<string, Principal> = new Map([
  ['key-one-1', { kind: 'key' as const, id: '1', name: 'one' }],
  ['key-two-2', { kind: 'key' as const, id: '2', name: 'two' }],
])

function ask(headers: Readonly<Record<string, string | string[] | undefined>>, query = ''): unknown {
  const search = (text: string) =>
    Promise.resolve(text === 'key-new-3' ? { kind: 'key' as const, id: '3', name: 'new' } : undefined)
  const api_keys = { find: (text: string) => KEYS.get(text), search }
  const ingress = { headers, query: new URLSearchParams(query) }
  const limits = { refusedKeys: { count: () => Promise.resolve(() => Promise.resolve()) } }
  return auth.build({ with: 'key' }, {} as Host, { sessions: {}, api_keys, limits })({ ingress }, new ExchangeScope())
}

/** What is said to a client that is refused. */
async function refused(headers: Readonly<Record<string, string | string[]>>, query?: string): Promise<string> {
  const asked = async () => ask(headers, query)
  const error: unknown = await asked().catch((thrown: unknown) => thrown)
  expect(error, JSON.stringify(headers).slice(0, 80)).to.be.instanceOf(GatewayError)
  const { code, failure } = error as GatewayError
  expect([code, failure.status]).to.deep.equal(['invalid_api_key', 401])
  return failure.message
}

describe('plugins/access/auth', () => {
  it('needs and provides what it uses', () => {
    expect(auth).to.deep.include({ name: 'auth', needs: ['ingress'], provides: [], gives: ['principal'] })
    expect(auth.assures?.({ with: 'key' })).to.deep.equal(['principal'])
    expect(auth.assures?.({ with: 'action' }), 'a public action has none').to.deep.equal([])
  })

  it('refuses a role for API keys, which have none', () => {
    expect(() => auth.build({ with: 'key', role: 'admin' }, {} as Host, { sessions: {} }))
      .to.throw(Refusal, 'API keys have no role')
      .with.property('path')
      .that.deep.equals(['role'])
  })

  it('takes the key of either header, the scheme in any case', () => {
    for (const authorization of ['Bearer key-one-1', 'bearer key-one-1', 'BEARER   key-one-1 ']) {
      expect(ask({ authorization })).to.deep.equal({ principal: { kind: 'key' as const, id: '1', name: 'one' } })
    }
    expect(ask({ 'x-api-key': 'key-two-2' })).to.deep.equal({
      principal: { kind: 'key' as const, id: '2', name: 'two' },
    })
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

  it('takes a key that was made elsewhere a moment ago', async () => {
    expect(await ask({ 'x-api-key': 'key-new-3' })).to.have.nested.property('principal.name', 'new')
  })

  it('tells a missing key from a wrong one', async () => {
    for (const headers of [{}, { authorization: 'Bearer ' }, { authorization: 'Basic abc' }])
      expect(await refused(headers)).to.match(/^No API key was sent/)
    for (const headers of [{ authorization: 'Bearer wrong' }, { 'x-api-key': 'wrong' }])
      expect(await refused(headers)).to.equal('The API key is unknown, expired or revoked.')
  })

  it('refuses everything else', async () => {
    await refused({})
    await refused({ authorization: 'Bearer wrong' })
    await refused({ authorization: 'Bearer' })
    await refused({ authorization: 'Bearer ' })
    await refused({ authorization: 'key-one-1' })
    await refused({ authorization: 'Basic key-one-1' })
    await refused({ authorization: 'Bearer key-one-1, Bearer key-two-2' })
    await refused({ 'x-api-key': ['key-one-1', 'key-two-2'] })
    await refused({ 'x-api-key': 'key-one-1, key-one-1' })
    await refused({ 'x-api-key': `key-one-1\0` })
    await refused({ authorization: `Bearer ${'x'.repeat(1_000_000)}` })
    await refused({ 'x-api-key': '__proto__' })
  })

  it('never reads a key from the query', async () => {
    await refused({}, 'key=key-one-1&api_key=key-one-1&x-api-key=key-one-1')
  })
})
