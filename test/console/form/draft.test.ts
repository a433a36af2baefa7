import { expect } from 'chai'
import { bodyOf, changedSince, changesOf, drafted, shownAt, undrafted } from '../../../console/src/form/draft.ts'

const saved = {
  fallbacks: true,
  retries: { tries: 3, on: ['429', '5xx'] },
  headers: { 'x-a': '1', 'x-b.c': '2' },
  server: null,
}

describe('console/form: what is sent', () => {
  it('is what was touched and differs, and nothing else', () => {
    const draft = drafted(drafted({}, 'retries.tries', 5), 'fallbacks', true)
    expect(bodyOf(saved, draft)).to.deep.equal({ retries: { tries: 5 } })
    expect(changesOf(saved, draft)).to.deep.equal([{ path: 'retries.tries', from: 3, to: 5 }])
    expect(bodyOf(saved, undrafted(draft, 'retries.tries'))).to.deep.equal({})
  })

  it('has lists whole, members of a map one by one, and null for those it lost', () => {
    const draft = drafted(drafted({}, 'retries.on', ['429']), 'headers', { 'x-b.c': '3', 'x-d': '4' })
    expect(bodyOf(saved, draft)).to.deep.equal({
      retries: { on: ['429'] },
      headers: { 'x-a': null, 'x-b.c': '3', 'x-d': '4' },
    })
  })

  it('has null for what is reset, and nothing for what was not set', () => {
    expect(bodyOf(saved, { 'retries.tries': null, missing: null })).to.deep.equal({ retries: { tries: null } })
  })

  it('has a secret that is replaced or removed, though its saved value is unknown', () => {
    const draft = { api_key: null, token: 'new' }
    expect(bodyOf(saved, draft, ['api_key', 'token'])).to.deep.equal({ token: 'new', api_key: null })
  })

  it('sets an object that was null by its members', () => {
    expect(bodyOf(saved, drafted({}, 'server.requests', 5))).to.deep.equal({ server: { requests: 5 } })
  })

  it('puts a member into an object that is drafted whole', () => {
    const whole = drafted({}, 'source', { type: 'file' })
    expect(drafted(whole, 'source.at.path', '/tmp')).to.deep.equal({ source: { type: 'file', at: { path: '/tmp' } } })
  })

  it('forgets what was drafted inside of an object that is drafted whole, and that it was to be reset', () => {
    const inner = drafted({}, 'retries.tries', 5)
    expect(drafted(inner, 'retries', null)).to.deep.equal({ retries: null })
    expect(drafted({ retries: null }, 'retries.tries', 5)).to.deep.equal({ 'retries.tries': 5 })
  })

  it('shows the drafted value before the saved one, also of an object that is drafted whole', () => {
    expect(shownAt(saved, {}, 'retries.tries')).to.equal(3)
    expect(shownAt(saved, { 'retries.tries': null }, 'retries.tries')).to.equal(null)
    expect(shownAt(saved, { retries: { tries: 9 } }, 'retries.tries')).to.equal(9)
    expect(shownAt(saved, {}, 'constructor.name')).to.equal(undefined)
  })

  it('is what was changed after it was sent, also back to what it was before', () => {
    const sent = { 'retries.tries': 5, fallbacks: false, token: 'new', added: 1, server: { requests: 5 } }
    const now = { fallbacks: false, 'server.requests': 6, headers: {} }
    expect(changedSince(sent, now, saved, ['token'])).to.deep.equal({
      'retries.tries': 3,
      added: null,
      'server.requests': 6,
      headers: {},
    })
    expect(changedSince(sent, sent, saved)).to.deep.equal({})
  })

  it('is not changed by the order of members', () => {
    expect(changesOf(saved, { headers: { 'x-b.c': '2', 'x-a': '1' } })).to.deep.equal([])
  })
})
