import { expect } from 'chai'
import { allowedAddress, guardedLookup } from '../../../engine/upstream/public-address.ts'
import type { Lookup } from '../../../engine/upstream/public-address.ts'

/** The words of several lines. */
function words(...lines: readonly string[]): readonly string[] {
  return lines.flatMap((line) => line.split(' '))
}

const never = words(
  '169.254.169.254 0.0.0.0 255.255.255.255 224.0.0.1 240.0.0.1 198.18.0.1 192.0.2.1 168.63.129.16 ::',
  'fe80::1 ff02::1 2001:db8::1 ::ffff:169.254.169.254 64:ff9b::7f00:1 64:ff9b:1::7f00:1 2002:7f00:1:: 2001::1 fec0::1 localhost 127.1',
  '::7f00:2 ::a9fe:a9fe 100:0:0:1::1 4000::1 5f00::1',
)
const inside = words('127.0.0.1 127.8.8.8 10.1.2.3 172.16.0.1 192.168.1.1 100.64.0.1 ::1 fd00::1')
const outside = words('8.8.8.8 172.32.0.1 2606:4700::1111 ::ffff:8.8.8.8')

describe('public addresses', () => {
  for (const address of outside)
    it(`has ${address}`, () => {
      expect([allowedAddress(address, false), allowedAddress(address, true)]).to.deep.equal([true, true])
    })
  for (const address of [...inside, '::ffff:127.0.0.1', '::ffff:10.0.0.1', '::127.0.0.1'])
    it(`has ${address} only where private addresses are allowed`, () => {
      expect([allowedAddress(address, false), allowedAddress(address, true)]).to.deep.equal([false, true])
    })
  for (const address of [...never, ''])
    it(`never has "${address}"`, () => {
      expect([allowedAddress(address, false), allowedAddress(address, true)]).to.deep.equal([false, false])
    })
})

describe('the lookup of sockets for files', () => {
  const answering =
    (...addresses: string[]): Lookup =>
    (_name, _options, callback) =>
      callback(
        null,
        addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
      )
  const look = (lookup: Lookup, all: boolean) =>
    new Promise((resolve) =>
      guardedLookup(lookup, false)('files.test', { all }, (error, ...found) => resolve(error ?? found)),
    )

  it('gives all addresses of a name, or the first', async () => {
    const lookup = answering('8.8.8.8', '2606:4700::1111')
    expect(await look(lookup, false)).to.deep.equal(['8.8.8.8', 4])
    expect(await look(lookup, true)).to.deep.equal([
      [
        { address: '8.8.8.8', family: 4 },
        { address: '2606:4700::1111', family: 6 },
      ],
    ])
  })

  it('fails when one of them is not allowed, when there is none, and when the name is unknown', async () => {
    const unknown = new Error('ENOTFOUND')
    for (const all of [true, false]) {
      expect(await look(answering('8.8.8.8', '10.0.0.1'), all)).to.have.property(
        'message',
        'an address of the host is not allowed',
      )
      expect(await look(answering(), all)).to.have.property('message', 'an address of the host is not allowed')
      expect(await look((_name, _options, callback) => callback(unknown, []), all)).to.equal(unknown)
    }
  })
})
