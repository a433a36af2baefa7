import { expect } from 'chai'
import { guardedLookup, reachTo } from '../../../engine/config/reach.ts'
import type { Lookup, Reach } from '../../../engine/config/reach.ts'

/** The words of several lines. */
function words(...lines: readonly string[]): readonly string[] {
  return lines.flatMap((line) => line.split(' '))
}

const platform = words(
  '169.254.169.254 169.254.0.1 168.63.129.16 100.100.100.200 192.0.0.192 fe80::1 fe80::1%eth0 fd00:ec2::254 fd00:ec2::23',
  'fd20:ce::254 fd00:42::42 fd00:c1::a9fe:a9fe ::ffff:169.254.169.254 ::ffff:a83f:8110 ::a9fe:a9fe ::ffff:0:a9fe:a9fe',
  '64:ff9b::a9fe:a9fe 64:ff9b:1::6464:64c8 64:ff9b:1:a9fe:a9:fe00:: 64:ff9b:1::7f00:1 64:ff9b:1::808:808 2002:a9fe:a9fe::1 localhost 127.1',
)
const inside = words(
  '127.0.0.1 127.8.8.8 10.1.2.3 172.16.0.1 192.168.1.1 100.64.0.1 ::1 fd00::1 ::ffff:127.0.0.1 ::ffff:10.0.0.1',
  '0.0.0.0 255.255.255.255 224.0.0.1 240.0.0.1 198.18.0.1 192.0.2.1 :: ff02::1 2001:db8::1 64:ff9b::7f00:1',
  '2002:7f00:1:: 2001::1 fec0::1 ::127.0.0.1 ::7f00:2 100:0:0:1::1 4000::1 5f00::1 fd00:ec3::254',
)
const outside = words('8.8.8.8 172.32.0.1 2606:4700::1111 ::ffff:8.8.8.8 168.63.129.17')

describe('the reach that an address needs', () => {
  const cases = [
    ['public', outside],
    ['private', inside],
    ['any', [...platform, '']],
  ] as const
  for (const [reach, addresses] of cases)
    for (const address of addresses)
      it(`is "${reach}" for "${address}"`, () => {
        expect(reachTo(address)).to.equal(reach)
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
  const look = (lookup: Lookup, all: boolean, reach: Reach = 'public') =>
    new Promise((resolve) =>
      guardedLookup(lookup, reach)('files.test', { all }, (error, ...found) => resolve(error ?? found)),
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

  it('never leads to link-local addresses from where private ones are allowed', async () => {
    const refused = 'an address of the host is not allowed'
    expect(await look(answering('10.0.0.1'), false, 'private')).to.deep.equal(['10.0.0.1', 4])
    for (const address of ['169.254.169.254', 'fd00:ec2::254', '::ffff:169.254.169.254'])
      expect(await look(answering('10.0.0.1', address), true, 'private'), address).to.have.property('message', refused)
    expect(await look(answering('169.254.169.254'), false, 'any')).to.deep.equal(['169.254.169.254', 4])
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
