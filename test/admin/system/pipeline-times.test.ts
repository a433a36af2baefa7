import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import type { StoredLap } from '../../../plugins/request-log/row.ts'
import { chatAnswer } from '../../service/streams.ts'
import { startAdmin } from '../../support/admin.ts'
import type { AdminGateway } from '../../support/admin.ts'
import { scriptedUpstream } from '../../support/upstream.ts'
import type { ScriptedUpstream } from '../../support/upstream.ts'
import { addRows, onEachDatabase, rowWith } from '../logs/rig.ts'

interface StepTimes {
  readonly path: string
  readonly count: number
  readonly failed: number
  readonly p50_ms: number
  readonly p95_ms: number
  readonly p99_ms: number
  readonly taken?: number
  readonly again?: number
}

interface Times {
  readonly since: string
  readonly data: readonly StepTimes[]
}

const HOUR = 3_600_000

describe('times of the steps of a pipeline', () => {
  onEachDatabase((settings) => {
    let upstream: ScriptedUpstream
    let gateway: AdminGateway
    before(async () => {
      upstream = await scriptedUpstream()
      const at = { type: 'compatible', base_url: upstream.url, api_key: 'upstream-key' }
      gateway = await startAdmin({
        ...(await settings()),
        providers: [
          { name: 'busy', ...at },
          { name: 'free', ...at },
        ],
        models: [
          { name: 'first', provider: 'busy', fallbacks: ['second'] },
          { name: 'second', provider: 'free' },
        ],
      })
    })
    after(async () => {
      await gateway.close()
      await upstream.close()
    })

    const timesOf = async (pipeline: string): Promise<Times> => {
      const { status, body } = await gateway.asAdmin(`GET /api/config/pipelines/${pipeline}`)
      expect(status, JSON.stringify(body)).to.equal(200)
      return body['times'] as unknown as Times
    }
    const counts = ({ data }: Times) =>
      Object.fromEntries(
        data.map(({ path, count, failed, taken, again }) => [
          path,
          { count, failed, ...(taken !== undefined && { taken }), ...(again !== undefined && { again }) },
        ]),
      )
    const send = async (path: string, body: object) => {
      const { status } = await gateway.asKey(`POST ${path}`, body)
      return status
    }
    const chat = (model: string) => ({ model, messages: [{ role: 'user', content: 'hello' }] })
    const busy = { status: 503, body: { error: { message: 'Busy.' } } }
    const answer = { body: chatAnswer }
    /** Rows of a pipeline that no test sends requests to. */
    const rowsWith = (pipeline: string, laps: readonly (readonly StoredLap[])[], at: (index: number) => number) =>
      laps.map((own, index) => rowWith(`${pipeline}-${index}`, { pipeline, at: at(index), metadata: stored(own) }))
    /** Metadata of a row whose runs are given in milliseconds. */
    const stored = (laps: readonly StoredLap[]) =>
      JSON.stringify({
        laps: laps.map(([path, start, duration, ...others]) => [
          path,
          start * 1000,
          Math.round(duration * 1000),
          ...others,
        ]),
      })

    it('are those of the last hour, and none where nothing ran', async () => {
      const before = Date.now()
      const { body } = await gateway.asAdmin('GET /api/config/pipelines/images')
      expect(body).to.have.all.keys(
        'name',
        'file',
        'summary',
        'protocol',
        'routes',
        'inputs',
        'uses',
        'yaml',
        'plan',
        'finally',
        'times',
        'error',
      )
      expect(body['error']).to.equal(null)
      const { since, ...others } = body['times'] as unknown as Times
      expect(others).to.deep.equal({ data: [] })
      expect(Date.parse(since)).to.be.within(before - HOUR, Date.now() - HOUR)
    })

    it('count requests that were served, refused, tried again, and failed', async () => {
      upstream.answer(answer, answer, busy, answer, busy, busy, busy)
      expect(await send('/v1/chat/completions', chat('second'))).to.equal(200)
      expect(await send('/v1/chat/completions', chat('second'))).to.equal(200)
      expect(await send('/v1/chat/completions', chat('first'))).to.equal(200)
      expect(await send('/v1/chat/completions', chat('missing'))).to.equal(404)
      expect(await send('/v1/chat/completions', chat('first'))).to.be.above(499)
      await gateway.rows(5)

      const times = await timesOf('chat-completions')
      expect(counts(times)).to.deep.include({
        auth: { count: 5, failed: 0 },
        'route/resolve': { count: 5, failed: 1 },
        'route/switch/2': { count: 4, failed: 0, taken: 4 },
        'generate/attempt/call': { count: 7, failed: 4 },
        'generate/attempt/translate-back': { count: 3, failed: 0 },
        'generate/attempt': { count: 4, failed: 1, again: 3 },
        'finally/price': { count: 5, failed: 0 },
      })
      const paths = times.data.map(({ path }) => path)
      expect(paths).to.deep.equal(paths.toSorted())
      for (const step of times.data) {
        const own = step.path === 'generate/attempt' ? ['again'] : step.path === 'route/switch/2' ? ['taken'] : []
        expect(step).to.have.all.keys('path', 'count', 'failed', 'p50_ms', 'p95_ms', 'p99_ms', ...own)
        expect(step.p50_ms).to.be.at.least(0)
        expect(step.p95_ms).to.be.within(step.p50_ms, step.p99_ms)
      }
    })

    it('tell which arm a switch took', async () => {
      upstream.answer(answer, answer, busy, busy, busy)
      const ask = (model: string) => send('/v1/responses', { model, input: 'hello' })
      expect([await ask('second'), await ask('second')]).to.deep.equal([200, 200])
      expect(await ask('first')).to.be.above(499)
      const { status } = await gateway.asKey('POST /v1/responses', { model: 'second', input: 1 })
      expect(status).to.equal(400)
      await gateway.rows(9)

      const times = await timesOf('responses')
      expect(counts(times)).to.deep.include({
        auth: { count: 4, failed: 0 },
        'switch/3': { count: 3, failed: 1, taken: 3 },
        'switch/3/generate/attempt': { count: 3, failed: 1, again: 2 },
        'switch/3/store': { count: 2, failed: 0 },
      })
      expect(counts(times)).not.to.have.any.keys('switch', 'switch/1', 'switch/2')
    })

    it('have percentiles by nearest rank, of whole attempts and arms too', async () => {
      const now = Date.now()
      const laps = Array.from({ length: 100 }, (_, index): StoredLap[] => [
        ['parse', 0, index + 1, 0],
        ['switch:2/1/attempt/call', 10, 5, 1, 'failed'],
        ['switch:2/1/attempt/switch/2/call', 20, 5, 2],
        ['switch:2/1/reserve', 25, index + 0.0014, 0],
        ['finally/log', 200, 0, 0, 'skipped'],
      ])
      await addRows(
        gateway,
        rowsWith('embeddings', laps, (index) => now - index),
      )
      const { data } = await timesOf('embeddings')
      const even = { count: 100, failed: 0, p50_ms: 5, p95_ms: 5, p99_ms: 5 }
      expect(data).to.deep.equal([
        { path: 'parse', count: 100, failed: 0, p50_ms: 50, p95_ms: 95, p99_ms: 99 },
        { path: 'switch:2/1', count: 100, failed: 0, p50_ms: 64.001, p95_ms: 109.001, p99_ms: 113.001, taken: 100 },
        { path: 'switch:2/1/attempt', count: 100, failed: 0, p50_ms: 15, p95_ms: 15, p99_ms: 15, again: 100 },
        { path: 'switch:2/1/attempt/call', ...even, failed: 100 },
        { path: 'switch:2/1/attempt/switch/2', ...even, taken: 100 },
        { path: 'switch:2/1/attempt/switch/2/call', ...even },
        { path: 'switch:2/1/reserve', count: 100, failed: 0, p50_ms: 49.001, p95_ms: 94.001, p99_ms: 98.001 },
      ])
    })

    it('say which attempts and arms failed', async () => {
      const rows: StoredLap[][] = [
        // What follows a failed try makes up for it.
        [
          ['switch/1/attempt/call', 0, 1, 1, 'failed'],
          ['switch/1/attempt/otherwise/estimate-tokens', 1, 1, 0],
        ],
        [
          ['switch/1/attempt/call', 0, 1, 1, 'failed'],
          ['switch/1/attempt/otherwise/estimate-tokens', 1, 1, 0, 'failed'],
        ],
        // In `finally`, the next stages run all the same.
        [
          ['finally/switch/1/price', 0, 1, 0, 'failed'],
          ['finally/switch/1/log', 1, 1, 0],
        ],
        // An arm inside a try runs once per try.
        [
          ['attempt:2/switch/1/call', 0, 1, 1, 'failed'],
          ['attempt:2/switch/1/call', 1, 1, 2],
          ['attempt:2/otherwise/switch/1/parse', 2, 1, 0],
        ],
      ]
      await addRows(
        gateway,
        rowsWith('count-tokens', rows, () => Date.now()),
      )
      const found = counts(await timesOf('count-tokens'))
      expect(found).to.deep.include({
        'switch/1': { count: 2, failed: 1, taken: 2 },
        'switch/1/attempt': { count: 2, failed: 1, again: 0 },
        'finally/switch/1': { count: 1, failed: 1, taken: 1 },
        'attempt:2': { count: 1, failed: 0, again: 1 },
        'attempt:2/switch/1': { count: 2, failed: 1, taken: 2 },
        'attempt:2/otherwise/switch/1': { count: 1, failed: 0, taken: 1 },
      })
    })

    it('are those of the newest thousand requests', async () => {
      const now = Date.now()
      const laps = Array.from({ length: 1_002 }, (_, index): StoredLap[] => [
        ['parse', 0, index < 1_000 ? 1 : 1_000, 0],
      ])
      const rows = rowsWith('mapeval', laps, (index) => now - index * 2)
      await addRows(gateway, rows.slice(0, 500))
      await addRows(gateway, rows.slice(500))
      const { since, data } = await timesOf('mapeval')
      expect(since).to.equal(new Date(now - 999 * 2).toISOString())
      expect(data).to.deep.equal([{ path: 'parse', count: 1_000, failed: 0, p50_ms: 1, p95_ms: 1, p99_ms: 1 }])
    })

    it('leave out older requests, those of other pipelines, and rows without runs', async () => {
      const now = Date.now()
      const lap: StoredLap = ['parse', 0, 1, 0]
      const [old, recent] = rowsWith('speech', [[lap], [lap]], (index) =>
        index === 0 ? now - HOUR - 1 : now - HOUR / 2,
      )
      await addRows(gateway, [
        old!,
        recent!,
        rowWith('speech-unknown', { at: now, metadata: stored([lap]) }),
        rowWith('speech-empty', { at: now, pipeline: 'speech' }),
      ])
      expect(counts(await timesOf('speech'))).to.deep.equal({ parse: { count: 1, failed: 0 } })
    })
  })
})

describe('a pipeline whose file is refused', () => {
  let folder: string
  let gateway: AdminGateway
  const file = 'pipelines/hello.yaml'
  const hello = 'name: hello\nsummary: Say hello.\nroutes: [GET /hello]\npublic: true\nstages: [health]\n'
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sluice-times-'))
    await mkdir(join(folder, 'pipelines'))
    await writeFile(join(folder, file), hello)
    gateway = await startAdmin({ folder })
  })
  after(async () => {
    await gateway.close()
    await rm(folder, { recursive: true })
  })

  it('runs as before, and says why', async () => {
    const errorOf = async (name: string) => (await gateway.asAdmin(`GET /api/config/pipelines/${name}`)).body['error']
    expect(await errorOf('hello')).to.equal(null)
    await writeFile(join(folder, file), hello.replace('health', 'healthy'))
    expect(await gateway.asAdmin('POST /api/config/reload', {})).to.include({
      status: 422,
      code: 'invalid_configuration',
    })
    const { error } = (await gateway.asAdmin('GET /api/config/status')).body as { readonly error: object }
    expect(await errorOf('hello')).to.deep.equal(error)
    expect(error).to.have.nested.property('findings[0].file', file)
    expect(await errorOf('chat-completions')).to.equal(null)
    await writeFile(join(folder, file), hello)
    expect((await gateway.asAdmin('POST /api/config/reload', {})).status).to.equal(200)
    expect(await errorOf('hello')).to.equal(null)
  })
})
