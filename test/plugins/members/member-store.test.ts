import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { GatewayError } from '../../../engine/index.ts'
import { type Database, openDatabase } from '../../../engine/store/database.ts'
import { migrateService } from '../../../engine/store/migrate-service.ts'
import { MemberStore } from '../../../plugins/members/member-store.ts'
import { migrations } from '../../../plugins/members/table.ts'
import type { MembersTable } from '../../../plugins/members/table.ts'
import { postgres } from '../../support/services.ts'
import { tablesOf } from '../../support/tables.ts'

const ann: MembersTable = {
  id: 'a-1',
  username: 'ann',
  role: 'admin',
  disabled: 0,
  must_change_password: 0,
  models: null,
  budget: null,
  rate_limit: null,
  tracing: 0,
  password: '$argon2id$',
  session_version: 1,
  version: 1,
  created_at: 1,
  last_login_at: null,
}
const asMember = {
  id: 'a-1',
  username: 'ann',
  role: 'admin',
  disabled: false,
  mustChangePassword: false,
  tracing: false,
  sessionVersion: 1,
}

const storeOf = (database: Database) => new MemberStore({ rows: database.rows, database: tablesOf(database) })
const add = (row: MembersTable) => (store: MemberStore) =>
  store.change(async (transaction) => {
    await transaction.insertInto('members').values(row).execute()
  })

function contract(open: () => Promise<Database>): void {
  let first: Database
  let second: Database
  let here: MemberStore
  let there: MemberStore
  beforeEach(async () => {
    first = await open()
    second = await open()
    await migrateService(first, { name: 'members', migrations }, { warn: () => undefined })
    for (const table of ['members', 'members_ended'] as const) await tablesOf(first).deleteFrom(table).execute()
    here = storeOf(first)
    there = storeOf(second)
    await here.refresh()
    await there.refresh()
  })
  afterEach(async () => {
    await first.close()
    await second.close()
  })

  it('knows its own changes at once, and those of another process after a look', async () => {
    expect([here.isEmpty, here.find('a-1')]).to.deep.equal([true, undefined])
    await add(ann)(here)
    expect([here.isEmpty, here.find('a-1')]).to.deep.equal([false, asMember])
    expect(Object.isFrozen(here.find('a-1'))).to.equal(true)
    expect(there.find('a-1')).to.equal(undefined)
    expect(await there.poll()).to.equal(true)
    expect(there.find('a-1')).to.deep.equal(asMember)
    expect(await there.poll()).to.equal(false)
  })

  it('tells those who listen of every change, until they stop', async () => {
    const heard: string[] = []
    const stop = there.onChange(() => heard.push('first'))
    there.onChange(() => heard.push('second'))
    await add(ann)(here)
    await there.poll()
    await there.poll()
    stop()
    await add({ ...ann, id: 'b-1', username: 'bob' })(here)
    await there.poll()
    expect(heard).to.deep.equal(['first', 'second', 'second'])
  })

  it('has all fields of a member', async () => {
    const limits = {
      models: '["small"]',
      budget: '{"usd":2.5,"period":"day"}',
      rate_limit: '{"requests":3,"period":"60s"}',
    }
    await add({ ...ann, role: 'viewer', disabled: 1, must_change_password: 1, tracing: 1, ...limits })(here)
    expect(here.find('a-1')).to.deep.equal({
      ...asMember,
      role: 'viewer',
      disabled: true,
      mustChangePassword: true,
      tracing: true,
      models: new Set(['small']),
      budget: { usd: 2.5, period: 'day' },
      rateLimit: { requests: 3, period: '60s' },
    })
  })

  it('disables a member whose row is damaged', async () => {
    for (const column of ['models', 'budget', 'rate_limit'])
      await add({ ...ann, id: column, username: column, [column]: '{' })(here)
    expect(['models', 'budget', 'rate_limit'].map((id) => here.find(id)?.disabled)).to.deep.equal([true, true, true])
  })

  it('finds a row by its name in any case', async () => {
    await add(ann)(here)
    expect(await there.read('Ann')).to.deep.equal(ann)
    expect(await there.read('anna')).to.equal(undefined)
  })

  it('runs the changes of all processes one after the other', async () => {
    const once = (store: MemberStore) =>
      store.change(async (transaction) => {
        const found = await transaction.selectFrom('members').select('id').execute()
        if (found.length === 0) await transaction.insertInto('members').values(ann).execute()
        return found.length
      })
    const found = await Promise.all([here, there, here, there, here, there].map(once))
    expect(found.toSorted((one, other) => one - other)).to.deep.equal([0, 1, 1, 1, 1, 1])
  })

  it('changes nothing when the work of a change fails', async () => {
    const failing = here.change(async (transaction) => {
      await transaction.insertInto('members').values(ann).execute()
      throw new GatewayError('forbidden')
    })
    expect(await failing.catch((error: GatewayError) => error.code)).to.equal('forbidden')
    expect([await here.poll(), here.isEmpty, await there.poll()]).to.deep.equal([false, true, false])
  })

  it('knows which sessions have ended, from the moment on when they do', async () => {
    const later = Date.now() + 60_000
    await here.change(async (transaction) => {
      const rows = [
        { session: 'over', ended_at: 1, expires_at: later },
        { session: 'soon', ended_at: later, expires_at: later },
        { session: 'expired', ended_at: 1, expires_at: 2 },
      ]
      await transaction.insertInto('members_ended').values(rows).execute()
    })
    await there.poll()
    const sessions = ['over', 'soon', 'expired', 'other']
    for (const store of [here, there])
      expect(sessions.map((session) => store.isEnded(session))).to.deep.equal([true, false, false, false])
  })

  it('belongs to one database, which has an id', () => {
    expect(here.instance)
      .to.match(/^[\da-f-]{36}$/)
      .and.to.equal(there.instance)
  })
}

describe('plugins/members/member-store', () => {
  describe('on SQLite', () => {
    const folder = mkdtempSync(join(tmpdir(), 'sluice-members-'))
    after(() => rmSync(folder, { recursive: true, force: true }))
    contract(() => openDatabase(`sqlite:${folder}/sluice.db`))
  })

  describe('on PostgreSQL', () => {
    let url = ''
    before(async function () {
      url = (await postgres(this)).url
    })
    contract(() => openDatabase(url))
  })
})
