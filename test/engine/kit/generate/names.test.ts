import { expect } from 'chai'
import { GatewayError } from '../../../../engine/index.ts'
import { legalCallId, packSeal, restored, toolsByName, toolNames, unpackSeal } from '../../../../engine/kit.ts'
import type { Tool } from '../../../../engine/index.ts'

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
    expect(restored(names.restore('as-customs'), 'patch')).to.deep.equal({ name: 'patch', kind: 'function' })
    expect(restored(undefined, 'constructor')).to.deep.equal({ name: 'constructor', kind: 'function' })
  })

  it('have no prefix in the namespace `functions`, and lead back into it', () => {
    const reserved = toolNames([{ type: 'function', name: 'shell', namespace: 'functions' }], 64)
    expect(reserved.printed({ name: 'shell', namespace: 'functions' })).to.equal('shell')
    expect(restored(reserved.restore('as-customs'), 'shell')).to.deep.equal({
      name: 'shell',
      namespace: 'functions',
      kind: 'function',
    })
  })

  it('are refused where a namespace flattens to the name of another tool', () => {
    const collide = (...tools: Tool[]) => {
      try {
        toolNames(tools, 64)
        return undefined
      } catch (error) {
        return error instanceof GatewayError ? [error.code, error.failure.status, error.failure.param] : error
      }
    }
    const child = { type: 'function', name: 'b', namespace: 'a' } as const
    const refused = ['invalid_value', 400, 'tools']
    expect(collide(child, { type: 'function', name: 'a__b' })).to.deep.equal(refused)
    expect(collide({ type: 'function', name: 'b' }, { ...child, namespace: 'functions' })).to.deep.equal(refused)
    expect(collide(child, { type: 'custom', name: 'b', namespace: 'a' })).to.deep.equal(refused)
    expect(collide({ type: 'function', name: 'b' }, child, { type: 'opaque', protocol: 'p', value: {} })).to.equal(
      undefined,
    )
  })

  it('find the tool that is meant', () => {
    const tools: Tool[] = [
      { type: 'function', name: 'b', namespace: 'a' },
      { type: 'function', name: 'c', namespace: 'a' },
      { type: 'custom', name: 'b' },
    ]
    const at = (name: string, namespace?: string) => {
      const tool = toolsByName(tools)(namespace === undefined ? { name } : { name, namespace })
      return tool && tools.indexOf(tool)
    }
    expect([at('b'), at('b', 'a'), at('a__b'), at('c'), at('c', 'x'), at('d')]).to.deep.equal([
      2,
      0,
      0,
      1,
      undefined,
      undefined,
    ])
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
