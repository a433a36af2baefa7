import { hash } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { sql } from 'kysely'
import { type Database, openDatabase } from '../../../engine/store/database.ts'
import { GatewayError } from '../../../engine/index.ts'
import type { KeyStore } from '../../../plugins/keys/key-store.ts'
import { NameTaken } from '../../../plugins/keys/stored-keys.ts'
import { startGateway } from '../../support/gateway.ts'
import { keyStore, keysOf, migrateKeys } from '../../support/keys.ts'
import { makeOldDatabase, releasedMigrations } from '../../support/old-database.ts'
import { postgres } from '../../support/services.ts'
import { sideBySide } from '../../support/side-by-side.ts'
import { tablesOf } from '../../support/tables.ts'

const DECLARED = { name: 'dev', key: 'dev-key-of-the-file' }

function contract(open: () => Promise<Database>): void {
  let database: Database
  let keys: KeyStore
  beforeEach(async () => {
    database = await open()
    await migrateKeys(database)
    await tablesOf(database).deleteFrom('api_keys').execute()
    await tablesOf(database).deleteFrom('api_keys_revoked').execute()
    keys = keyStore(database)
  })
  afterEach(() => database.close())

  it('makes keys of which only the hash is kept', async () => {
    const { id, text } = await keys.createKey({ name: 'app', models: ['small'], expiresAt: Date.now() + 60_000 })
    expect(text).to.match(/^sk-sluice-[\w-]{43}$/)
    const [row] = await tablesOf(database).selectFrom('api_keys').selectAll().execute()
    expect(row).to.include({ id, name: 'app', hash: hash('sha256', text), hint: text.slice(-4), models: '["small"]' })
    expect(JSON.stringify(row)).not.to.include(text)
    expect(keys.index.find(text)).to.deep.equal({
      kind: 'key' as const,
      id: id,
      name: 'app',
      models: new Set(['small']),
    })
  })

  it('answers the same frozen principal every time', async () => {
    const { id, text } = await keys.createKey({ name: 'app' })
    const principal = keys.index.find(text)
    expect(principal).to.deep.equal({ kind: 'key' as const, id: id, name: 'app' })
    expect(principal).to.be.frozen.and.to.equal(keys.index.find(text))
  })

  it('does not find a key that expired, was revoked or was deleted', async () => {
    const expired = await keys.createKey({ name: 'expired', expiresAt: Date.now() })
    const revoked = await keys.createKey({ name: 'revoked' })
    const deleted = await keys.createKey({ name: 'deleted' })
    expect(keys.index.find(expired.text)).to.equal(undefined)
    await tablesOf(database).updateTable('api_keys').set({ revoked_at: 1 }).where('id', '=', revoked.id).execute()
    await tablesOf(database).deleteFrom('api_keys').where('id', '=', deleted.id).execute()
    expect(keys.index.find(revoked.text)).to.include({ name: 'revoked' })
    await keys.refresh()
    expect(keys.index.find(revoked.text)).to.equal(undefined)
    expect(keys.index.find(deleted.text)).to.equal(undefined)
  })

  it('finds more keys than it remembers, again and again', () => {
    const declared = Array.from({ length: 1_100 }, (_, index) => ({ name: `k${index}`, key: `key-number-${index}` }))
    keys.index.declare(declared)
    for (let round = 0; round < 2; round += 1)
      for (const { name, key } of declared) expect(keys.index.find(key)).to.include({ id: `file:${name}` })
    keys.index.declare([])
    expect(keys.index.find('key-number-7')).to.equal(undefined)
  })

  it('reads keys that another process made', async () => {
    const { id, text } = await keyStore(database).createKey({ name: 'elsewhere' })
    expect(keys.index.find(text)).to.equal(undefined)
    await keys.refresh()
    expect(keys.index.find(text)).to.include({ id: id })
  })

  /** The database, counting how often all keys are read. */
  function counted() {
    let reads = 0
    const rows: Database['rows'] = (statement) => {
      if (statement.startsWith('select *')) reads++
      return database.rows(statement)
    }
    return {
      database: { ...database, query: database.query, rows } as Database,
      get reads() {
        return reads
      },
    }
  }

  it('searches for a key that was made elsewhere, with one look for all who wait', async () => {
    const watched = counted()
    const searching = keyStore(watched.database)
    for (const text of ['dev-key-of-a-file', 'sk-sluice-short', `sk-other--${'x'.repeat(43)}`])
      expect(await searching.search(text)).to.equal(undefined)
    expect(watched.reads).to.equal(0)
    const first = await keyStore(database).createKey({ name: 'elsewhere' })
    expect(searching.index.find(first.text)).to.equal(undefined)
    expect(await searching.search(first.text)).to.include({ id: first.id })
    expect(watched.reads).to.equal(1)
    const second = await keyStore(database).createKey({ name: 'after it' })
    const strangers = Array.from({ length: 500 }, (_, index) => `sk-sluice-${String(index).padStart(43, 'x')}`)
    const found = await Promise.all([...strangers, second.text].map((text) => searching.search(text)))
    expect(found.filter((one) => one !== undefined)).to.have.length(1)
    expect(watched.reads, 'whoever comes within a second waits for the next look').to.equal(2)
  })

  it('cannot tell whether there is a key while the database cannot be read', async () => {
    const failing = { ...database, rows: () => Promise.reject(new Error('gone')) } as Database
    const refusal: unknown = await keyStore(failing)
      .search(`sk-sluice-${'x'.repeat(43)}`)
      .catch((error: unknown) => error)
    expect(refusal).to.be.instanceOf(GatewayError).and.to.include({ code: 'store_unavailable' })
  })

  it('sees at the next poll that a key was made or revoked, and reads nothing while nothing happens', async () => {
    const watched = counted()
    const polling = keyStore(watched.database)
    await polling.poll()
    expect([await polling.poll(), watched.reads]).to.deep.equal([false, 1])
    const { id, text } = await keyStore(database).createKey({ name: 'elsewhere' })
    expect([await polling.poll(), watched.reads]).to.deep.equal([true, 2])
    expect(polling.index.find(text)).to.include({ id: id })
    await tablesOf(database).updateTable('api_keys').set({ revoked_at: 1 }).where('id', '=', id).execute()
    expect([await polling.poll(), watched.reads]).to.deep.equal([true, 3])
    expect(polling.index.find(text)).to.equal(undefined)
  })

  it('refuses a name in use, by the database or the file, in any case', async () => {
    await keys.createKey({ name: 'app' })
    keys.index.declare([DECLARED])
    for (const name of ['app', 'dev', 'Dev']) {
      const refusal = await keys.createKey({ name }).catch((error: unknown) => error)
      expect(refusal, name).to.be.instanceOf(NameTaken)
    }
    expect(await tablesOf(database).selectFrom('api_keys').select('name').execute()).to.deep.equal([{ name: 'app' }])
  })

  it('finds keys of the file, and forgets those of the file before', () => {
    keys.index.declare([{ ...DECLARED, models: [] }])
    expect(keys.index.find(DECLARED.key)).to.deep.equal({
      kind: 'key' as const,
      id: 'file:dev',
      name: 'dev',
      models: new Set(),
    })
    keys.index.declare([{ name: 'other', key: 'another-key-of-the-file' }])
    expect(keys.index.find(DECLARED.key)).to.equal(undefined)
    keys.index.declare([
      { ...DECLARED, expiresAt: Date.now() },
      { name: 'other', key: 'another-key-of-the-file' },
    ])
    expect(keys.index.find(DECLARED.key)).to.equal(undefined)
    expect(keys.index.find('another-key-of-the-file')).to.deep.equal({
      kind: 'key' as const,
      id: 'file:other',
      name: 'other',
    })
  })

  it('does not find what is not exactly a key', async () => {
    keys.index.declare([DECLARED])
    const { text } = await keys.createKey({ name: 'app' })
    const wrong = [
      '',
      text.slice(0, -1),
      `${text}x`,
      ` ${text}`,
      text.toUpperCase(),
      `${text}\0`,
      'x'.repeat(1_000_000),
    ]
    const hostile = [
      "' OR 1=1 --",
      '__proto__',
      'constructor',
      hash('sha256', text),
      text.replace('s', 'ѕ'),
      '\u{1f511}'.repeat(5),
    ]
    for (const guess of [...wrong, ...hostile]) expect(keys.index.find(guess), guess.slice(0, 60)).to.equal(undefined)
    expect(keys.index.find(text)).to.include({ name: 'app' })
  })

  it('allows nothing to a key whose list of models is damaged', async () => {
    const { id, text } = await keys.createKey({ name: 'app', models: ['small'] })
    for (const [models, allowed] of [
      ['["small"', []],
      ['"small"', []],
      ['[1,"small"]', ['small']],
    ] as const) {
      await tablesOf(database).updateTable('api_keys').set({ models }).where('id', '=', id).execute()
      await keys.refresh()
      expect(keys.index.find(text)?.models, models).to.deep.equal(new Set(allowed))
    }
  })

  it('tells which keys of a file the database contradicts, all at once and without their text', async () => {
    const { text } = await keys.createKey({ name: 'app' })
    const declared = [
      { name: 'App', key: 'long-enough-1' },
      { name: 'copy', key: text },
    ]
    expect(keys.problems([...declared, DECLARED])).to.deep.equal([
      { index: 0, message: 'api key "App" exists in the database too; rename one' },
      { index: 1, message: 'api key "copy" has the text of a key in the database' },
    ])
    expect(keys.problems(declared, true)).to.deep.equal([])
  })

  it('tells other services what they need to know of a key, and who owns it', async () => {
    const fields = {
      name: 'app',
      models: ['small'],
      budget: { usd: 1.5, period: 'week' },
      rateLimit: { requests: 5, period: '60s' },
      mcpServers: ['files'],
      tags: { team: 'red' },
    } as const
    const members = new Map([['m1', { username: 'ann', disabled: false, models: new Set(['small', 'large']) }]])
    keys.index.follow((id) => members.get(id))
    const plain = await keys.createKey(fields)
    const owned = await keys.createKey({ name: 'owned', owner: 'm1', models: ['large', 'huge'] })
    keys.index.declare([{ ...DECLARED, tags: { team: 'blue' } }])
    expect(keys.index.get(plain.id)).to.deep.equal({ id: plain.id, ...fields, state: 'active' })
    expect(keys.index.get('file:dev')).to.deep.equal({
      id: 'file:dev',
      name: 'dev',
      tags: { team: 'blue' },
      state: 'active',
    })
    expect(keys.index.get(owned.id)).to.include({ owner: 'm1', state: 'active' })
    expect([keys.index.get('elsewhere'), keys.index.ownedBy('m1'), keys.index.ownedBy('m2')]).to.deep.equal([
      undefined,
      [owned.id],
      [],
    ])
    expect(keys.index.find(plain.text)).to.deep.include({ tags: { team: 'red' } })
    expect(keys.index.find(owned.text)).to.deep.include({ owner: 'm1', models: new Set(['large']) })
  })

  it('rejects the keys of a member who is disabled or deleted', async () => {
    const members = new Map([['m1', { username: 'ann', disabled: false }]])
    const follow = () => keys.index.follow((id) => members.get(id))
    const { id, text } = await keys.createKey({ name: 'owned', owner: 'm1' })
    expect(keys.index.find(text)).to.equal(undefined)
    follow()
    expect(keys.index.find(text)).to.include({ owner: 'm1' })
    members.set('m1', { username: 'ann', disabled: true })
    follow()
    expect([keys.index.find(text), keys.index.get(id)?.state, keys.index.get(id)?.owner]).to.deep.equal([
      undefined,
      'disabled',
      'm1',
    ])
    members.delete('m1')
    follow()
    expect(keys.index.get(id)).to.deep.equal({ id, name: 'owned', disabled: true, tags: {}, state: 'disabled' })
  })

  it('lets the text before a rotation serve as long as it was told to', async () => {
    const { id, text: first } = await keys.createKey({ name: 'app' })
    const { text: second } = (await keys.rotate(id, undefined, 60_000)) ?? { text: '' }
    const status = () => [first, second].map((text) => keys.index.find(text)?.id)
    expect(status()).to.deep.equal([id, id])
    await tablesOf(database).updateTable('api_keys').set({ previous_until: Date.now() }).execute()
    await keys.refresh()
    expect(status()).to.deep.equal([undefined, id])
    const { text: third } = (await keys.rotate(id, undefined, 0)) ?? { text: '' }
    expect([...status(), keys.index.find(third)?.id]).to.deep.equal([undefined, undefined, id])
    expect(keys.index.known(id)?.stored).to.include({ version: 3, hint: third.slice(-4) })
    expect(await keys.rotate('elsewhere', undefined, 0)).to.equal(undefined)
  })

  it('frees the name of a revoked key, and goes on to list it', async () => {
    const { id } = await keys.createKey({ name: 'app' })
    expect(await keys.revoke(id)).to.equal(true)
    expect(await keys.revoke(id)).to.equal(false)
    const { id: next } = await keys.createKey({ name: 'App' })
    // A process of an earlier version revokes a key like this.
    await tablesOf(database).updateTable('api_keys').set({ revoked_at: 1 }).where('id', '=', next).execute()
    const { id: last } = await keys.createKey({ name: 'App' })
    const stored = await keys.stored()
    expect(stored.map((key) => [key.id, key.name, key.revoked_at !== null])).to.have.deep.members([
      [id, 'app', true],
      [next, 'App', true],
      [last, 'App', false],
    ])
  })

  it('rejects a key whose budget, limits or tags are damaged', async () => {
    const { id, text } = await keys.createKey({ name: 'app', budget: { usd: 1, period: 'day' } })
    for (const damage of [{ budget: '{' }, { rate_limit: '[]' }, { tags: 'null' }]) {
      await tablesOf(database).updateTable('api_keys').set(damage).where('id', '=', id).execute()
      await keys.refresh()
      expect([keys.index.find(text), keys.index.get(id)?.state]).to.deep.equal([undefined, 'disabled'])
    }
  })

  it('makes the first key once, whoever starts', async () => {
    const texts = await Promise.all([keys, keyStore(database)].map((each) => each.ensureFirstKey()))
    const made = texts.filter((text) => text !== undefined)
    expect(made).to.have.length(1)
    expect(keys.index.find(made[0] ?? '')).to.include({ name: 'first' })
    expect(await keys.ensureFirstKey()).to.equal(undefined)
  })

  it('makes no first key beside one of the file, nor after the last was revoked', async () => {
    keys.index.declare([DECLARED])
    expect(await keys.ensureFirstKey()).to.equal(undefined)
    keys.index.declare([])
    const text = (await keys.ensureFirstKey()) ?? ''
    await tablesOf(database).updateTable('api_keys').set({ revoked_at: 1 }).execute()
    expect(await keys.ensureFirstKey()).to.equal(undefined)
    expect(keys.index.find(text)).to.equal(undefined)
  })
}

/** A database that hangs, whichever it is. */
function hangs(): void {
  sideBySide('asks a database that hangs once, and answers whoever waits', async () => {
    const { promise, resolve } = Promise.withResolvers<readonly never[]>()
    let reads = 0
    const hanging = { rows: () => ((reads += 1), promise) } as unknown as Database
    const searching = keyStore(hanging)
    const search = (text: string) => searching.search(`sk-sluice-${text.repeat(43)}`)
    const codes = async (texts: string) => {
      const settled = await Promise.allSettled(texts.split('').map(search))
      return settled.map((one) => (one.status === 'rejected' ? (one.reason as GatewayError).code : one.value))
    }
    const away = 'store_unavailable'
    expect([await codes('abc'), await codes('de')]).to.deep.equal([
      [away, away, away],
      [away, away],
    ])
    expect(reads).to.equal(1)
    resolve([])
    expect(await codes('f')).to.deep.equal([undefined])
  })
}

/** Whoever had a key goes on with it, whichever version made the database. */
function takesOver(fresh: () => Promise<string>): void {
  for (const last of releasedMigrations)
    it(`goes on with the keys of a database whose newest migration was ${last}`, async function () {
      this.timeout(300_000)
      const url = await fresh()
      const text = `sk-sluice-${'k'.repeat(43)}`
      const values = `'1', 'old', '${hash('sha256', text)}', 'kkkk', '["echo"]', 1000`
      const insert = `insert into api_keys ("id", "name", "hash", "hint", "models", "created_at", "revoked_at") values`
      await makeOldDatabase(url, last, [
        `${insert} (${values}, null)`,
        `${insert} ('2', 'gone', 'h2', 'gone', null, 2000, 3000)`,
        `${insert} ('3', 'OLD', 'h3', 'twin', null, 4000, null)`,
      ])
      const gateway = await startGateway({ database: url })
      try {
        const models = await fetch(`${gateway.url}/v1/models`, { headers: { authorization: `Bearer ${text}` } })
        expect(models.status).to.equal(200)
        const { id: made } = await keysOf(gateway.engine).create({ name: 'new' })
        const stored = await keysOf(gateway.engine).stored()
        expect(stored.map(({ id, name }) => [id, name])).to.deep.equal([
          ['1', 'old'],
          ['2', 'gone'],
          ['3', 'OLD'],
          [made, 'new'],
        ])
        await keysOf(gateway.engine).create({ name: 'gone' })
      } finally {
        await gateway.close()
      }
    })
}

describe('plugins/keys/key-store', () => {
  describe('on SQLite', () => {
    const folder = mkdtempSync(join(tmpdir(), 'sluice-keys-'))
    after(() => rmSync(folder, { recursive: true }))
    contract(() => openDatabase(`sqlite:${folder}/sluice.db`))
    takesOver(() => Promise.resolve(`sqlite:${mkdtempSync(join(folder, 'old-'))}/sluice.db`))
    hangs()
  })

  describe('on PostgreSQL', () => {
    let url = ''
    before(async function () {
      url = (await postgres(this)).url
    })
    contract(() => openDatabase(url))
    takesOver(async () => {
      const database = await openDatabase(url)
      await sql`drop schema public cascade`.execute(database.query)
      await sql`create schema public`.execute(database.query)
      await database.close()
      return url
    })
  })
})
