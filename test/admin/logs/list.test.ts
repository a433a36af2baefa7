import { expect } from 'chai'
import fc from 'fast-check'
import type { JsonObject } from '../../../engine/index.ts'
import type { RequestsTable } from '../../../plugins/request-log/table.ts'
import { keysOf } from '../../support/keys.ts'
import { addRows, onEachDatabase, page, rowWith, start, startLogs } from './rig.ts'
import type { LogsGateway } from './rig.ts'

const value = <T>(index: number, values: readonly T[]): T => values[index % values.length] as T

/** Sixty rows, in which every value of a field stands with every value of most others. */
function manyRows(own: string): RequestsTable[] {
  return Array.from({ length: 60 }, (_, index) => {
    const failed = index % 5 === 0
    return rowWith(`row-${String(index).padStart(2, '0')}`, {
      at: start + Math.floor(index / 2) * 1_000,
      type: value(index, ['chat', 'judge', 'audio']),
      key_id: value(index, [own, 'k-2', 'k-3', null]),
      key_name: value(index, ['own', 'two', 'three', null]),
      member_id: value(index, ['m-1', 'm-2', null]),
      member_name: value(index, ['ann', 'bob', null]),
      requested: value(index, ['small', 'auto', null]),
      model: value(index, ['small', 'large', null, null]),
      provider: value(index, ['acme', 'other', null, null]),
      protocol: value(index, ['chat', 'messages']),
      stream: index % 2,
      status: failed ? value(index, [429, 502, 200]) : 200,
      result: failed ? value(index, ['refused', 'failed', 'client_closed']) : 'completed',
      error: failed ? value(index, ['rate_limit_exceeded', 'upstream_error', null]) : null,
      cost_micros: value(index, [null, 0, 1_500, 2_000_001]),
      duration: index * 10,
      reference: index === 7 ? 'ref-7' : null,
      parent: index > 50 ? 'row-50' : null,
      tier: value(index, ['SIMPLE', 'COMPLEX', null]),
      trace_id: value(index, ['a'.repeat(32), null, 'b'.repeat(32)]),
      failed_providers: value(index, [null, '["acme"]', null, '["acm\\"e","other","acme"]', '["other"]']),
      pipeline: value(index, ['chat-completions', 'gemini', null]),
      tags: value(index, [
        null,
        '{"team":"a"}',
        '{"env":"x","team":"a"}',
        '{"team":"a\\"b:c","x":"\\"team\\":\\"b\\""}',
      ]),
    })
  })
}

type Fits = (row: RequestsTable) => boolean

const tagged =
  (name: string, wanted: string): Fits =>
  ({ tags }) =>
    (JSON.parse(tags ?? '{}') as Record<string, string>)[name] === wanted

const failedBy = ({ failed_providers: failed }: RequestsTable, name: string) =>
  (JSON.parse(failed ?? '[]') as string[]).includes(name)

/** Queries, and the rows that they find. */
const filters: Readonly<Record<string, Fits>> = {
  '': () => true,
  'type=judge': ({ type }) => type === 'judge',
  'type=judge&type=audio': ({ type }) => type !== 'chat',
  'key=k-2': ({ key_id: id }) => id === 'k-2',
  'key=k-2&key=k-3': ({ key_id: id }) => id === 'k-2' || id === 'k-3',
  'key=k-2&status=4xx': ({ key_id: id, status }) => id === 'k-2' && status === 429,
  'member=m-1': ({ member_id: id }) => id === 'm-1',
  'requested=auto': ({ requested }) => requested === 'auto',
  'model=large': ({ model }) => model === 'large',
  'provider=other': ({ provider }) => provider === 'other',
  'protocol=messages': ({ protocol }) => protocol === 'messages',
  'status=429': ({ status }) => status === 429,
  'status=4xx': ({ status }) => status === 429,
  'status=502&status=4xx': ({ status }) => status !== 200,
  'result=refused': ({ result }) => result === 'refused',
  'result=failed&result=client_closed': ({ result }) => result === 'failed' || result === 'client_closed',
  'error=upstream_error': ({ error }) => error === 'upstream_error',
  'stream=true': ({ stream }) => stream === 1,
  'stream=false': ({ stream }) => stream === 0,
  'stream=false&stream=true': () => true,
  'tier=COMPLEX': ({ tier }) => tier === 'COMPLEX',
  'min_cost=0.0015': ({ cost_micros: cost }) => (cost ?? 0) >= 1_500,
  'min_cost=0': ({ cost_micros: cost }) => cost !== null,
  'min_duration_ms=300': ({ duration }) => duration >= 300,
  'failed_provider=acme': (row) => failedBy(row, 'acme'),
  'failed_provider=acme&failed_provider=other': (row) => failedBy(row, 'acme') || failedBy(row, 'other'),
  'failed_provider=acm': () => false,
  'not_failed_provider=acme': (row) => !failedBy(row, 'acme'),
  'pipeline=gemini': ({ pipeline }) => pipeline === 'gemini',
  'parent=row-50': ({ parent }) => parent === 'row-50',
  'parent=row-50&type=chat': ({ parent, type }) => parent === 'row-50' && type === 'chat',
  [`trace_id=${'a'.repeat(32)}`]: ({ trace_id: trace }) => trace === 'a'.repeat(32),
  [`trace_id=${'a'.repeat(32)}&type=judge`]: () => false,
  'search=row-07': ({ id }) => id === 'row-07',
  'search=ref-7': ({ reference }) => reference === 'ref-7',
  'search=ref': () => false,
  'tag=team:a': tagged('team', 'a'),
  'tag=team:b': () => false,
  'tag=env:x&tag=team:a%22b:c': (row) => tagged('env', 'x')(row) || tagged('team', 'a"b:c')(row),
  'since=2026-11-01T12:00:05.000Z': ({ at }) => at >= start + 5_000,
  'since=2026-11-01T13:00:05%2B01:00&until=2026-11-01T12:00:07Z': ({ at }) => at >= start + 5_000 && at < start + 7_000,
  'model=none': () => false,
  'not_type=judge': ({ type }) => type !== 'judge',
  'not_type=judge&not_type=audio': ({ type }) => type === 'chat',
  'not_key=k-2': ({ key_id: id }) => id !== 'k-2',
  'not_member=m-1': ({ member_id: id }) => id !== 'm-1',
  'not_requested=auto': ({ requested }) => requested !== 'auto',
  'not_model=large': ({ model }) => model !== 'large',
  'not_provider=other': ({ provider }) => provider !== 'other',
  'not_protocol=messages': ({ protocol }) => protocol !== 'messages',
  'not_status=2xx&not_status=429': ({ status }) => status === 502,
  'not_result=completed': ({ result }) => result !== 'completed',
  'not_error=upstream_error': ({ error }) => error !== 'upstream_error',
  'not_tier=SIMPLE&not_tier=COMPLEX': ({ tier }) => tier === null,
  'not_parent=row-50': ({ parent }) => parent !== 'row-50',
  [`not_trace_id=${'a'.repeat(32)}`]: ({ trace_id: trace }) => trace !== 'a'.repeat(32),
  'not_pipeline=gemini': ({ pipeline }) => pipeline !== 'gemini',
  'not_tag=team:a&not_tag=x:y': (row) => !tagged('team', 'a')(row),
}

const fields = [
  'id',
  'at',
  'type',
  'key',
  'member',
  'requested',
  'model',
  'provider',
  'protocol',
  'upstream_protocol',
  'stream',
  'status',
  'result',
  'error',
  'attempts',
  'usage',
  'cost',
  'first_byte_ms',
  'duration_ms',
  'reference',
  'tier',
  'guarded',
  'tags',
  'parent',
  'trace_id',
]

describe('GET /api/logs', () => {
  onEachDatabase((settings) => {
    let gateway: LogsGateway
    let rows: readonly RequestsTable[]
    before(async () => {
      gateway = await startLogs(await settings())
      rows = manyRows(gateway.own.id)
      await addRows(gateway, rows)
    })
    after(() => gateway.close())

    const expected = (fits: Fits) =>
      rows
        .filter(fits)
        .sort((left, right) => right.at - left.at || (left.id < right.id ? 1 : -1))
        .map(({ id }) => id)

    for (const [query, fits] of Object.entries(filters))
      it(`finds ${query || 'everything'}, newest first`, async () => {
        expect(await gateway.ids(`?limit=200&${query}`)).to.deep.equal(expected(fits))
        expect(await gateway.ids(`?limit=200&sort=at&${query}`)).to.deep.equal(expected(fits).toReversed())
      })

    it('finds any combination of filters', () =>
      fc.assert(
        fc.asyncProperty(fc.subarray(Object.entries(filters), { minLength: 2, maxLength: 4 }), async (chosen) => {
          // A name that stands twice means any of its values.
          const names = chosen.flatMap(([query]) => [...new Set(new URLSearchParams(query).keys())])
          fc.pre(new Set(names).size === names.length)
          const query = chosen.map(([one]) => one).join('&')
          const all: Fits = (row) => chosen.every(([, fits]) => fits(row))
          expect(await gateway.ids(`?limit=200&${query}`), query).to.deep.equal(expected(all))
        }),
        { numRuns: 40 },
      ))

    it('shows every field of a row', async () => {
      const whole = {
        key_id: 'k-9',
        key_name: 'nine',
        member_id: 'm-9',
        member_name: 'zoe',
        reference: 'mine',
        tier: 'MEDIUM',
        tags: '{"team":"a"}',
        parent: 'other',
        trace_id: 'a'.repeat(32),
        stream: 1,
      }
      const none = {
        requested: null,
        model: null,
        provider: null,
        protocol: null,
        upstream_protocol: null,
        input_tokens: null,
        cost_micros: null,
        first_byte: null,
        error: 'invalid_api_key',
      }
      await addRows(gateway, [
        rowWith('whole', { at: start - 2_000, ...whole }),
        rowWith('none', { at: start - 3_000, status: 401, result: 'refused', attempts: 0, ...none }),
      ])
      const [first, second] = await page(gateway, '?until=2026-11-01T12:00:00Z')
      expect(Object.keys(first as JsonObject)).to.deep.equal(fields)
      expect(first).to.deep.equal({
        id: 'whole',
        at: '2026-11-01T11:59:58.000Z',
        type: 'chat',
        key: { id: 'k-9', name: 'nine' },
        member: { id: 'm-9', username: 'zoe' },
        requested: 'small',
        model: 'small',
        provider: 'acme',
        protocol: 'chat',
        upstream_protocol: 'messages',
        stream: true,
        status: 200,
        result: 'completed',
        error: null,
        attempts: 1,
        usage: { input: 10, cache_read: 1, cache_write: 2, output: 3, reasoning: 4, total: 20 },
        cost: 0.0015,
        first_byte_ms: 20,
        duration_ms: 50,
        reference: 'mine',
        tier: 'MEDIUM',
        guarded: null,
        tags: { team: 'a' },
        parent: 'other',
        trace_id: 'a'.repeat(32),
      })
      expect(second).to.deep.equal({
        ...Object.fromEntries(fields.map((field) => [field, null])),
        id: 'none',
        at: '2026-11-01T11:59:57.000Z',
        type: 'chat',
        stream: false,
        status: 401,
        result: 'refused',
        error: 'invalid_api_key',
        attempts: 0,
        duration_ms: 50,
        tags: {},
      })
    })

    for (const [type, sort, at] of [
      ['chat', '-at', start + 59_000],
      ['judge', 'at', start],
    ] as const)
      it(`goes through all pages by ${sort}, and neither skips nor repeats a row while others come in`, async () => {
        const seen: unknown[] = []
        const wanted = expected((row) => row.type === type)
        let cursor = ''
        for (let pages = 0; pages === 0 || cursor !== ''; pages++) {
          const query = `limit=7&since=2026-11-01T12:00:00Z&type=${type}&sort=${sort}${cursor}`
          const { body } = await gateway.asAdmin(`GET /api/logs?${query}`)
          seen.push(...(body['data'] as JsonObject[]).map(({ id }) => id))
          const next = body['next_cursor'] as string | null
          cursor = next === null ? '' : `&cursor=${next}`
          await addRows(gateway, [rowWith(`new-${type}-${pages}`, { at, type })])
        }
        expect(seen).to.deep.equal(sort === 'at' ? wanted.toReversed() : wanted)
      })

    it('refuses what no query has', async () => {
      const refused = async (query: string) => {
        const { status, code, param } = await gateway.asAdmin(`GET /api/logs?${query}`)
        return { status, code, param }
      }
      const invalid = (param: string) => ({ status: 422, code: 'invalid_field', param })
      for (const param of ['color', 'not_search', 'not_stream', 'not_since'])
        expect(await refused(`${param}=red`)).to.deep.equal({ status: 422, code: 'unknown_field', param })
      for (const param of [
        'limit=0',
        'limit=201',
        'sort=cost',
        'since=yesterday',
        'status=600',
        'status=4x',
        'result=ok',
        'not_status=4x',
        'not_result=ok',
        'not_tag=team',
      ])
        expect(await refused(param), param).to.deep.equal(invalid(param.split('=')[0] as string))
      for (const param of ['stream=1', 'tag=team', 'min_cost=-1', 'min_duration_ms=long'])
        expect(await refused(param), param).to.deep.equal(invalid(param.split('=')[0] as string))
      const { body } = await gateway.asAdmin('GET /api/logs?limit=1&type=chat')
      const cursor = body['next_cursor'] as string
      for (const other of ['type=judge', 'type=chat&sort=at', ''])
        expect(await refused(`${other}&cursor=${cursor}`)).to.deep.equal({
          status: 422,
          code: 'invalid_cursor',
          param: 'cursor',
        })
    })

    it('shows a viewer the requests of own keys alone, whatever is asked for', async () => {
      const own = expected(({ key_id: id }) => id === gateway.own.id)
      const idsOf = async (query: string) => {
        const { body } = await gateway.asViewer(`GET /api/logs?limit=200&${query}`)
        return (body['data'] as JsonObject[]).map(({ id }) => id)
      }
      expect(await idsOf('')).to.deep.equal(own)
      expect(await idsOf('key=k-2')).to.deep.equal([])
      expect(await idsOf(`key=k-2&key=${gateway.own.id}`)).to.deep.equal(own)
      expect(await idsOf('search=row-01')).to.deep.equal([])
      expect(await idsOf('type=audio')).to.deep.equal(
        expected(({ key_id: id, type }) => id === gateway.own.id && type === 'audio'),
      )
      const stranger = await gateway.addMember()
      expect((await stranger.ask('GET /api/logs')).body).to.deep.equal({ data: [], next_cursor: null })
      expect(keysOf(gateway.engine).ownedBy(gateway.viewer.id)).to.deep.equal([gateway.own.id])
    })

    it('is for those who have signed in', async () => {
      for (const ask of [gateway.asNobody, gateway.asKey])
        expect(await ask('GET /api/logs')).to.include({ status: 401, code: 'invalid_token' })
    })
  })
})
