import { expect } from 'chai'
import type { Json, JsonObject } from '../../../engine/index.ts'
import type { LogRow } from '../../../plugins/request-log/row.ts'
import { startAdmin, viewOf } from '../../support/admin.ts'
import type { AdminGateway, Ask } from '../../support/admin.ts'
import { logRow } from '../../support/request-log.ts'
import { onEachDatabase } from '../logs/rig.ts'

const [minute, hour, day] = [60_000, 3_600_000, 86_400_000]

/** A day of last week. */
const start = Math.floor(Date.now() / day) * day - 7 * day
const text = (at: number) => new Date(at).toISOString()
const moment = (time: Json | undefined) => Date.parse(time as string)
const whole = `since=${text(start - day)}&until=${text(start + 2 * day)}`

const empty: Partial<LogRow> = {
  memberId: null,
  memberName: null,
  inputTokens: 0,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  outputTokens: 0,
  reasoningTokens: 0,
  costMicros: 0,
  savingsMicros: null,
}

const usage = (input: number, output = 0) => ({
  input,
  cache_read: 0,
  cache_write: 0,
  output,
  reasoning: 0,
  total: input + output,
})

describe('usage of requests', function () {
  this.timeout(0)
  onEachDatabase((settings) => {
    let gateway: AdminGateway
    let mine = ''
    let theirs = ''
    const answers = async (ask: Ask, route: string) => {
      const { status, body } = await ask(`GET ${route}`)
      expect(status, JSON.stringify(body)).to.equal(200)
      return body as { readonly data: readonly (JsonObject & { readonly group: JsonObject })[] } & JsonObject
    }
    const refusal = async (route: string, ask = gateway.asAdmin) => {
      const { status, code, param } = await ask(`GET ${route}`)
      return [status, code, param]
    }
    const write = async (...rows: Partial<LogRow>[]) => {
      const requests = viewOf(gateway.engine, 'requests')
      for (const [index, row] of rows.entries()) requests.write(logRow(`${rows.length}-${index}`, { ...empty, ...row }))
      await gateway.engine.flush()
    }

    before(async () => {
      gateway = await startAdmin(await settings())
      const keys = viewOf(gateway.engine, 'api_keys')
      const budget = { usd: 10, period: 'month' } as const
      mine = (await keys.create({ name: 'mine', owner: gateway.viewer.id, budget })).id
      theirs = (await keys.create({ name: 'theirs' })).id
      const ofMine = { keyId: mine, keyName: 'mine', memberId: gateway.viewer.id, memberName: 'viewer' }
      const ofTheirs = { keyId: theirs, keyName: 'theirs', model: 'large', protocol: 'messages' }
      await write(
        { ...ofMine, at: start, inputTokens: 10, outputTokens: 5, costMicros: 1_500_001, duration: 20, firstByte: 5 },
        { ...ofMine, at: start + hour - 1, inputTokens: 1, costMicros: null, duration: 30, firstByte: null },
        { ...ofMine, at: start, type: 'judge', inputTokens: 100, costMicros: 7, duration: 9_000, firstByte: 9_000 },
        { ...ofMine, at: start + hour, result: 'failed', status: 502, duration: 10, firstByte: 10, savingsMicros: 3 },
        { ...ofMine, at: start + hour, result: 'refused', status: 429, duration: 1, firstByte: 1, model: null },
        { ...ofTheirs, at: start + day - 1, result: 'client_closed', costMicros: 2, duration: 31, savingsMicros: -5 },
        {
          keyId: 'gone',
          keyName: 'last name',
          at: start + day,
          memberId: 'gone-too',
          memberName: 'left',
          costMicros: 1,
        },
        { keyId: null, keyName: null, at: start + day, result: 'refused', status: 401, model: null, provider: null },
      )
    })
    after(() => gateway.close())

    describe('GET /api/logs/usage', () => {
      it('is told apart by day and group, with a total', async () => {
        const { data, ...others } = await answers(gateway.asAdmin, `/api/logs/usage?${whole}&group_by=key,model`)
        expect(others).to.deep.equal({
          interval: 'day',
          since: text(start - day),
          until: text(start + 2 * day),
          total: { requests: 7, failed: 1, cost: 1.500_011, unknown_cost_requests: 1, usage: usage(111, 5) },
        })
        expect(data.map(({ at }) => at)).to.deep.equal([start, start, start, start + day, start + day].map(text))
        expect(data).to.have.deep.members([
          {
            at: text(start),
            group: { key: { id: mine, name: 'mine' }, model: null },
            requests: 1,
            failed: 0,
            cost: 0,
            unknown_cost_requests: 0,
            usage: usage(0),
            duration_ms: { p50: 1, p95: 1 },
            first_byte_ms: { p50: 1, p95: 1 },
          },
          {
            at: text(start),
            group: { key: { id: mine, name: 'mine' }, model: 'small-1' },
            requests: 3,
            failed: 1,
            cost: 1.500_008,
            unknown_cost_requests: 1,
            usage: usage(111, 5),
            duration_ms: { p50: 20, p95: 30 },
            first_byte_ms: { p50: 5, p95: 10 },
          },
          {
            at: text(start),
            group: { key: { id: theirs, name: 'theirs' }, model: 'large' },
            requests: 1,
            failed: 0,
            cost: 0.000_002,
            unknown_cost_requests: 0,
            usage: usage(0),
            duration_ms: { p50: 31, p95: 31 },
            first_byte_ms: { p50: 12, p95: 12 },
          },
          {
            at: text(start + day),
            group: { key: null, model: null },
            requests: 1,
            failed: 0,
            cost: 0,
            unknown_cost_requests: 0,
            usage: usage(0),
            duration_ms: { p50: 102, p95: 102 },
            first_byte_ms: { p50: 12, p95: 12 },
          },
          {
            at: text(start + day),
            group: { key: { id: 'gone', name: 'last name' }, model: 'small-1' },
            requests: 1,
            failed: 0,
            cost: 0.000_001,
            unknown_cost_requests: 0,
            usage: usage(0),
            duration_ms: { p50: 102, p95: 102 },
            first_byte_ms: { p50: 12, p95: 12 },
          },
        ])
      })

      it('is told apart by hour, or not at all', async () => {
        const hours = await answers(gateway.asAdmin, `/api/logs/usage?${whole}&interval=hour&key=${mine}`)
        const counts = hours.data.map(({ at, group, requests }) => [at, group, requests])
        expect(counts).to.deep.equal([
          [text(start), {}, 2],
          [text(start + hour), {}, 2],
        ])
        const { interval, data, total } = await answers(gateway.asAdmin, `/api/logs/usage?${whole}&interval=none`)
        const [{ duration_ms: _took, first_byte_ms: _first, ...all } = {}, ...others] = data as readonly JsonObject[]
        expect({ interval, others }).to.deep.equal({ interval: 'none', others: [] })
        expect(all).to.deep.equal({ at: null, group: {}, ...(total as JsonObject) })
      })

      it('takes every pair of groups, and shows keys and members with their names', async () => {
        const words = ['key', 'member', 'model', 'provider', 'protocol', 'type']
        for (const one of words)
          for (const other of words.filter((word) => word !== one)) {
            const { data } = await answers(gateway.asAdmin, `/api/logs/usage?${whole}&group_by=${one},${other}`)
            expect(data.reduce((sum, { requests }) => sum + Number(requests), 0)).to.equal(7)
            for (const { group } of data) expect(Object.keys(group)).to.deep.equal([one, other])
          }
        const { data } = await answers(gateway.asAdmin, `/api/logs/usage?${whole}&group_by=member&interval=none`)
        expect(data.map(({ group, requests }) => [group['member'], requests])).to.have.deep.members([
          [null, 2],
          [{ id: gateway.viewer.id, username: 'viewer' }, 4],
          [{ id: 'gone-too', username: 'left' }, 1],
        ])
      })

      it('is filtered by any of several values', async () => {
        const count = async (filter: string) =>
          (await answers(gateway.asAdmin, `/api/logs/usage?${whole}&${filter}`))['total'] as JsonObject
        expect(await count(`key=${theirs}&key=gone`)).to.include({ requests: 2 })
        expect(await count(`member=${gateway.viewer.id}`)).to.include({ requests: 4 })
        expect(await count('model=large&model=unknown')).to.include({ requests: 1 })
        expect(await count('protocol=messages&provider=p')).to.include({ requests: 1 })
        expect(await count('protocol=messages&key=gone')).to.include({ requests: 0, cost: 0 })
        expect(await count('type=judge')).to.deep.include({ requests: 0, cost: 0.000_007, usage: usage(100) })
      })

      it('takes the window down and up to whole hours, in whatever zone it is given', async () => {
        const asked = (since: number, until: number, zone = 'Z') =>
          answers(
            gateway.asAdmin,
            `/api/logs/usage?since=${encodeURIComponent(text(since).replace('Z', zone))}&until=${encodeURIComponent(text(until).replace('Z', zone))}`,
          )
        const within = await asked(start + minute, start + 2 * minute)
        expect(within).to.include({ since: text(start), until: text(start + hour) })
        expect(within['total']).to.include({ requests: 2 })
        // 05:30 in that zone is midnight in UTC.
        const elsewhere = await asked(start + 5.5 * hour, start + 6.5 * hour, '+05:30')
        expect(elsewhere).to.include({ since: text(start), until: text(start + hour) })
        expect(elsewhere['total']).to.include({ requests: 2 })
        const last = await asked(start + hour - 1, start + hour)
        expect(last).to.include({ since: text(start), until: text(start + hour) })
      })

      it('leaves out what it is asked to, and keeps what has no such value', async () => {
        const requests = async (filter: string) => {
          const { total } = await answers(gateway.asAdmin, `/api/logs/usage?${whole}&${filter}`)
          return (total as JsonObject)['requests']
        }
        expect(await requests('')).to.equal(7)
        expect(await requests(`not_key=${mine}`)).to.equal(3)
        expect(await requests(`not_key=${mine}&not_key=gone`)).to.equal(2)
        expect(await requests(`not_member=${gateway.viewer.id}`)).to.equal(3)
        expect(await requests('not_model=large')).to.equal(6)
        expect(await requests('not_model=')).to.equal(7)
        expect(await requests('not_model=large&not_protocol=chat')).to.equal(0)
        expect(await requests(`not_model=large&key=${mine}`)).to.equal(4)
        expect(await refusal('/api/logs/usage?not_status=200')).to.deep.equal([422, 'unknown_field', 'not_status'])
      })

      it('is by default that of the last 30 days per day', async () => {
        const before = Date.now()
        const answer = await answers(gateway.asAdmin, '/api/logs/usage')
        const [since, until] = [moment(answer['since']), moment(answer['until'])]
        expect(since).to.be.within(before - 30 * day - hour, Date.now() - 30 * day)
        expect(until).to.be.within(before, Date.now() + hour)
        expect(answer['interval']).to.equal('day')
        expect(answer.data.map(({ at }) => at)).to.include(text(start))
      })

      it('refuses what it does not know, and windows that are too long', async () => {
        const invalid = async (query: string) => refusal(`/api/logs/usage?${query}`)
        expect(await invalid('status=200')).to.deep.equal([422, 'unknown_field', 'status'])
        expect(await invalid('limit=1')).to.deep.equal([422, 'unknown_field', 'limit'])
        expect(await invalid('interval=week')).to.deep.equal([422, 'invalid_field', 'interval'])
        for (const groups of ['key,model,type', 'key,key', 'tier', 'key,', ','])
          expect(await invalid(`group_by=${groups}`), groups).to.deep.equal([422, 'invalid_field', 'group_by'])
        expect(await invalid('since=yesterday')).to.deep.equal([422, 'invalid_field', 'since'])
        expect(await invalid(`since=${text(start)}&since=${text(start)}`)).to.deep.equal([
          422,
          'invalid_field',
          'since',
        ])
        expect(await invalid('until=2026-13-01T00:00:00Z')).to.deep.equal([422, 'invalid_field', 'until'])
        expect(await invalid(`since=${text(start)}&until=${text(start)}`)).to.deep.equal([
          422,
          'invalid_field',
          'since',
        ])
        const long = (days: number, interval: string, more = 0) =>
          invalid(`interval=${interval}&since=${text(start - days * day - more)}&until=${text(start)}`)
        const tooLarge = [422, 'window_too_large', 'since']
        expect(await long(31, 'hour')).to.deep.equal([200, undefined, undefined])
        expect(await long(31, 'hour', 1)).to.deep.equal(tooLarge)
        expect(await long(400, 'day')).to.deep.equal([200, undefined, undefined])
        expect(await long(400, 'day', 1)).to.deep.equal(tooLarge)
        expect(await long(4000, 'none')).to.deep.equal([200, undefined, undefined])
      })

      it('refuses a window with more than 10,000 sums', async () => {
        const long = start - 300 * day
        // 700 hours of 14 models are 9,800 sums, and 15 models are too many.
        const many = Array.from({ length: 15 * 700 }, (_, index) => ({
          id: `many-${index}`,
          at: long + Math.floor(index / 15) * hour,
          model: `m${index % 15}`,
        }))
        // More would not fit into the queue of rows.
        for (let from = 0; from < many.length; from += 3_500) await write(...many.slice(from, from + 3_500))
        const route = `/api/logs/usage?interval=hour&group_by=model&since=${text(long)}&until=${text(long + 30 * day)}`
        expect(await refusal(route)).to.deep.equal([422, 'window_too_large', 'since'])
        const models = Array.from({ length: 14 }, (_, model) => `&model=m${model}`).join('')
        expect((await answers(gateway.asAdmin, route + models)).data).to.have.length(9_800)
      })
    })

    describe('GET /api/logs/stats', () => {
      it('shows the figures of a window', async () => {
        const answer = await answers(gateway.asAdmin, `/api/logs/stats?${whole}`)
        expect(answer).to.deep.equal({
          since: text(start - day),
          until: text(start + 2 * day),
          requests: 7,
          failed: 1,
          cost: 1.500_011,
          unknown_cost_requests: 1,
          usage: usage(111, 5),
          client_closed: 1,
          savings: -0.000_002,
          duration_ms: { p50: 30, p95: 102, p99: 102 },
          first_byte_ms: { p50: 10, p95: 12, p99: 12 },
          by_status: { '2xx': 4, '4xx': 2, '5xx': 1 },
          dropped_rows: 0,
        })
      })

      it('is exact at its edges', async () => {
        const count = async (since: number, until: number) =>
          (await answers(gateway.asAdmin, `/api/logs/stats?since=${text(since)}&until=${text(until)}`))['requests']
        expect(await count(start, start + hour - 1)).to.equal(1)
        expect(await count(start, start + hour)).to.equal(2)
        expect(await count(start + 1, start + hour)).to.equal(1)
        expect(await count(start + 1, start + hour + 1)).to.equal(3)
        expect(await count(start + 1, start + day)).to.equal(4)
      })

      it('shows nulls where there is nothing, and by default the last 24 hours', async () => {
        const before = Date.now()
        const { since, until, ...answer } = await answers(gateway.asAdmin, '/api/logs/stats?model=unknown')
        expect(moment(until) - moment(since)).to.equal(day)
        expect(moment(until)).to.be.within(before, Date.now())
        const nothing = { p50: null, p95: null, p99: null }
        expect(answer).to.deep.equal({
          requests: 0,
          failed: 0,
          cost: 0,
          unknown_cost_requests: 0,
          usage: usage(0),
          client_closed: 0,
          savings: null,
          duration_ms: nothing,
          first_byte_ms: nothing,
          by_status: {},
          dropped_rows: 0,
        })
      })

      it('takes the filters of the list', async () => {
        const filters = {
          'result=failed&result=refused': 3,
          'status=4xx': 2,
          'status=502&status=429': 2,
          'error=upstream_error': 0,
          'min_duration_ms=31': 3,
          'min_cost=1.5': 1,
          'tag=team:a': 7,
          'tag=team:b': 0,
          'requested=small': 7,
          'tier=SIMPLE': 7,
          'stream=false': 0,
          'search=8-3': 1,
          'parent=p-1': 7,
          'type=chat&type=judge': 7,
          [`not_key=${mine}`]: 3,
          [`not_key=${mine}&not_key=gone`]: 2,
          'not_member=gone-too': 6,
          'not_model=large': 6,
          'not_provider=p&not_provider=none': 1,
          'not_status=2xx': 3,
          'not_result=completed&not_model=large': 3,
          'not_tag=team:a': 0,
        }
        for (const [filter, count] of Object.entries(filters)) {
          const answer = await answers(gateway.asAdmin, `/api/logs/stats?${whole}&${filter}`)
          expect(answer['requests'], filter).to.equal(count)
        }
      })

      it('refuses what it does not know, and windows of more than 31 days', async () => {
        const invalid = async (query: string) => refusal(`/api/logs/stats?${query}`)
        expect(await invalid('group_by=key')).to.deep.equal([422, 'unknown_field', 'group_by'])
        expect(await invalid('status=ok')).to.deep.equal([422, 'invalid_field', 'status'])
        expect(await invalid('tag=team')).to.deep.equal([422, 'invalid_field', 'tag'])
        expect(await invalid('stream=maybe')).to.deep.equal([422, 'invalid_field', 'stream'])
        const window = (more: number) => invalid(`since=${text(start - 31 * day - more)}&until=${text(start)}`)
        expect(await window(0)).to.deep.equal([200, undefined, undefined])
        expect(await window(1)).to.deep.equal([422, 'window_too_large', 'since'])
      })

      it('counts a request as soon as its row can be found', async () => {
        const since = text(Date.now())
        const body = { model: 'echo', messages: [{ role: 'user', content: 'Hello' }] }
        expect((await gateway.post('/v1/chat/completions', body)).status).to.equal(200)
        await gateway.row(({ requested, at }) => requested === 'echo' && at >= Date.parse(since))
        const { requests, by_status: byStatus } = await answers(gateway.asAdmin, `/api/logs/stats?since=${since}`)
        expect({ requests, byStatus }).to.deep.equal({ requests: 1, byStatus: { '2xx': 1 } })
        const { total } = await answers(gateway.asAdmin, `/api/logs/usage?since=${since}&model=echo`)
        expect(total).to.include({ requests: 1 })
      })
    })

    describe('GET /api/logs/series', () => {
      it('shows figures per time', async () => {
        const window = `since=${text(start)}&until=${text(start + 2 * hour)}`
        const { data, ...answer } = await answers(gateway.asAdmin, `/api/logs/series?${window}&interval=1h`)
        expect(answer).to.deep.equal({ interval: '1h', since: text(start), until: text(start + 2 * hour) })
        expect(data).to.deep.equal([
          {
            at: text(start),
            completed: 2,
            client_closed: 0,
            refused: 0,
            failed: 0,
            duration_ms: { p50: 20, p95: 30, p99: 30 },
            first_byte_ms: { p50: 5, p95: 5, p99: 5 },
            tokens: usage(111, 5),
            cost: 1.500_008,
            savings: null,
          },
          {
            at: text(start + hour),
            completed: 0,
            client_closed: 0,
            refused: 1,
            failed: 1,
            duration_ms: { p50: 1, p95: 10, p99: 10 },
            first_byte_ms: { p50: 1, p95: 10, p99: 10 },
            tokens: usage(0),
            cost: 0,
            savings: 0.000_003,
          },
        ])
      })

      it('is told apart by one group, takes the filters of the list, and is exact at its edges', async () => {
        const route = `/api/logs/series?interval=5m&since=${text(start)}&until=${text(start + 2 * hour)}&group_by=key`
        const shown = async (filter = '') =>
          (await answers(gateway.asAdmin, `${route}${filter}`)).data.map(({ at, group, completed, refused }) => [
            moment(at) - start,
            group,
            completed,
            refused,
          ])
        const key = { key: { id: mine, name: 'mine' } }
        expect(await shown()).to.deep.equal([
          [0, key, 1, 0],
          [55 * minute, key, 1, 0],
          [hour, key, 0, 1],
        ])
        expect(await shown('&status=4xx')).to.deep.equal([[hour, key, 0, 1]])
        const edges = `/api/logs/series?interval=1m&since=${text(start + 1)}&until=${text(start + hour)}`
        expect((await answers(gateway.asAdmin, edges)).data.map(({ at }) => at)).to.deep.equal([
          text(start + hour - minute),
        ])
      })

      it('takes windows as long as the interval allows, and has the shortest interval by default', async () => {
        const longest = { '1m': 6 * hour, '5m': 2 * day, '1h': 31 * day, '1d': 400 * day }
        for (const [interval, length] of Object.entries(longest)) {
          const window = (more: number) => `since=${text(start - length - more)}&until=${text(start)}`
          const { body } = await gateway.asAdmin(`GET /api/logs/series?${window(0)}`)
          expect(body['interval']).to.equal(interval)
          const { body: alone } = await gateway.asAdmin(`GET /api/logs/series?interval=${interval}`)
          const [since, until] = [alone['since'], alone['until']].map((time) => Date.parse(time as string))
          expect((until ?? 0) - (since ?? 0), interval).to.equal(Math.min(day, length))
          const invalid = await refusal(`/api/logs/series?interval=${interval}&${window(1)}`)
          expect(invalid, interval).to.deep.equal([422, 'window_too_large', 'since'])
        }
      })

      it('refuses what it does not know', async () => {
        const invalid = async (query: string) => refusal(`/api/logs/series?${query}`)
        expect(await invalid('interval=2m')).to.deep.equal([422, 'invalid_field', 'interval'])
        expect(await invalid('group_by=key,model')).to.deep.equal([422, 'invalid_field', 'group_by'])
        expect(await invalid('sort=at')).to.deep.equal([422, 'unknown_field', 'sort'])
      })
    })

    describe('GET /api/api-keys/:id/usage', () => {
      it('is the usage of the key alone', async () => {
        const own = await answers(gateway.asAdmin, `/api/api-keys/${mine}/usage?${whole}&group_by=model,type`)
        const all = await answers(gateway.asAdmin, `/api/logs/usage?${whole}&group_by=model,type&key=${mine}`)
        expect(own).to.deep.equal(all)
        expect(own['total']).to.include({ requests: 4 })
      })

      it('knows no other key, and tells no viewer of those of others', async () => {
        expect(await refusal('/api/api-keys/unknown/usage')).to.deep.equal([404, 'not_found', null])
        expect(await refusal('/api/api-keys/gone/usage')).to.deep.equal([404, 'not_found', null])
        const theirUsage = `/api/api-keys/${theirs}/usage`
        const unknown = await gateway.asViewer('GET /api/api-keys/unknown/usage')
        const hidden = await gateway.asViewer(`GET ${theirUsage}`)
        expect(JSON.stringify(hidden.body).replaceAll(theirs, 'unknown')).to.equal(JSON.stringify(unknown.body))
        expect(hidden.status).to.equal(404)
        expect((await answers(gateway.asViewer, `/api/api-keys/${mine}/usage?${whole}`))['total']).to.include({
          requests: 4,
        })
      })

      it('refuses a key as filter or group, before it looks for the key', async () => {
        const invalid = async (query: string) => refusal(`/api/api-keys/unknown/usage?${query}`, gateway.asViewer)
        expect(await invalid(`key=${mine}`)).to.deep.equal([422, 'unknown_field', 'key'])
        expect(await invalid('group_by=key')).to.deep.equal([422, 'invalid_field', 'group_by'])
        expect(await invalid('interval=1h')).to.deep.equal([422, 'invalid_field', 'interval'])
      })
    })

    describe('GET /api/api-keys/spend-summary', () => {
      const since = `since=${text(start)}&until=${text(start + 2 * day)}`

      it('shows what each key has spent, the most first, with its budget', async () => {
        const answer = await answers(gateway.asAdmin, `/api/api-keys/spend-summary?${since}`)
        const { data, ...others } = answer
        expect(others).to.deep.equal({
          since: text(start),
          until: text(start + 2 * day),
          total: { requests: 6, failed: 1, cost: 1.500_011, unknown_cost_requests: 1, usage: usage(111, 5) },
          next_cursor: null,
        })
        const { since: counted, resets_at: resets, ...budget } = (data[0]?.['budget'] ?? {}) as JsonObject
        expect(budget).to.deep.equal({ usd: 10, period: 'month', spent: 0, held: 0, remaining: 10 })
        expect([moment(counted), moment(resets)].some(Number.isNaN)).to.equal(false)
        expect(data.map(({ budget: _budget, ...key }) => key)).to.deep.equal([
          {
            key: { id: mine, name: 'mine' },
            owner: { id: gateway.viewer.id, username: 'viewer' },
            requests: 4,
            failed: 1,
            cost: 1.500_008,
            unknown_cost_requests: 1,
            usage: usage(111, 5),
          },
          {
            key: { id: theirs, name: 'theirs' },
            owner: null,
            requests: 1,
            failed: 0,
            cost: 0.000_002,
            unknown_cost_requests: 0,
            usage: usage(0),
          },
          {
            key: { id: 'gone', name: 'last name' },
            owner: null,
            requests: 1,
            failed: 0,
            cost: 0.000_001,
            unknown_cost_requests: 0,
            usage: usage(0),
          },
        ])
        expect(data[1]?.['budget']).to.equal(null)
      })

      it('goes page by page, in other orders', async () => {
        const seen: unknown[] = []
        for (let cursor = ''; ;) {
          const {
            data,
            next_cursor: next,
            total,
          } = await answers(gateway.asAdmin, `/api/api-keys/spend-summary?${since}&limit=1&sort=cost${cursor}`)
          expect(total).to.include({ requests: 6 })
          seen.push(...data.map(({ cost }) => cost))
          if (next === null) break
          cursor = `&cursor=${next as string}`
        }
        expect(seen).to.deep.equal([0.000_001, 0.000_002, 1.500_008])
        const { data } = await answers(gateway.asAdmin, `/api/api-keys/spend-summary?${since}&sort=-requests&limit=1`)
        expect(data.map(({ requests }) => requests)).to.deep.equal([4])
      })

      it('is by default that of the present month', async () => {
        const now = new Date()
        const month = Date.UTC(now.getUTCFullYear(), now.getUTCMonth())
        const answer = await answers(gateway.asAdmin, '/api/api-keys/spend-summary')
        expect(answer['since']).to.equal(text(month))
        expect(moment(answer['until'])).to.be.within(now.getTime(), now.getTime() + 2 * hour)
        const today = await answers(gateway.asAdmin, '/api/api-keys/spend-summary?period=day')
        expect(today['since']).to.equal(text(Math.floor(now.getTime() / day) * day))
        const ended = `/api/api-keys/spend-summary?until=${text(month)}`
        const before = new Date(month - 1)
        expect((await answers(gateway.asAdmin, ended))['since']).to.equal(
          text(Date.UTC(before.getUTCFullYear(), before.getUTCMonth())),
        )
      })

      it('refuses what it does not know', async () => {
        const invalid = async (query: string) => refusal(`/api/api-keys/spend-summary?${query}`)
        expect(await invalid('period=year')).to.deep.equal([422, 'invalid_field', 'period'])
        expect(await invalid('sort=name')).to.deep.equal([422, 'invalid_field', 'sort'])
        expect(await invalid('limit=201')).to.deep.equal([422, 'invalid_field', 'limit'])
        expect(await invalid('cursor=none')).to.deep.equal([422, 'invalid_cursor', 'cursor'])
        expect(await invalid('key=any')).to.deep.equal([422, 'unknown_field', 'key'])
      })
    })

    it('shows a viewer the requests of own keys alone', async () => {
      const routes = ['/api/logs/usage', '/api/logs/stats', '/api/api-keys/spend-summary']
      const requests = async (route: string, ask: Ask) => {
        const answer = await answers(ask, route)
        return (answer['total'] as JsonObject | undefined)?.['requests'] ?? answer['requests']
      }
      const window = `since=${text(start)}&until=${text(start + 2 * day)}`
      for (const route of routes) expect(await requests(`${route}?${window}`, gateway.asViewer), route).to.equal(4)
      expect(await requests(`/api/logs/usage?${window}&key=${theirs}`, gateway.asViewer)).to.equal(0)
      expect(await requests(`/api/logs/stats?${window}&key=${theirs}&status=2xx`, gateway.asViewer)).to.equal(0)
      const series = await answers(gateway.asViewer, `/api/logs/series?${window}&interval=1d&group_by=key`)
      expect(series.data.map(({ group }) => group)).to.deep.equal([{ key: { id: mine, name: 'mine' } }])
      const other = await gateway.addMember()
      for (const route of routes) expect(await requests(`${route}?${window}`, other.ask), route).to.equal(0)
    })

    it('is told apart by tags, and filtered by them', async () => {
      const at = start - 20 * day
      const tagged = (model: string, tags?: Record<string, string>) => ({ at, model, keyId: mine, costMicros: 5, tags })
      await write(
        tagged('tagged-1', { team: 'search', stage: 'live' }),
        tagged('tagged-1', { team: 'search', stage: 'test' }),
        tagged('tagged-2', { team: '=cmd()', stage: 'live' }),
        { ...tagged('tagged-1'), keyId: theirs },
      )
      const window = `since=${text(at - day)}&until=${text(at + day)}&interval=none`
      const groups = async (query: string, ask = gateway.asAdmin) => {
        const { data } = await answers(ask, `/api/logs/usage?${window}&${query}`)
        return data.map(({ group, requests, cost }) => [group, requests, cost])
      }
      expect(await groups('group_by=tag:team')).to.deep.equal([
        [{ 'tag:team': null }, 1, 0.000_005],
        [{ 'tag:team': '=cmd()' }, 1, 0.000_005],
        [{ 'tag:team': 'search' }, 2, 0.000_01],
      ])
      expect(await groups('group_by=model,tag:stage')).to.have.length(4)
      expect(await groups('group_by=tag:team,tag:stage', gateway.asViewer)).to.deep.equal([
        [{ 'tag:team': '=cmd()', 'tag:stage': 'live' }, 1, 0.000_005],
        [{ 'tag:team': 'search', 'tag:stage': 'live' }, 1, 0.000_005],
        [{ 'tag:team': 'search', 'tag:stage': 'test' }, 1, 0.000_005],
      ])
      expect(await groups('group_by=tag:team&tag=stage:test')).to.deep.equal([[{ 'tag:team': 'search' }, 1, 0.000_005]])
      expect(await groups('group_by=tag:none&not_tag=team:search')).to.deep.equal([[{ 'tag:none': null }, 2, 0.000_01]])
      const series = await answers(
        gateway.asAdmin,
        `/api/logs/series?since=${text(at)}&until=${text(at + hour)}&interval=1h&group_by=tag:team`,
      )
      expect(series.data.map(({ group }) => group['tag:team'])).to.deep.equal([null, '=cmd()', 'search'])
      for (const group of ['tag:', 'tag', 'tag:UP', "tag:a'b", `tag:${'x'.repeat(65)}`, 'tag:a,tag:b,tag:c'])
        expect(await refusal(`/api/logs/usage?group_by=${group}`), group).to.deep.equal([
          422,
          'invalid_field',
          'group_by',
        ])
    })

    it('wants a session', async () => {
      const routes = ['/api/logs/usage', '/api/logs/stats', '/api/logs/series', '/api/api-keys/spend-summary']
      for (const route of [...routes, `/api/api-keys/${mine}/usage`])
        for (const ask of [gateway.asKey, gateway.asNobody]) {
          const { status, code, headers } = await ask(`GET ${route}`)
          expect([status, code], route).to.deep.equal([401, 'invalid_token'])
          expect(headers.get('www-authenticate')).to.equal('Bearer')
        }
      const { headers } = await gateway.asAdmin('GET /api/logs/usage')
      expect(headers.get('cache-control')).to.equal('no-store')
    })
  })
})
