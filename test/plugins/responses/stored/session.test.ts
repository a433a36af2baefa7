import { expect } from 'chai'
import { SocketSession } from '../../../../engine/sockets/socket-peer.ts'
import type { Ingress } from '../../../../engine/index.ts'
import {
  forgetOnSocket,
  rememberOnSocket,
  lastOnSocket,
  sessionsLimit,
  socketLimit,
} from '../../../../plugins/responses/stored/session.ts'
import { weightOf } from '../../../../plugins/responses/stored/record.ts'
import { recordWith, said } from './kept.ts'

describe('the last response of a socket', () => {
  const socket = () => {
    const session = new SocketSession()
    return { session, ingress: { session } as unknown as Ingress }
  }
  const sized = (bytes: number) => recordWith({ input: [said('x'.repeat(bytes))] })
  const mebibyte = 1024 * 1024

  it('counts until it is replaced, forgotten or its socket has closed', () => {
    const sessions = { used: 0 }
    const [one, two] = [socket(), socket()]
    expect(rememberOnSocket(one.ingress, sized(4 * mebibyte), sessions)).to.equal(true)
    expect(rememberOnSocket(two.ingress, sized(mebibyte), sessions)).to.equal(true)
    expect(sessions.used).to.be.within(5 * mebibyte, 5 * mebibyte + 4000)
    const small = sized(mebibyte)
    rememberOnSocket(one.ingress, small, sessions)
    expect(lastOnSocket(one.ingress)).to.equal(small)
    expect(sessions.used).to.be.within(2 * mebibyte, 2 * mebibyte + 4000)
    forgetOnSocket(one.ingress)
    two.session.end()
    expect([sessions.used, lastOnSocket(one.ingress), lastOnSocket(two.ingress)]).to.deep.equal([
      0,
      undefined,
      undefined,
    ])
  })

  it('is not kept when it is too large, nor is the one before it', () => {
    const sessions = { used: 0 }
    const { ingress } = socket()
    expect(rememberOnSocket(ingress, sized(socketLimit - 4000), sessions)).to.equal(true)
    expect(rememberOnSocket(ingress, sized(socketLimit), sessions)).to.equal(false)
    expect([sessions.used, lastOnSocket(ingress)]).to.deep.equal([0, undefined])
  })

  it('is not kept when all of them together would be too large', () => {
    const sessions = { used: sessionsLimit - mebibyte }
    const { ingress } = socket()
    expect(rememberOnSocket(ingress, sized(mebibyte), sessions)).to.equal(false)
    expect(rememberOnSocket(ingress, sized(mebibyte - 4000), sessions)).to.equal(true)
  })

  it('is weighed by its texts and by the number of its values', () => {
    expect(weightOf('abc', 1000)).to.equal(35)
    expect(weightOf({ ab: ['x', null, true], c: {} }, 1000)).to.equal(6 * 32 + 4)
    expect(weightOf({ a: undefined, b: 'x'.repeat(100) }, 1000)).to.equal(3 * 32 + 102)
    expect(
      weightOf(
        Array.from({ length: 100 }, () => 'x'.repeat(100)),
        1000,
      ),
    ).to.equal(1001)
    expect(
      weightOf(
        Array.from({ length: 20 }, () => 'x'.repeat(100)),
        1000,
      ),
    ).to.be.within(1001, 1132)
  })
})
