import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import type { JsonObject } from '../../../engine/index.ts'
import { chatAnswer } from '../../service/streams.ts'
import { askAt, startAdmin } from '../../support/admin.ts'
import type { AdminGateway, Ask } from '../../support/admin.ts'
import { startGateway } from '../../support/gateway.ts'
import type { RunningGateway } from '../../support/gateway.ts'
import { postgres } from '../../support/services.ts'
import { tablesOf } from '../../support/tables.ts'
import { until } from '../../support/until.ts'
import { scriptedUpstream } from '../../support/upstream.ts'
import type { ScriptedUpstream } from '../../support/upstream.ts'

const list = 'GET /api/config/circuit-breaker'
const reset = 'POST /api/config/circuit-breaker/reset'
const moment = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

const chat = (model: string) => ({ model, messages: [{ role: 'user', content: 'hello' }] })

/** Model `a` at an upstream that fails falls back to `b` at one that answers. */
async function upstreams() {
  const failing = await scriptedUpstream()
  const working = await scriptedUpstream()
  failing.answer({ status: 500, body: { error: { message: 'broken' } } })
  working.answer({ body: chatAnswer })
  const settings = {
    providers: [
      { name: 'failing', type: 'compatible', base_url: failing.url },
      { name: 'working', type: 'compatible', base_url: working.url },
    ],
    models: [
      { name: 'a', provider: 'failing', fallbacks: ['b'] },
      { name: 'a2', provider: 'failing', fallbacks: ['b'] },
      { name: 'b', provider: 'working' },
    ],
  }
  return { failing, working, settings, close: () => Promise.all([failing.close(), working.close()]) }
}

const times = async (count: number, gateway: RunningGateway, model = 'a') => {
  for (let at = 0; at < count; at++) await (await gateway.post('/v1/chat/completions', chat(model))).text()
}

/** The rows that an admin sees, by model. */
const rowsOf = async (ask: Ask) => {
  const { data } = (await ask(list)).body as { readonly data: readonly JsonObject[] }
  return Object.fromEntries(data.map((row) => [row['model'] as string, row]))
}

describe('admin/breakers', () => {
  let servers: { readonly failing: ScriptedUpstream; close(): Promise<unknown> }
  let gateway: AdminGateway
  beforeEach(async () => {
    const started = await upstreams()
    servers = started
    gateway = await startAdmin(started.settings)
  })
  afterEach(async () => {
    await gateway.close()
    await servers.close()
  })

  it('are empty at first, and then one for each provider and model that was used', async () => {
    const { asAdmin } = gateway
    expect((await asAdmin(list)).body).to.deep.equal({ data: [], keys: [] })
    await times(5, gateway)
    const rows = await rowsOf(asAdmin)
    expect(Object.keys(rows).sort()).to.deep.equal(['a', 'b'])
    const { opened_at: opened, retry_at: retry, last_error: last, ...others } = rows['a'] as JsonObject
    expect(others).to.deep.equal({
      provider: 'failing',
      model: 'a',
      state: 'open',
      failures: 5,
      requests: 5,
      ratio: 1,
      opened_times: 1,
      processes: { closed: 0, open: 1, half_open: 0 },
    })
    expect(opened).to.match(moment)
    expect(retry).to.match(moment)
    expect(Date.parse(retry as string) - Date.parse(opened as string)).to.be.within(30_000, 36_001)
    expect(last).to.have.all.keys('code', 'status', 'at')
    expect(last).to.include({ code: 'upstream_error', status: 500 })
    expect(rows['b']).to.deep.equal({
      provider: 'working',
      model: 'b',
      state: 'closed',
      failures: 0,
      requests: 5,
      ratio: 0,
      opened_at: null,
      retry_at: null,
      opened_times: 0,
      last_error: null,
      processes: { closed: 1, open: 0, half_open: 0 },
    })
  })

  it('are closed by a reset: all, those of a provider, or that of a model', async () => {
    const { asAdmin } = gateway
    const open = async () => {
      await times(5, gateway, 'a')
      await times(5, gateway, 'a2')
    }
    const provider = 'POST /api/config/circuit-breaker/failing/reset'
    await open()
    expect((await asAdmin(provider, { model: 'a2' })).body).to.deep.equal({ reset: 1 })
    expect((await rowsOf(asAdmin))['a2']).to.include({ state: 'closed', failures: 0, opened_at: null, retry_at: null })
    expect((await rowsOf(asAdmin))['a']).to.include({ state: 'open' })
    await times(5, gateway, 'a2')
    expect((await asAdmin(provider)).body).to.deep.equal({ reset: 2 })
    await open()
    expect((await asAdmin(reset)).body).to.deep.equal({ reset: 2 })
    expect((await asAdmin(reset)).body).to.deep.equal({ reset: 0 })
    const before = servers.failing.requests.length
    await times(1, gateway)
    expect(servers.failing.requests.length, 'it is asked again').to.equal(before + 1)
  })

  it('have rows in the audit trail when a reset changed something', async () => {
    const { asAdmin, admin, engine } = gateway
    await times(5, gateway)
    await asAdmin('POST /api/config/circuit-breaker/working/reset')
    await asAdmin('POST /api/config/circuit-breaker/failing/reset', { model: 'a' })
    await asAdmin(reset)
    const rows = await tablesOf(engine.database)
      .selectFrom('audit')
      .selectAll()
      .where('action', '=', 'breaker.reset')
      .execute()
    expect(rows).to.have.length(1)
    expect(rows[0]).to.include({ actor_id: admin.id, target_id: 'failing', outcome: 'ok' })
    expect(JSON.parse(rows[0]?.body ?? '')).to.deep.include({ details: { model: 'a', reset: 1 } })
  })

  it('are for admins, and refuse what they do not know', async () => {
    const { asAdmin, asViewer, asKey, asNobody } = gateway
    const routes = [list, reset, 'POST /api/config/circuit-breaker/failing/reset']
    for (const route of routes) {
      expect(await asViewer(route), route).to.include({ status: 403, code: 'forbidden' })
      expect(await asKey(route), route).to.include({ status: 401, code: 'invalid_token' })
      expect(await asNobody(route), route).to.include({ status: 401, code: 'invalid_token' })
    }
    const unknown = 'POST /api/config/circuit-breaker/nobody/reset'
    expect(await asAdmin(unknown)).to.include({ status: 404, code: 'not_found' })
    expect(await asAdmin(`${list}?limit=3`)).to.include({ status: 422, code: 'unknown_field', param: 'limit' })
    expect(await asAdmin(reset, { model: 'a' })).to.include({ status: 422, code: 'unknown_field', param: 'model' })
    const named = 'POST /api/config/circuit-breaker/failing/reset'
    expect(await asAdmin(named, { models: 'a' })).to.include({ status: 422, code: 'unknown_field', param: 'models' })
    expect(await asAdmin(named, { model: 7 })).to.include({ status: 422, code: 'invalid_field', param: 'model' })
    expect(await asAdmin(named, '{')).to.include({ status: 400, code: 'invalid_json' })
  })
})

for (const name of ['SQLite', 'PostgreSQL'])
  describe(`admin/breakers of two processes on ${name}`, () => {
    let servers: { readonly failing: ScriptedUpstream; close(): Promise<unknown> }
    let folder: string
    let one: AdminGateway
    let two: RunningGateway
    before(async function () {
      const database = name === 'SQLite' ? {} : { database: (await postgres(this)).url }
      folder = await mkdtemp(join(tmpdir(), 'sluice-breakers-'))
      const { settings, ...started } = await upstreams()
      servers = started
      const shared = { ...settings, folder, ...database }
      one = await startAdmin(shared)
      two = await startGateway(shared)
    })
    after(async () => {
      await two.close()
      await one.close()
      await servers.close()
      await rm(folder, { recursive: true, force: true })
    })

    it('are shown by each of them, and a reset holds for both', async () => {
      const asTwo = askAt(two.url, one.admin.token)
      await times(1, one)
      await times(5, two)
      for (const ask of [one.asAdmin, asTwo]) {
        await until(async () => (await rowsOf(ask))['a']?.['requests'] === 6)
        expect((await rowsOf(ask))['a']).to.deep.include({
          state: 'open',
          failures: 6,
          ratio: 1,
          opened_times: 1,
          processes: { closed: 1, open: 1, half_open: 0 },
        })
      }
      expect((await one.asAdmin(reset)).body).to.deep.equal({ reset: 1 })
      await until(async () => (await rowsOf(asTwo))['a']?.['state'] === 'closed')
      const before = servers.failing.requests.length
      await times(1, two)
      expect(servers.failing.requests.length).to.equal(before + 1)
    })
  })
