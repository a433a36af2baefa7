import { expect } from 'chai'
import { legalCallId, packSeal, restored, toolNames, unpackSeal } from '../../../engine/index.ts'

const long = 'a'.repeat(80)

describe('tool names', () => {
  const names = toolNames(
    [
      { type: 'function', name: 'plain' },
      { type: 'function', name: 'child', namespace: 'ns' },
      { type: 'function', name: long },
      { type: 'function', name: 'mit leer.zeichen' },
      { type: 'custom', name: 'patch' },
    ],
    64,
  )

  it('keep what is legal, flatten namespaces, end what is not in a hash', () => {
    expect(names.printed({ name: 'plain' })).to.equal('plain')
    expect(names.printed({ name: 'child', namespace: 'ns' })).to.equal('ns__child')
    expect(names.printed({ name: long })).to.match(/^a{55}_[0-9a-f]{8}$/)
    expect(names.printed({ name: 'mit leer.zeichen' })).to.match(/^mit_leer_zeichen_[0-9a-f]{8}$/)
  })

  it('lead back to the names of the client', () => {
    const restore = names.restore('as-functions')
    expect(restored(restore, 'plain')).to.deep.equal({ name: 'plain', kind: 'function' })
    expect(restored(restore, 'ns__child')).to.deep.equal({ name: 'child', namespace: 'ns', kind: 'function' })
    expect(restored(restore, names.printed({ name: long }))).to.deep.equal({ name: long, kind: 'function' })
    expect(restored(restore, 'patch')).to.deep.equal({ name: 'patch', kind: 'custom' })
    expect(restored(names.restore('native'), 'patch')).to.deep.equal({ name: 'patch', kind: 'function' })
    expect(restored(undefined, 'constructor')).to.deep.equal({ name: 'constructor', kind: 'function' })
  })
})

describe('call ids', () => {
  it('stay when every protocol takes them, else become a hash of themselves', () => {
    expect(legalCallId('call_A-1')).to.equal('call_A-1')
    expect(legalCallId('a.b')).to.match(/^call_[0-9a-f]{24}$/)
    expect(legalCallId('x'.repeat(65))).to.match(/^call_[0-9a-f]{24}$/)
    expect(legalCallId('a.b')).to.equal(legalCallId('a.b')).and.not.equal(legalCallId('a,b'))
  })
})

describe('seals', () => {
  it('come back as they were packed, and only ours are read', () => {
    const packed = packSeal('one/m', { blocks: ['ß'] })
    expect(packed).to.match(/^gw1\.[\w-]+$/)
    expect(unpackSeal(packed)).to.deep.equal({ origin: 'one/m', value: { blocks: ['ß'] } })
    for (const foreign of [
      '',
      'ErUB+native',
      'gw1.',
      'gw1.!!!',
      `gw1.${Buffer.from('{"origin":1}').toString('base64url')}`,
      'gw2.e30',
    ])
      expect(unpackSeal(foreign), foreign).to.equal(undefined)
  })
})
