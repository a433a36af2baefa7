import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import type { JsonObject, Services } from '../../../engine/index.ts'
import type { RewardsTable } from '../../../plugins/experience/table.ts'
import type { Decision } from '../../../plugins/experience/view.ts'
import { onEachDatabase } from '../../admin/logs/rig.ts'
import { askAt, startAdmin, viewOf } from '../../support/admin.ts'
import type { AdminGateway } from '../../support/admin.ts'
import { startGateway } from '../../support/gateway.ts'
import type { GatewaySettings, RunningGateway } from '../../support/gateway.ts'
import { tablesOf } from '../../support/tables.ts'
import { until } from '../../support/until.ts'

const list = 'GET /api/routing/experience'
const reset = 'POST /api/routing/experience/reset'
const moment = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/
const day = 86_400_000
const place = { model: 'm-mid', mode: 'auto', tier: 'MEDIUM' } as const
const prior = { mean: 0.9, strength: 5, window: 100, implicit: true }

/** Virtual models are served, so that what other processes learn is followed. */
const routed: GatewaySettings = {
  models: [
    { name: 'm-small', provider: 'echo', auto_eligible: true, quality_tier: 'economy' },
    { name: 'm-mid', provider: 'echo', auto_eligible: true, quality_tier: 'balanced' },
  ],
  server_config: { smart_routing: { enabled: true } },
}

const experienceOf = ({ engine }: RunningGateway): Services['experience'] => viewOf(engine, 'experience')
const counted = (gateway: RunningGateway, where: Partial<typeof place> | object = {}) => {
  const { a, b, observations, pulls } = experienceOf(gateway).posterior({ ...place, ...where }, prior)
  const rounded = (value: number) => Math.round(value * 1e6) / 1e6 + 0
  return [rounded(a - 4.5), rounded(b - 0.5), observations, pulls]
}
const decision = (id: string, more: Partial<Decision> = {}): Decision => ({
  ...place,
  id,
  at: Date.now(),
  key: 'key',
  cheaper: 'm-small',
  ...more,
})

describe('experience', () => {
  onEachDatabase((settings) => {
    let gateway: AdminGateway
    let shared: GatewaySettings
    beforeEach(async () => {
      const folder = await mkdtemp(join(tmpdir(), 'sluice-experience-'))
      shared = { ...routed, ...(await settings()), folder }
      gateway = await startAdmin(shared)
    })
    afterEach(async () => {
      await gateway.close()
      if (shared.folder !== undefined) await rm(shared.folder, { recursive: true, force: true })
    })

    const rows = () =>
      tablesOf(gateway.engine.database)
        .selectFrom('experience_rewards')
        .selectAll()
        .orderBy('decision')
        .orderBy('source')
        .execute()
    const shown = async () => (await gateway.asAdmin(list)).body['data'] as readonly JsonObject[]

    it('counts what people say at once, each decision once', async () => {
      const experience = experienceOf(gateway)
      expect(counted(gateway)).to.deep.equal([0, 0, 0, 0])
      expect(await experience.reward(decision('d1'), 'ok')).to.equal(true)
      expect(await experience.reward(decision('d2'), 'weak')).to.equal(true)
      expect(counted(gateway)).to.deep.equal([1, 1, 2, 0])
      await experience.reward(decision('d1'), 'weak')
      expect(counted(gateway), 'a second time').to.deep.equal([1, 1, 2, 0])
      expect(counted(gateway, { mode: 'best' })).to.deep.equal([0, 0, 0, 0])
      expect(counted(gateway, { tier: 'COMPLEX' }), 'half of another tier').to.deep.equal([0.5, 0.5, 0, 0])
    })

    it('takes "stronger than necessary" as good, of the model and of the next cheaper one', async () => {
      await experienceOf(gateway).reward(decision('d1'), 'strong')
      await experienceOf(gateway).reward(decision('d2', { cheaper: null }), 'strong')
      expect(counted(gateway)).to.deep.equal([1, 0, 2, 0])
      expect(counted(gateway, { model: 'm-small' })).to.deep.equal([0.5, 0, 1, 0])
      const row = {
        mode: 'auto',
        tier: 'MEDIUM',
        reward: 1,
        weight: 0.5,
        key_id: 'key',
        conversation: null,
        turn: null,
        ask: null,
      }
      const stored: readonly RewardsTable[] = await rows()
      expect(stored.map(({ at, ...others }) => ({ ...others, at: at > Date.now() - day }))).to.deep.equal([
        { ...row, decision: 'd1', source: 'explicit', model: 'm-mid', at: true },
        { ...row, decision: 'd1', source: 'explicit:cheaper', model: 'm-small', at: true },
        { ...row, decision: 'd2', source: 'explicit', model: 'm-mid', at: true },
      ])
    })

    it('keeps what comes later than 7 days, and does not count it', async () => {
      const experience = experienceOf(gateway)
      const applied = (id: string, age: number) => experience.reward(decision(id, { at: Date.now() - age }), 'weak')
      expect([await applied('d1', 7 * day + 1000), await applied('d2', 7 * day - 60_000)]).to.deep.equal([false, true])
      expect(counted(gateway)).to.deep.equal([0, 1, 1, 0])
      expect((await rows()).map(({ weight }) => weight)).to.deep.equal([0, 1])
    })

    it('counts nothing of a transaction that fails', async () => {
      const experience = experienceOf(gateway)
      const failing = tablesOf(gateway.engine.database)
        .transaction()
        .execute(async (transaction) => {
          await experience.reward(decision('d1'), 'weak', transaction)
          throw new Error('rolled back')
        })
      expect(await failing.catch((error: Error) => error.message)).to.equal('rolled back')
      expect(counted(gateway)).to.deep.equal([0, 0, 0, 0])
      expect(await rows()).to.deep.equal([])
    })

    it('learns from the next turn of a user', async () => {
      const experience = experienceOf(gateway)
      const turn = (at: number, ask: string) =>
        experience.seen({
          tries: [],
          turn: {
            conversation: 'c',
            ask,
            turn: at,
            step: 0,
            isFollowed: true,
            at: Date.now(),
            decision: { ...decision(`d${at}`), conversation: 'c', turn: at, ask },
          },
        })
      turn(1, 'one')
      turn(2, 'two')
      turn(3, 'two')
      expect(counted(gateway), 'before the hour is full').to.deep.equal([0, 0, 0, 0])
      await until(async () => (await rows()).length === 2)
      expect((await rows()).map((row) => [row.decision, row.source, row.reward, row.turn, row.ask])).to.deep.equal([
        ['d1', 'implicit:next_turn', 1, 1, 'one'],
        ['d2', 'implicit:next_turn', 0, 2, 'two'],
      ])
    })

    it('survives the process, and reaches others', async () => {
      const other = await startGateway({
        ...shared,
        folder: await mkdtemp(join(tmpdir(), 'sluice-experience-')),
        database: shared.database ?? `sqlite:${join(shared.folder ?? '', 'sluice.db')}`,
      })
      try {
        await experienceOf(gateway).reward(decision('d1'), 'weak')
        experienceOf(gateway).pulled({ ...place, cost: 0.5, extra: 0.125 })
        experienceOf(other).pulled({ ...place, cost: 0.25, extra: 0 })
        await until(() => String(counted(other)) === '0,1,1,2' && String(counted(gateway)) === '0,1,1,2')
        for (const one of [gateway, other])
          expect(experienceOf(one).spent).to.deep.equal({ routed: 0.75, extra: 0.125 })
        await experienceOf(other).reward(decision('d2'), 'ok')
        await until(() => String(counted(gateway)) === '1,1,2,2')
        await gateway.asAdmin(reset, {})
        expect(counted(gateway)).to.deep.equal([0, 0, 0, 0])
        await until(() => String(counted(other)) === '0,0,0,0')
        await experienceOf(other).reward(decision('d3'), 'ok')
      } finally {
        await other.close()
      }
      await gateway.close()
      const again = await startGateway(shared)
      try {
        expect(counted(again), 'when it serves').to.deep.equal([1, 0, 1, 0])
      } finally {
        await again.close()
        gateway = await startAdmin({})
      }
    })

    it('is listed per model, mode and tier', async () => {
      expect(await shown()).to.deep.equal([])
      const experience = experienceOf(gateway)
      experience.pulled({ ...place, cost: 0.5, extra: 0 })
      for (const [id, signal] of [
        ['d1', 'ok'],
        ['d2', 'weak'],
        ['d3', 'strong'],
        ['d4', 'ok'],
      ] as const)
        await experience.reward(decision(id, { cheaper: null }), signal)
      await experience.reward(decision('d5', { at: Date.now() - 8 * day }), 'ok')
      await experience.reward(decision('d6', { model: 'gone' }), 'ok')
      experience.seen({
        tries: [{ model: 'm-mid', isAnswered: true }],
        answer: {
          ...place,
          firstByte: 120,
          output: 30,
          input: { estimated: 100, counted: 100, cacheRead: 25, cacheWrite: 0 },
        },
      })
      const data = await shown()
      expect(data).to.have.length(1)
      const { mean, low, high, reliability, updated_at: updated, ...others } = data[0] ?? {}
      expect(others).to.deep.equal({
        ...place,
        pulls: 1,
        strength: 8.5,
        latency_ms: { p50: 120, p95: 120 },
        feedback: { ok: 2, weak: 1, strong: 1 },
        cache_affinity: 0.25,
      })
      // The prior of a balanced model in the middle of MEDIUM is 0.9.
      expect(mean).to.be.closeTo((4.5 + 2.5) / 8.5, 1e-9)
      expect(low).to.be.within(0.4, 0.6)
      expect(high).to.be.within(0.95, 1)
      expect(reliability).to.be.closeTo((1 + 4.9) / 6, 1e-9)
      expect(updated).to.match(moment)
      expect(Object.keys(data[0] ?? {}).join(' ')).to.equal(
        'model mode tier pulls mean low high strength reliability latency_ms feedback cache_affinity updated_at',
      )
    })

    it('is forgotten, of one model or of all, with a row of the audit trail', async () => {
      const experience = experienceOf(gateway)
      const learn = async () => {
        await experience.reward(decision(`d${Math.random()}`), 'strong')
        experience.pulled({ ...place, mode: 'best', cost: null, extra: 0 })
      }
      await learn()
      expect((await gateway.asAdmin(reset, { model: 'm-small' })).body).to.deep.equal({ reset: 1 })
      expect((await shown()).map(({ model, mode }) => [model, mode])).to.have.deep.members([
        ['m-mid', 'auto'],
        ['m-mid', 'best'],
      ])
      expect((await gateway.asAdmin(reset, { model: 'm-small' })).body).to.deep.equal({ reset: 0 })
      expect((await gateway.asAdmin(reset)).body).to.deep.equal({ reset: 2 })
      expect(await shown()).to.deep.equal([])
      expect(await rows()).to.deep.equal([])
      const audit = (await gateway.asAdmin('GET /api/logs/audit?action=experience.reset')).body['data']
      expect((audit as readonly JsonObject[]).map(({ target, details }) => [target, details])).to.deep.equal([
        [null, { reset: 2 }],
        [{ type: 'model', id: 'm-small', name: 'm-small' }, { reset: 1 }],
      ])
    })
  })

  describe('over HTTP', () => {
    let gateway: AdminGateway
    before(async () => {
      gateway = await startAdmin()
    })
    after(() => gateway.close())

    it('is for admins', async () => {
      for (const route of [list, reset]) {
        expect((await askAt(gateway.url)(route, route === reset ? {} : undefined)).status).to.equal(401)
        expect((await gateway.asViewer(route, route === reset ? {} : undefined)).status).to.equal(403)
        expect((await gateway.asKey(route, route === reset ? {} : undefined)).status).to.equal(401)
      }
    })

    it('refuses what it does not know', async () => {
      expect(await gateway.asAdmin(`${list}?model=m`)).to.include({ status: 422, param: 'model' })
      expect(await gateway.asAdmin(reset, { models: 'm' })).to.include({ status: 422, param: 'models' })
      expect(await gateway.asAdmin(reset, { model: '' })).to.include({ status: 422, param: 'model' })
      expect(await gateway.asAdmin(reset, { model: 'a\0' })).to.include({ status: 422, param: 'model' })
    })

    it('has nothing to list or to forget at first', async () => {
      expect((await gateway.asAdmin(list)).body).to.deep.equal({ data: [] })
      expect((await gateway.asAdmin(reset, {})).body).to.deep.equal({ reset: 0 })
    })
  })
})
