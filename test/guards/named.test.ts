import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import type { Context } from 'mocha'
import { sql } from 'kysely'
import { parse, stringify } from 'yaml'
import type { JsonObject } from '../../engine/index.ts'
import { startAdmin } from '../support/admin.ts'
import type { AdminGateway } from '../support/admin.ts'
import { postgres } from '../support/services.ts'
import type { Service } from '../support/services.ts'
import { until } from '../support/until.ts'

const fruit = { name: 'fruit', kind: 'words', words: ['plum'], default: false }

const ask = async (gateway: AdminGateway, key: string, text = 'a plum') => {
  const body = { model: 'echo', messages: [{ role: 'user', content: text }] }
  const response = await gateway.post('/v1/chat/completions', body, { authorization: `Bearer ${key}` })
  const { error } = (await response.json()) as { error?: { code: string; message: string } }
  const id = response.headers.get('x-request-id') ?? ''
  return { status: response.status, id, code: error?.code, message: error?.message }
}

const keyOf = async (gateway: AdminGateway, fields: JsonObject): Promise<string> => {
  const { status, body } = await gateway.asAdmin('POST /api/api-keys', fields)
  expect(status, JSON.stringify(body)).to.equal(201)
  return body['key'] as string
}

describe('guards: keys that name a guard which the file has no more', () => {
  let folder: string
  let gateway: AdminGateway
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sluice-guards-'))
    const gone = { ...fruit, name: 'gone', default: true }
    gateway = await startAdmin({
      folder,
      records: { guards: [fruit, gone] },
      server_config: { logging: { capture: 'all' } },
    })
  })
  after(async () => {
    await gateway?.close()
    await rm(folder, { recursive: true, force: true })
  })

  it('are closed until it is there again, and the gateway says so; in guards_off it means nothing', async () => {
    const [on, off] = [
      await keyOf(gateway, { name: 'on', guards: ['fruit'] }),
      await keyOf(gateway, { name: 'off', guards_off: ['gone'] }),
    ]
    expect((await ask(gateway, on)).status).to.equal(400)
    const file = join(folder, 'sluice.yaml')
    const written = await readFile(file, 'utf8')
    const configure = async (guards: readonly object[]) => {
      await writeFile(file, stringify({ ...(parse(written) as object), guards }))
      expect(await gateway.engine.live.reload()).to.deep.equal([])
    }
    const degraded = async () =>
      ((await (await fetch(`${gateway.url}/api/health/ready`)).json()) as { degraded: readonly string[] }).degraded
    expect(await degraded()).to.deep.equal([])
    await configure([])
    const refused = await ask(gateway, on, 'Hi')
    expect(refused).to.include({ status: 503, code: 'guard_unavailable' })
    expect(refused.message).to.contain('"fruit"')
    // No guard has let it pass, so no log has it.
    await gateway.row(({ id }) => id === refused.id)
    const { body: row } = await gateway.asAdmin(`GET /api/logs/${refused.id}`)
    expect(row['capture'])
      .to.have.property('request')
      .that.matches(/^\[\d+ bytes that the guards did not let pass\]$/)
    expect([(await ask(gateway, off)).status, (await ask(gateway, gateway.key)).status]).to.deep.equal([200, 200])
    expect(await degraded()).to.deep.equal(['api_keys'])
    const said = 'closed, since there is no such guard: API key \\"on\\" (guard \\"fruit\\")'
    await until(() => gateway.lines.some((line) => line.includes(said)))
    // One that is turned off is there.
    await configure([{ ...fruit, enabled: false }])
    expect((await ask(gateway, on)).status).to.equal(200)
    await configure([fruit])
    expect([(await ask(gateway, on)).status, (await ask(gateway, on, 'Hi')).status]).to.deep.equal([400, 200])
    expect(await degraded()).to.deep.equal([])
  })
})

describe('guards: keys that are made while a guard is deleted', () => {
  const suite = (database: (context: Context) => Promise<Service | undefined>) => {
    let folder: string
    let service: Service | undefined
    let gateway: AdminGateway
    before(async function () {
      folder = await mkdtemp(join(tmpdir(), 'sluice-guards-'))
      service = await database(this)
      gateway = await startAdmin({ folder, ...(service && { database: service.url }) })
    })
    after(async () => {
      await gateway?.close()
      await service?.stop()
      await rm(folder, { recursive: true, force: true })
    })

    it('do not name it, and where they were first, it stays', async () => {
      await gateway.asAdmin('POST /api/guards', fruit)
      const made = await gateway.asAdmin('POST /api/api-keys', { name: 'changed' })
      // Another process deletes it, and no process has heard of that yet.
      const [begun, sent] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
      const deleting = gateway.engine.database.query.transaction().execute(async (transaction) => {
        await transaction
          .updateTable('record_revision')
          .set('revision', (of) => of('revision', '+', 1))
          .execute()
        await transaction.deleteFrom('records').where('name', '=', 'fruit').execute()
        begun.resolve()
        await sent.promise
        // This connection looks: the others of the pool may all wait.
        if (service) await until(async () => (await waiting.execute(transaction)).rows.length > 0)
      })
      // Whoever is first keeps the others waiting.
      await Promise.race([begun.promise, deleting])
      const asked = [
        gateway.asAdmin('POST /api/api-keys', { name: 'made', guards: ['fruit'] }),
        gateway.asAdmin('POST /api/api-keys', { name: 'free', guards_off: ['fruit'] }),
        gateway.asAdmin(`PATCH /api/api-keys/${made.body['id'] as string}`, { guards: ['fruit'] }),
      ]
      sent.resolve()
      await deleting
      for (const answer of await Promise.all(asked))
        expect([answer.status, answer.code], JSON.stringify(answer.body)).to.deep.equal([422, 'invalid_reference'])
    })

    it('keep it where they were first, whichever process deletes it', async () => {
      await until(async () => (await gateway.asAdmin('POST /api/guards', { ...fruit, name: 'kept' })).status === 201)
      const outcomes = await Promise.all([
        gateway.asAdmin('POST /api/api-keys', { name: 'first', guards: ['kept'] }),
        gateway.asAdmin('DELETE /api/guards/kept'),
      ])
      const [key, guard] = outcomes.map(({ status }) => status)
      expect([
        [201, 409],
        [422, 204],
      ]).to.deep.include([key, guard])
    })
  }

  describe('in SQLite', () => suite(() => Promise.resolve(undefined)))
  describe('in PostgreSQL', () => suite((context) => postgres(context)))
})

/** Processes that wait for a lock and hold one in this database: a view that is no snapshot of the transaction. */
const waiting = sql`
  select pid from pg_locks where not granted and pid in (
    select l.pid from pg_locks l join pg_database d on d.oid = l.database where d.datname = current_database()
  )`
