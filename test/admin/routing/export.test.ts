import { hash, randomUUIDv7 } from 'node:crypto'
import { expect } from 'chai'
import type { JsonObject } from '../../../engine/index.ts'
import { viewOf } from '../../support/admin.ts'
import { tablesOf } from '../../support/tables.ts'
import { judgeBlock, routedRow, routingBlock } from '../../routing/seeing/rig.ts'
import { addRows, onEachDatabase, startLogs } from '../logs/rig.ts'
import type { LogsGateway } from '../logs/rig.ts'

const route = '/api/routing/export/dataset'

describe(`GET ${route}`, () => {
  onEachDatabase((settings) => {
    let gateway: LogsGateway
    beforeEach(async () => {
      gateway = await startLogs(await settings())
    })
    afterEach(() => gateway.close())

    const at = Date.now() - 60_000
    const add = async (fields: object, routing?: JsonObject) => {
      const id = randomUUIDv7()
      await addRows(gateway, [routedRow(id, { at, ...fields }, routing)])
      return id
    }
    const rate = async (id: string, signal = 'ok') => {
      const body = { request_id: id, signal, comment: 'between us' }
      const { status, body: label } = await gateway.asAdmin('POST /api/me/feedback', body)
      expect(status).to.equal(201)
      return label['at']
    }
    const get = (query: string, token = gateway.admin.token) =>
      fetch(`${gateway.url}${route}${query}`, { headers: { authorization: `Bearer ${token}` } })
    const lines = async (query = '') => {
      const response = await get(query)
      expect(response.status).to.equal(200)
      const text = await response.text()
      return text.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line) as JsonObject]))
    }
    const ids = async (query = '') => (await lines(query)).map(({ id }) => id)
    const keep = async (id: string, text: string) => {
      viewOf(gateway.engine, 'routing_records').prompts.keep({ id, at, text, isJudged: false })
      await gateway.engine.flush()
    }

    it('answers rated decisions with all that they were made of', async () => {
      const id = await add({})
      await add({})
      await keep(id, 'How many?')
      const signal_at = await rate(id, 'weak')
      const response = await get('?format=feedback')
      expect(response.headers.get('content-type')).to.equal('application/x-ndjson')
      expect(response.headers.get('cache-control')).to.equal('no-store')
      const text = await response.text()
      expect(text.endsWith('}\n')).to.equal(true)
      expect(text).not.to.include('between us')
      const { propensity, features, candidates } = routingBlock()
      expect(JSON.parse(text)).to.deep.equal({
        corpus: 'feedback',
        id,
        at: new Date(at).toISOString(),
        prompt: 'How many?',
        prompt_truncated: false,
        prompt_hash: hash('sha256', 'How many?'),
        mode: 'auto',
        tier: 'MEDIUM',
        complexity: 0.412,
        benefit: 0.371,
        confidence: 0.61,
        confidence_raw: 0.55,
        map: 'dev-1',
        features,
        model: 'm-mid',
        candidates,
        propensity,
        signal: 'weak',
        signal_at,
        reward_applied: true,
      })
    })

    it('answers what the judge said, applied or not, with the decision that it would have replaced', async () => {
      const shadow = await add({}, routingBlock({ judge: judgeBlock() }))
      const applied = await add({ at: at + 1 }, routingBlock({ judge: judgeBlock({ applied: true, shadow: false }) }))
      const failed = judgeBlock({ verdict: null, mass: null, escalation: null, distribution: null, error: 'deadline' })
      await add({ at: at + 2 }, routingBlock({ judge: failed }))
      await add({ at: at + 3 })
      const signal_at = await rate(shadow, 'strong')
      const found = await lines('?format=judge_shadow')
      const { propensity, features, candidates } = routingBlock()
      expect(found[0]).to.deep.equal({
        corpus: 'judge_shadow',
        id: shadow,
        at: new Date(at).toISOString(),
        prompt: null,
        prompt_truncated: null,
        prompt_hash: null,
        mode: 'auto',
        ensemble: { tier: 'SIMPLE', complexity: 0.3, benefit: 0.2, confidence: 0.61 },
        confidence_raw: 0.55,
        map: 'dev-1',
        features,
        model: 'm-mid',
        candidates,
        propensity,
        signal: 'strong',
        signal_at,
        reward_applied: true,
        verdict: 'COMPLEX',
        mass: 0.71,
        escalation: 0.71,
        distribution: { SIMPLE: 0.05, MEDIUM: 0.24, COMPLEX: 0.71 },
        error: null,
        applied: false,
        gate_fired: false,
        sampled: true,
        sample_p: 0.02,
        latency_ms: 212,
        input_tokens: 188,
        cost: 0.0000094,
        judge_model: 'judge-1',
      })
      expect(found[1]).to.include({ id: applied, applied: true, signal: null, signal_at: null, reward_applied: null })
      expect(found[2]).to.include({ error: 'deadline', verdict: null, mass: null, distribution: null })
      expect(found).to.have.length(3)
    })

    it('merges both corpora in the order in which the requests began', async () => {
      const judged = routingBlock({ judge: judgeBlock() })
      const first = await add({ at: at + 5 })
      const both = await add({ at: at + 6 }, judged)
      const last = await add({ at: at + 7 }, judged)
      await rate(both)
      await rate(first)
      const found = (await lines()).map(({ corpus, id }) => [corpus, id])
      expect(found).to.deep.equal([
        ['feedback', first],
        ['feedback', both],
        ['judge_shadow', both],
        ['judge_shadow', last],
      ])
      expect(await lines('?format=all')).to.have.length(4)
      // The corpora end together: the next line would be the second one of its corpus.
      expect(await lines('?limit=1')).to.deep.equal((await lines()).slice(0, 1))
    })

    it('begins at a time, which it includes', async () => {
      const all = [await add({ at }), await add({ at: at + 1 }), await add({ at: at + 2 })]
      for (const id of all) await rate(id)
      expect(await ids(`?since=${at + 1}`)).to.deep.equal(all.slice(1))
      expect(await ids(`?since=${new Date(at + 1).toISOString()}`)).to.deep.equal(all.slice(1))
      expect(await ids(`?since=${at + 3}`)).to.deep.equal([])
      expect(await ids('?since=0')).to.deep.equal(all)
    })

    it('ends no page between two requests of the same millisecond', async () => {
      const times = [0, 1, 1, 1, 2]
      for (const plus of times) await rate(await add({ at: at + plus }, routingBlock({ judge: judgeBlock() })))
      const count = async (query: string) => (await lines(`?${query}`)).length
      for (const format of ['feedback', 'judge_shadow']) {
        expect(await count(`format=${format}&limit=1`)).to.equal(1)
        for (const limit of [2, 3, 4]) expect(await count(`format=${format}&limit=${limit}`), `${limit}`).to.equal(4)
        expect(await count(`format=${format}&limit=5`)).to.equal(5)
      }
    })

    it('is swept page by page, and misses nothing', async () => {
      const rows = Array.from({ length: 330 }, (_, index) =>
        routedRow(randomUUIDv7(), { at: at + Math.floor(index / 3) }, routingBlock({ judge: judgeBlock() })),
      )
      await addRows(gateway, rows.slice(0, 160))
      await addRows(gateway, rows.slice(160))
      const labels = rows.map(({ id, at: request_at }) => ({
        id,
        request_at,
        at: Date.now(),
        signal: 'ok' as const,
        comment: null,
        member_id: null,
        applied: 1,
      }))
      await tablesOf(gateway.engine.database).insertInto('routing_records_labels').values(labels).execute()
      const inOrder = rows.toSorted((one, other) => one.at - other.at || (one.id < other.id ? -1 : 1))
      for (const format of ['feedback', 'judge_shadow']) {
        const seen = new Set<unknown>()
        for (let since = 0; ;) {
          const page = await lines(`?format=${format}&since=${since}&limit=50`)
          for (const { id } of page) seen.add(id)
          const next = Date.parse(page.at(-1)?.['at'] as string)
          if (next === since) break
          since = next
        }
        expect([...seen]).to.deep.equal(inOrder.map(({ id }) => id))
      }
    })

    it('is swept page by page, and misses nothing, where one corpus is denser than the other', async () => {
      const early = Array.from({ length: 6 }, (_, index) =>
        routedRow(randomUUIDv7(), { at: at + index * 10 }, routingBlock({})),
      )
      const late = Array.from({ length: 2 }, (_, index) =>
        routedRow(randomUUIDv7(), { at: at + 100 + index * 100 }, routingBlock({ judge: judgeBlock() })),
      )
      await addRows(gateway, [...early, ...late])
      for (const { id } of early) await rate(id)
      const seen = new Set<unknown>()
      for (let since = 0; ;) {
        const page = await lines(`?since=${since}&limit=2`)
        for (const { id } of page) seen.add(id)
        const next = Date.parse(page.at(-1)?.['at'] as string)
        if (next === since) break
        since = next
      }
      expect([...seen]).to.deep.equal([...early, ...late].map(({ id }) => id))
    })

    it('cuts a long prompt in its middle, to what the judge is asked with', async () => {
      const id = await add({})
      await keep(id, `${'a'.repeat(3_000)}${'𝄞'.repeat(500)}${'z'.repeat(2_000)}`)
      await rate(id)
      const [line] = await lines()
      const { prompt, prompt_truncated } = line as { readonly prompt: string; readonly prompt_truncated: boolean }
      expect(prompt_truncated).to.equal(true)
      expect(prompt).to.have.lengthOf.at.most(4_000)
      expect(prompt).to.match(/^a{2399}\n…\nz{1598}$/)
    })

    it('leaves out what is no longer in the request log', async () => {
      const id = await add({})
      await rate(id)
      await tablesOf(gateway.engine.database).deleteFrom('requests').execute()
      expect(await ids()).to.deep.equal([])
    })

    it('is written down in the audit trail', async () => {
      await lines(`?format=feedback&since=${at}&limit=7`)
      const { body } = await gateway.asAdmin('GET /api/logs/audit?action=routing.export')
      const [audited] = body['data'] as readonly { readonly actor: object; readonly details: object }[]
      expect(audited?.actor).to.deep.include({ type: 'member', name: 'admin' })
      expect(audited?.details).to.deep.equal({ format: 'feedback', since: new Date(at).toISOString(), limit: 7 })
    })

    it('is refused while the database cannot be read, rather than cut off', async () => {
      await gateway.engine.database.rows('alter table routing_records_labels rename to away')
      expect(await gateway.asAdmin(`GET ${route}`)).to.include({ status: 503, code: 'store_unavailable' })
      await gateway.engine.database.rows('alter table away rename to routing_records_labels')
      expect((await gateway.asAdmin(`GET ${route}`)).status).to.equal(200)
    })

    it('refuses what it does not know', async () => {
      const wrong = {
        'format=csv': 'format',
        'format=all&format=all': 'format',
        'since=yesterday': 'since',
        'since=-1': 'since',
        'since=999999999999999999': 'since',
        'since=': 'since',
        'limit=0': 'limit',
        'limit=50001': 'limit',
        'limit=1.5': 'limit',
        'limit=1e3': 'limit',
        'since=%00': 'since',
      }
      for (const [query, param] of Object.entries(wrong))
        expect(await gateway.asAdmin(`GET ${route}?${query}`), query).to.include({
          status: 422,
          code: 'invalid_field',
          param,
        })
      expect(await gateway.asAdmin(`GET ${route}?until=1`)).to.include({ status: 422, code: 'unknown_field' })
      expect((await gateway.asAdmin(`GET ${route}?limit=50000`)).status).to.equal(200)
      expect(await gateway.asViewer(`GET ${route}`)).to.include({ status: 403, code: 'forbidden' })
    })
  })
})
