import { expect } from 'chai'
import { secretsOf } from '../../../engine/records/secrets.ts'
import apiKey from '../../../plugins/keys/api-key.ts'

const entry = (config: object) => ({ name: 'one', type: 'kind', config })

/** The secrets of one provider of a type that calls `api_key` and `pool` secret. */
function secrets(config: object, keys: readonly string[] = []) {
  const settings = { providers: [entry(config)] }
  const records = new Map([['api_key', keys.map((key) => ({ type: apiKey, value: { name: key, key } }))]])
  const registry = { providers: new Map([['kind', { secrets: ['api_key', 'pool'] }]]), services: new Map() }
  const found = secretsOf(settings as never, registry as never, records)
  return [...new Set(found)].filter((text) => text !== '').sort()
}

describe('engine/config/secrets', () => {
  it('are what a provider type calls secret, texts and lists, and the API keys', () => {
    expect(secrets({ api_key: 'a', pool: ['b', { key: 'c' }], other: 'd' }, ['e'])).to.deep.equal(['a', 'b', 'c', 'e'])
  })

  it('are the values of headers, with what follows their scheme', () => {
    const basic = Buffer.from('me:pass:word').toString('base64')
    const headers = { 'x-one': 'value', authorization: 'Bearer token', auth: `Basic ${basic}`, accept: 'text/plain' }
    expect(secrets({ headers })).to.deep.equal(
      ['value', 'Bearer token', 'token', `Basic ${basic}`, basic, 'pass:word'].sort(),
    )
  })

  it('are the credentials in addresses, wherever they stand', () => {
    const config = { base_url: 'https://me:one@host/v1?key=two', nested: { at: { chat: 'https://host?sig=three' } } }
    expect(secrets(config)).to.deep.equal(['one', 'three', 'two'])
  })

  it('are found in lists of objects, too', () => {
    const config = {
      servers: [{ pool: ['a'], headers: { 'x-key': 'b' }, at: ['https://host?sig=c'] }, [{ api_key: 'd' }]],
    }
    expect(secrets(config)).to.deep.equal(['a', 'b', 'c', 'd'])
  })

  it('are known of a provider whose type is not', () => {
    const settings = { providers: [{ name: 'x', type: 'unknown', config: { headers: { a: 'b' } } }] }
    expect(secretsOf(settings as never, { providers: new Map(), services: new Map() })).to.include('b')
  })
})
