import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { pino } from 'pino'
import type { Settings } from '../../../engine/config/settings.ts'
import { Secrets } from '../../../engine/secrets/redaction.ts'
import { rotateSecret } from '../../../engine/cli/reseal.ts'
import { openStores } from '../../../engine/store/stores.ts'
import type { Stores } from '../../../engine/store/stores.ts'
import { postgres } from '../../support/services.ts'

const [first, second, third] = [
  'the first secret of all',
  'the second secret of all',
  'the third secret of all',
] as const
const value = { key: 'sk-of-a-provider' }

/** A rotation that is killed at some point. */
const killed = new Error('killed')

function contract(open: (context: Mocha.Context) => Promise<string | undefined>): void {
  let folder: string
  let url: string
  const opened: Stores[] = []
  beforeEach(async function () {
    this.timeout(600_000)
    folder = mkdtempSync(join(tmpdir(), 'sluice-rotation-'))
    url = (await open(this)) ?? `sqlite:${join(folder, 'sluice.db')}`
  })
  afterEach(async () => {
    for (const one of opened.splice(0)) await one.close()
    rmSync(folder, { recursive: true })
  })

  const process = async (environment: Record<string, string> = {}) => {
    const settings = { database: { url } } as Settings
    const stores = await openStores(settings, {
      root: folder,
      environment,
      log: pino({ level: 'silent' }),
      secrets: new Secrets(),
    })
    opened.push(stores)
    return stores
  }
  const rotate = (stores: Stores, secret: string, also = async () => {}) =>
    rotateSecret(stores, { secret, columns: [], also })
  const write = async ({ records }: Stores) => {
    const { revision } = await records.read()
    const facts = { type: 'provider', name: 'p', version: 1, createdAt: 1, updatedAt: 1 }
    const change = { type: 'provider', name: 'p', record: { ...facts, value }, secret: true }
    expect(await records.commit([change], revision, () => Promise.resolve())).to.equal(true)
  }
  const read = async ({ records }: Stores) => (await records.read()).records.map((one) => one.value)
  const files = () => {
    const place = url.startsWith('sqlite') ? folder : join(folder, 'data')
    const names = readdirSync(place).filter((name) => name.startsWith('secret'))
    return Object.fromEntries(names.map((name) => [name, readFileSync(join(place, name), 'utf8').trim()]))
  }

  it('loses nothing when it is killed before the commit', async () => {
    const stores = await process()
    await write(stores)
    const { secret: old } = files()
    const failed = await rotate(stores, first, () => Promise.reject(killed)).catch((error: unknown) => error)
    expect(failed).to.equal(killed)
    expect(files()).to.deep.equal({ secret: old, 'secret.next': first })
    expect(await read(stores)).to.deep.equal([value])
    expect(await read(await process())).to.deep.equal([value])
    // What was left over is in nobody's way.
    expect(await rotate(await process(), second)).to.deep.equal({ records: 1, rows: 0, unreadable: 0 })
    expect(files()).to.deep.equal({ secret: second })
    expect(await read(await process())).to.deep.equal([value])
  })

  it('loses nothing when it is killed between the commit and the change of the file', async () => {
    const stores = await process()
    await write(stores)
    const { secret: old } = files()
    Object.assign(stores.sealing.file, {
      settle() {
        throw killed
      },
    })
    expect(await rotate(stores, first).catch((error: unknown) => error)).to.equal(killed)
    expect(files()).to.deep.equal({ secret: old, 'secret.next': first })
    const next = await process()
    expect(await read(next)).to.deep.equal([value])
    expect(files()).to.deep.equal({ secret: first })
    expect(next.sealing.secret()).to.equal(first)
  })

  it('is followed by a process that runs, whatever that sealed meanwhile', async () => {
    const [here, there] = [await process(), await process()]
    await write(there)
    await rotate(here, first)
    const late = there.sealing.seal(Buffer.from('late'), 'c')
    expect(await read(there)).to.deep.equal([value])
    expect(there.sealing.secret()).to.equal(first)
    expect(here.sealing.deriveKey('a')).to.deep.equal(there.sealing.deriveKey('a'))
    for (const secret of [second, third])
      await rotate(await process().then(async (one) => (await read(one), one)), secret)
    const last = await process()
    expect(await read(last)).to.deep.equal([value])
    expect(last.sealing.unseal(late, 'c')?.toString()).to.equal('late')
    expect(last.sealing.unseal(late, 'd')).to.equal(undefined)
  })

  it('opens at once what the new secret sealed, before the process has looked', async () => {
    const [here, there] = [await process(), await process()]
    const old = here.sealing.seal(Buffer.from('old'), 'c')
    expect(there.sealing.unseal(old, 'c')?.toString()).to.equal('old')
    await rotate(here, first)
    expect(there.sealing.unseal(here.sealing.seal(Buffer.from('new'), 'c'), 'c')?.toString()).to.equal('new')
    expect(there.sealing.unseal(old, 'c')?.toString()).to.equal('old')
  })

  it('leaves nothing half done: two at a time, a record that does not open, a secret from before', async () => {
    const given = { SLUICE_SECRET: first }
    const [here, there] = [await process(given), await process(given)]
    await write(here)
    const both = await Promise.allSettled([rotate(here, second), rotate(there, third)])
    expect(both.map(({ status }) => status)).to.have.members(['fulfilled', 'rejected'])
    const winner = both[0]?.status === 'fulfilled' ? second : third
    const now = await process({ SLUICE_SECRET: winner })
    expect(await read(now)).to.deep.equal([value])
    expect(now.sealing.isOutdated()).to.equal(false)
    const messageOf = (error: Error) => error.message
    expect(await rotate(now, first).catch(messageOf)).to.equal('the new master secret was used before')
    const foreign = await process({ SLUICE_SECRET: 'a secret of another gateway' })
    await foreign.records.read()
    expect(foreign.sealing.isOutdated()).to.equal(true)
    expect(await rotate(foreign, 'one more secret').catch(messageOf)).to.equal(
      'this is not the present master secret of the gateway',
    )
  })

  it('refuses to lose a record that the given secret does not open', async () => {
    await write(await process({ SLUICE_SECRET: first }))
    const other = await process({ SLUICE_SECRET: second })
    const error = await rotate(other, third).catch((one: Error) => one.message)
    expect(error).to.equal('the provider "p" cannot be opened with the present master secret')
    expect(await read(await process({ SLUICE_SECRET: first }))).to.deep.equal([value])
  })
}

describe('a rotation of the master secret', function () {
  this.timeout(600_000)
  describe('with SQLite', () => contract(() => Promise.resolve(undefined)))
  describe('with PostgreSQL', () => contract(async (context) => (await postgres(context)).url))
})
