import { chmodSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { expect } from 'chai'
import { StartError } from '../../../engine/config/location.ts'
import { openSealing } from '../../../engine/secrets/sealing.ts'
import type { Sealing, SecretSource } from '../../../engine/secrets/sealing.ts'

const given = 'a master secret of some length'
const bytes = Buffer.from('what nobody may read')

describe('sealing', () => {
  let folder: string
  before(() => (folder = mkdtempSync(join(tmpdir(), 'sluice-sealing-'))))
  after(() => rmSync(folder, { recursive: true, force: true }))

  const withSecret = (secret: string | undefined, file = join(folder, 'unused')) => {
    const heard: string[] = []
    const warnings: unknown[] = []
    const log = { warn: (facts: unknown) => warnings.push(facts) } as unknown as SecretSource['log']
    const sealing: Sealing = openSealing({ given: secret, file, protect: (text) => heard.push(text), log })
    return { ...sealing, heard, warnings }
  }

  it('opens what it sealed, of any length', () => {
    const { seal, unseal } = withSecret(given)
    for (const length of [0, 1, 16, 100_000]) {
      const text = Buffer.alloc(length, 7)
      expect(unseal(seal(text, 'c'), 'c')?.equals(text)).to.equal(true)
    }
  })

  it('begins with the version, hides the text and never seals twice alike', () => {
    const { seal } = withSecret(given)
    const sealed = seal(bytes, 'c')
    expect([sealed[0], sealed.length]).to.deep.equal([1, 1 + 12 + 16 + bytes.length])
    expect(sealed.includes('nobody')).to.equal(false)
    expect(seal(bytes, 'c').equals(sealed)).to.equal(false)
  })

  it('opens nothing of which a single bit was changed, nothing shorter and nothing longer', () => {
    const { seal, unseal } = withSecret(given)
    const sealed = seal(bytes, 'c')
    for (let at = 0; at < sealed.length; at += 1) {
      const changed = Buffer.from(sealed)
      changed[at] = (changed[at] ?? 0) ^ 1
      expect(unseal(changed, 'c'), `byte ${at}`).to.equal(undefined)
    }
    for (let length = 0; length < sealed.length; length += 1)
      expect(unseal(sealed.subarray(0, length), 'c'), `${length} bytes`).to.equal(undefined)
    expect(unseal(Buffer.concat([sealed, Buffer.of(0)]), 'c')).to.equal(undefined)
  })

  it('opens nothing under another context or another secret', () => {
    const { seal, unseal } = withSecret(given)
    const sealed = seal(bytes, 'c')
    expect(unseal(sealed, 'd')).to.equal(undefined)
    expect(unseal(sealed, '')).to.equal(undefined)
    expect(withSecret(`${given}.`).unseal(sealed, 'c')).to.equal(undefined)
    expect(withSecret(given).unseal(sealed, 'c')?.equals(bytes)).to.equal(true)
  })

  it('derives a key for each purpose, the same for the same secret', () => {
    const { deriveKey } = withSecret(given)
    // RFC 5869, sections 2.2 and 2.3, for one block; without a salt the key of the first step is 32 zero bytes.
    const pseudorandom = createHmac('sha256', Buffer.alloc(32)).update(given).digest()
    const expected = createHmac('sha256', pseudorandom).update('acme 1').update(Buffer.of(1)).digest()
    expect(deriveKey('acme 1').equals(expected)).to.equal(true)
    expect(deriveKey('acme 2').equals(expected)).to.equal(false)
    expect(withSecret(`${given}.`).deriveKey('acme 1').equals(expected)).to.equal(false)
  })

  it('refuses a secret that is too short, at once', () => {
    expect(() => withSecret('fifteen letters'))
      .to.throw(StartError)
      .with.property('message', 'the master secret in SLUICE_SECRET has fewer than 16 characters')
    expect(withSecret('sixteen letters.').seal(bytes, 'c')).to.have.length(49)
  })

  it('makes a secret of its own when it is needed, for its owner alone, and hides it in logs', () => {
    const file = join(folder, 'own', 'secret')
    const first = withSecret(undefined, file)
    expect(first.heard).to.deep.equal([])
    const sealed = first.seal(bytes, 'c')
    expect(readdirSync(join(folder, 'own'))).to.deep.equal(['secret'])
    const secret = readFileSync(file, 'utf8').trim()
    expect(secret).to.match(/^[\w-]{43}$/)
    expect(statSync(file).mode & 0o777).to.equal(0o600)
    expect(first.heard).to.deep.equal([secret])
    const second = withSecret(undefined, file)
    expect(second.unseal(sealed, 'c')?.equals(bytes)).to.equal(true)
    expect(second.heard).to.deep.equal([secret])
  })

  it('makes no file when it was given a secret', () => {
    const file = join(folder, 'never', 'secret')
    const { seal, heard } = withSecret(given, file)
    expect(heard).to.deep.equal([given])
    seal(bytes, 'c')
    expect(readdirSync(folder)).to.not.include('never')
  })

  it('refuses a file that holds too little', () => {
    const file = join(folder, 'short')
    writeFileSync(file, 'short\n')
    expect(() => withSecret(undefined, file).seal(bytes, 'c')).to.throw(StartError)
  })

  it('warns of a file that others may read, and of no other', function () {
    if (process.platform === 'win32') return this.skip()
    const file = join(folder, 'open')
    writeFileSync(file, `${given}\n`)
    for (const [mode, warned] of [
      [0o600, 0],
      [0o400, 0],
      [0o640, 1],
      [0o604, 1],
    ] as const) {
      chmodSync(file, mode)
      const { seal, warnings } = withSecret(undefined, file)
      seal(bytes, 'c')
      seal(bytes, 'd')
      expect(warnings, mode.toString(8)).to.deep.equal(Array.from({ length: warned }, () => ({ file })))
    }
    return undefined
  })

  it('agrees with those who make the file at the same time', async function () {
    const file = join(folder, 'race')
    const start = new Int32Array(new SharedArrayBuffer(4))
    const source = `import { workerData, parentPort } from 'node:worker_threads'
      const { openSealing } = await import(workerData.module)
      const { seal } = openSealing({ given: undefined, file: workerData.file, protect() {}, log: { warn() {} } })
      parentPort.postMessage('ready')
      Atomics.wait(workerData.start, 0, 0)
      parentPort.postMessage(seal(Buffer.from('x'), 'c'))`
    const module = new URL('../../../engine/secrets/sealing.ts', import.meta.url).href
    const workers = Array.from(
      { length: 4 },
      () =>
        new Worker(new URL(`data:text/javascript,${encodeURIComponent(source)}`), {
          workerData: { module, file, start },
        }),
    )
    await Promise.all(workers.map((worker) => once(worker, 'message')))
    const answers = Promise.all(workers.map((worker) => once(worker, 'message') as Promise<[Uint8Array]>))
    Atomics.store(start, 0, 1)
    Atomics.notify(start, 0)
    const { unseal } = withSecret(undefined, file)
    for (const [sealed] of await answers) expect(unseal(sealed, 'c')?.toString()).to.equal('x')
    expect(readdirSync(folder).filter((name) => name.startsWith('race'))).to.deep.equal(['race'])
    await Promise.all(workers.map((worker) => worker.terminate()))
  })
})
