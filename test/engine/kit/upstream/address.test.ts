import { expect } from 'chai'
import { addressOf } from '../../../../engine/kit/upstream/address.ts'

const path = '/chat/completions'

describe('addressOf', () => {
  const bases = [
    ['https://host', 'https://host/v1/chat/completions'],
    ['https://host/', 'https://host/v1/chat/completions'],
    ['http://127.0.0.1:8000', 'http://127.0.0.1:8000/v1/chat/completions'],
    ['http://[::1]:8000', 'http://[::1]:8000/v1/chat/completions'],
    ['https://host/v1', 'https://host/v1/chat/completions'],
    ['https://host/v1/', 'https://host/v1/chat/completions'],
    ['https://host/openai/v1', 'https://host/openai/v1/chat/completions'],
    ['https://host/api/paas/v4', 'https://host/api/paas/v4/chat/completions'],
    ['https://host/v1beta/openai//', 'https://host/v1beta/openai/chat/completions'],
    ['https://host/v1?api-version=7', 'https://host/v1/chat/completions?api-version=7'],
  ] as const
  for (const [base_url, expected] of bases) {
    it(`takes the base ${base_url}`, () => {
      expect(addressOf({ base_url }, 'chat', path).href).to.equal(expected)
    })
  }

  const moves = [
    ['http://127.0.0.1:1', 'http://127.0.0.1:1/v1/chat/completions'],
    ['http://127.0.0.1:1/', 'http://127.0.0.1:1/v1/chat/completions'],
    ['https://other/v1', 'https://other/v1/chat/completions'],
    ['https://other/v1/', 'https://other/v1/chat/completions'],
    ['https://other/api/v1', 'https://other/api/v1/chat/completions'],
    ['https://other/api/alpha/decisions', 'https://other/api/alpha/decisions'],
    ['https://other/chat/completions/', 'https://other/chat/completions/'],
    ['https://other/v2', 'https://other/v2'],
    ['https://other/xv1', 'https://other/xv1'],
    ['https://other/full?key=1', 'https://other/full?key=1'],
  ] as const
  for (const [moved, expected] of moves) {
    it(`moves an operation to ${moved}`, () => {
      const config = { base_url: 'https://host/v1', endpoint_base_urls: { chat: moved } }
      expect(addressOf(config, 'chat', path).href).to.equal(expected)
      expect(addressOf(config, 'images', '/images/edits').href).to.equal('https://host/v1/images/edits')
    })
  }

  it('names the setting that is wrong and not what it holds', () => {
    const config = { base_url: 'https://host', endpoint_base_urls: { chat: 'https://user:secret@host/v1' } }
    expect(() => addressOf(config, 'chat', path)).to.throw(
      'endpoint_base_urls.chat must be an address without user, password and fragment',
    )
  })
})
