import { expect } from 'chai'
import { SocketSession } from '../../../engine/sockets/socket-peer.ts'

describe('the session of a socket', () => {
  it('lets go of what is replaced, deleted or left at its end, once each', () => {
    const session = new SocketSession()
    const released: string[] = []
    const keep = (word: string, value: string) => session.set(word, value, () => released.push(value))
    keep('a', 'one')
    keep('b', 'two')
    keep('a', 'three')
    expect([session.get('a'), released]).to.deep.equal(['three', ['one']])
    session.delete('a')
    session.delete('a')
    expect([session.get('a'), released]).to.deep.equal([undefined, ['one', 'three']])
    session.end()
    expect([session.get('b'), released]).to.deep.equal([undefined, ['one', 'three', 'two']])
    keep('a', 'late')
    expect([session.get('a'), released]).to.deep.equal([undefined, ['one', 'three', 'two', 'late']])
  })
})
