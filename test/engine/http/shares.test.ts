import { expect } from 'chai'
import fc from 'fast-check'
import type { Principal } from '../../../engine/index.ts'
import { byteBudgetOf } from '../../../engine/kit.ts'
import { httpLimits } from '../../../engine/config/limits.ts'
import { Shares } from '../../../engine/http/shares.ts'

const mebibyte = 1024 * 1024
const limits = httpLimits.shares.memory
const key = (id: string, owner?: string): Principal => ({
  kind: 'key',
  id,
  name: id,
  ...(owner === undefined ? {} : { owner }),
})

/** How many MiB a client gets, one after the other. */
function taken(shares: Shares, principal: Principal | undefined, address = '127.0.0.1'): number {
  const share = shares.of(principal, address)
  let count = 0
  while (share.take(mebibyte)) count++
  return count
}

describe('the bytes that clients share', () => {
  it('leave a part to the next key when others take all they get', () => {
    const shares = new Shares(byteBudgetOf(256 * mebibyte), limits)
    const found = Array.from({ length: 7 }, (_, index) => taken(shares, key(`key-${index}`)))
    expect(found).to.deep.equal([128, 64, 32, 16, 8, 4, 2])
    expect(shares.of(key('another'), '127.0.0.1').take(500_000)).to.equal(true)
  })

  it('leave a part to others when one member has many keys', () => {
    const shares = new Shares(byteBudgetOf(256 * mebibyte), limits)
    const found = Array.from({ length: 20 }, (_, index) => taken(shares, key(`key-${index}`, 'greedy')))
    expect(found.reduce((sum, one) => sum + one, 0)).to.equal(192)
    expect(taken(shares, key('mine', 'modest'))).to.equal(32)
  })

  it('are few for clients that are not authenticated, from one network and from all', () => {
    const shares = new Shares(byteBudgetOf(256 * mebibyte), limits)
    expect(taken(shares, undefined, '2001:db8:0:1::1')).to.equal(8)
    expect(taken(shares, undefined, '2001:db8:0:1::2')).to.equal(0)
    const others = Array.from({ length: 10 }, (_, index) => taken(shares, undefined, `192.0.2.${index}`))
    expect(others.reduce((sum, one) => sum + one, 0)).to.equal(24)
    expect(taken(shares, key('mine'))).to.equal(112)
  })

  it('are all there again when all was given back', () => {
    const clients = [undefined, key('a'), key('b', 'm'), key('c', 'm'), { ...key('m'), kind: 'member' } as const]
    const step = fc.record({ client: fc.nat(4), bytes: fc.nat(3 * mebibyte), back: fc.boolean() })
    fc.assert(
      fc.property(fc.array(step), (steps) => {
        const room = byteBudgetOf(16 * mebibyte)
        const shares = new Shares(room, limits)
        const held: { client: number; bytes: number }[] = []
        const give = ({ client, bytes }: { client: number; bytes: number }) =>
          shares.of(clients[client], '127.0.0.1').give(bytes)
        for (const { client, bytes, back } of steps) {
          if (shares.of(clients[client], '127.0.0.1').take(bytes)) held.push({ client, bytes })
          const last = back ? held.pop() : undefined
          if (last) give(last)
          expect(room.left).to.equal(16 * mebibyte - held.reduce((sum, one) => sum + one.bytes, 0))
        }
        held.forEach(give)
        const before = clients.map((client) => taken(new Shares(byteBudgetOf(16 * mebibyte), limits), client))
        const after = clients.map((client) => {
          const count = taken(shares, client)
          shares.of(client, '127.0.0.1').give(count * mebibyte)
          return count
        })
        expect(after).to.deep.equal(before)
      }),
    )
  })
})
