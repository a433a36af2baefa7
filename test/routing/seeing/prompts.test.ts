import { hash, randomUUIDv7 } from 'node:crypto'
import { expect } from 'chai'
import type { JsonObject } from '../../../engine/index.ts'
import { viewOf } from '../../support/admin.ts'
import { tablesOf } from '../../support/tables.ts'
import { scriptedUpstream } from '../../support/upstream.ts'
import type { ScriptedUpstream } from '../../support/upstream.ts'
import { addRows, onEachDatabase, startLogs } from '../../admin/logs/rig.ts'
import type { LogsGateway } from '../../admin/logs/rig.ts'
import { chatAnswer } from '../../service/streams.ts'
import { pool, routedRow } from './rig.ts'

const day = 86_400_000

describe('prompts of routed requests', () => {
  onEachDatabase((settings) => {
    let gateway: LogsGateway
    before(async () => {
      gateway = await startLogs(await settings())
    })
    after(() => gateway.close())

    const records = () => viewOf(gateway.engine, 'routing_records')
    const add = async (age: number, isJudged = false) => {
      const [id, at] = [randomUUIDv7(), Date.now() - age]
      await addRows(gateway, [routedRow(id, { at })])
      records().keep({ id, at, text: `the prompt of ${id}`, isJudged })
      await gateway.engine.flush()
      return id
    }
    const kept = async (...ids: readonly string[]) => {
      const rows = await tablesOf(gateway.engine.database).selectFrom('routing_records_prompts').select('id').execute()
      const stored = new Set(rows.map(({ id }) => id))
      return ids.map((id) => stored.has(id))
    }
    const rate = (request_id: string) => gateway.asAdmin('POST /api/me/feedback', { request_id, signal: 'ok' })

    it('are sealed, each for its own request', async () => {
      const [one, other] = [await add(0), await add(0)]
      const prompts = tablesOf(gateway.engine.database).selectFrom('routing_records_prompts')
      const row = await prompts.selectAll().where('id', '=', one).executeTakeFirstOrThrow()
      expect(Buffer.from(row.sealed, 'base64').toString()).not.to.include('prompt')
      expect(await records().prompts.of([one])).to.deep.equal(new Map([[one, `the prompt of ${one}`]]))
      const swapped = tablesOf(gateway.engine.database).updateTable('routing_records_prompts').where('id', '=', other)
      await swapped.set({ sealed: row.sealed }).execute()
      expect((await records().prompts.of([other])).size).to.equal(0)
    })

    it('are kept for seven days, and longer if they are rated or judged', async () => {
      const [young, old] = [await add(6.9 * day), await add(7.1 * day)]
      const [rated, judged] = [await add(7.1 * day), await add(7.1 * day, true)]
      await rate(rated)
      await records().prompts.expire(Date.now())
      expect(await kept(young, old, rated, judged)).to.deep.equal([true, false, true, true])
      await records().prompts.expire(Date.now() + 90 * day)
      expect(await kept(young, rated, judged)).to.deep.equal([false, true, true])
    })

    it('are deleted in parts, however many there are', async () => {
      const rows = Array.from({ length: 1_203 }, (_, index) => ({ id: `many-${index}`, at: 1, kept: 0, sealed: '' }))
      const prompts = tablesOf(gateway.engine.database)
      for (let at = 0; at < rows.length; at += 200)
        await prompts
          .insertInto('routing_records_prompts')
          .values(rows.slice(at, at + 200))
          .execute()
      await records().prompts.expire(Date.now())
      expect(new Set(await kept(...rows.map(({ id }) => id)))).to.deep.equal(new Set([false]))
    })

    it('go with the rows of their requests', async () => {
      const [old, young] = [await add(3 * day, true), await add(day)]
      const before = new Date(Date.now() - 2 * day).toISOString()
      await gateway.asAdmin('POST /api/logs/cleanup', { before, captures_only: true })
      expect(await kept(old, young)).to.deep.equal([true, true])
      await gateway.asAdmin('POST /api/logs/cleanup', { before })
      expect(await kept(old, young)).to.deep.equal([false, true])
    })
  })

  describe('of clients', () => {
    let upstream: ScriptedUpstream
    beforeEach(async () => {
      upstream = await scriptedUpstream()
      upstream.answer({ body: chatAnswer })
    })
    afterEach(() => upstream.close())

    const start = (routing: object = {}) =>
      startLogs({
        providers: [{ name: 'far', type: 'compatible', base_url: upstream.url }],
        models: pool,
        server_config: { smart_routing: { enabled: true, ...routing } },
      })
    const ask = async (gateway: LogsGateway, model: string) => {
      const reminder = '<system-reminder>The house is quiet.</system-reminder>'
      const messages = [
        { role: 'system', content: 'You are terse.' },
        { role: 'user', content: `${reminder}How many legs has a spider?` },
      ]
      const response = await gateway.post('/v1/chat/completions', { model, messages })
      await response.text()
      expect(response.status).to.equal(200)
      const id = response.headers.get('x-request-id') ?? ''
      await gateway.row((row) => row.id === id)
      await gateway.engine.flush()
      return id
    }
    const stored = ({ engine }: LogsGateway) =>
      tablesOf(engine.database).selectFrom('routing_records_prompts').select('id').execute()
    const sweep = async (gateway: LogsGateway) => {
      const response = await fetch(`${gateway.url}/api/routing/export/dataset`, {
        headers: { authorization: `Bearer ${gateway.admin.token}` },
      })
      return JSON.parse(await response.text()) as JsonObject
    }

    it('are the last words of the user, cleaned, and are exported when they are rated', async () => {
      const gateway = await start()
      try {
        await ask(gateway, 'large')
        expect(await stored(gateway)).to.deep.equal([])
        const id = await ask(gateway, 'auto')
        expect(await stored(gateway)).to.deep.equal([{ id }])
        await gateway.asAdmin('POST /api/me/feedback', { request_id: id, signal: 'ok' })
        const line = await sweep(gateway)
        expect(line).to.include({ id, prompt: 'How many legs has a spider?', prompt_truncated: false })
        expect(line).to.include({ corpus: 'feedback', mode: 'auto', signal: 'ok', reward_applied: true })
        const keys = ['features', 'candidates', 'propensity', 'confidence_raw', 'map', 'tier', 'model']
        for (const key of keys) expect(line[key], key).not.to.equal(null)
      } finally {
        await gateway.close()
      }
    })

    it('are not kept if the settings say so, and the rest of the export stays', async () => {
      const gateway = await start({ keep_prompts: false })
      try {
        const id = await ask(gateway, 'auto')
        expect(await stored(gateway)).to.deep.equal([])
        await gateway.asAdmin('POST /api/me/feedback', { request_id: id, signal: 'weak' })
        const prompt_hash = hash('sha256', 'How many legs has a spider?')
        expect(await sweep(gateway)).to.include({ id, prompt: null, prompt_hash, signal: 'weak', mode: 'auto' })
      } finally {
        await gateway.close()
      }
    })
  })
})
