import { createCipheriv, hash, randomBytes } from 'node:crypto'
import { expect } from 'chai'
import { opener } from '../../../plugins/import/litellm-sealed.ts'
import { openSecretbox } from '../../../plugins/import/secretbox.ts'

const bytes = (hex: string) => Buffer.from(hex.replaceAll(/\s/g, ''), 'hex')

/** The example of NaCl (Cryptography in NaCl, section 10; `tests/secretbox.c`). */
const example = {
  key: bytes('1b27556473e985d462cd51197a9a46c76009549eac6474f206c4ee0844f68389'),
  nonce: bytes('69696ee955b62b73cd62bda875fc73d68219e0036b7a0b37'),
  text: bytes(`
    be075fc53c81f2d5cf141316ebeb0c7b5228c52a4c62cbd44b66849b64244ffce5ecbaaf33bd751a1ac728d45e6c61296cdc3c0123356
    1f41db66cce314adb310e3be8250c46f06dceea3a7fa1348057e2f6556ad6b1318a024a838f21af1fde048977eb48f59ffd4924ca1c60
    902e52f0a089bc76897040e082f937763848645e0705`),
  box: bytes(`
    f3ffc7703f9400e52a7dfb4b3d3305d98e993b9f48681273c29650ba32fc76ce48332ea7164d96a4476fb8c531a1186ac0dfc17c98dce
    87b4da7f011ec48c97271d2c20f9b928fe2270d6fb863d51738b48eeee314a7cc8ab932164548e526ae90224368517acfeabd6bb3732b
    c0e9da99832b61ca01b6de56244a9e88d5f9b37973f622a43d14a6599b1f654cb45a74e355a5`),
}

describe('plugins/import: secretbox', () => {
  it('opens the example of NaCl', () => {
    const { key, nonce, text, box } = example
    expect(openSecretbox(box, nonce, key)?.toString('hex')).to.equal(text.toString('hex'))
  })

  it('opens nothing that was changed, and nothing with another key', () => {
    const { key, nonce, box } = example
    for (const at of [0, 15, 16, box.length - 1]) {
      const changed = Buffer.from(box)
      changed[at] = (changed[at] ?? 0) ^ 1
      expect(openSecretbox(changed, nonce, key)).to.equal(undefined)
    }
    expect(openSecretbox(box, nonce, Buffer.alloc(32))).to.equal(undefined)
    expect(openSecretbox(box.subarray(0, 15), nonce, key)).to.equal(undefined)
  })

  it('opens what the salt key sealed with AES-256-GCM', () => {
    const nonce = randomBytes(12)
    const cipher = createCipheriv('aes-256-gcm', hash('sha256', 'salt', 'buffer'), nonce)
    const sealed = Buffer.concat([nonce, cipher.update('sk-secret ü'), cipher.final(), cipher.getAuthTag()])
    const text = `v2:gcm:${sealed.toString('base64url')}`
    expect(opener('salt')(text)).to.deep.equal({ text: 'sk-secret ü' })
    expect(opener('other')(text)).to.equal('unopened')
    expect(opener(undefined)(text)).to.equal('unopened')
    expect(opener('salt')('gpt-4o')).to.deep.equal({ text: 'gpt-4o' })
  })
})
