import { expect } from 'chai'
import { Redis } from 'ioredis'
import { pino } from 'pino'
import { GatewayError } from '../../../engine/spec/error.ts'
import type { Job } from '../../../engine/spec/key-value.ts'
import type { JobRunner } from '../../../engine/store/job-worker.ts'
import { openJobs } from '../../../engine/store/jobs.ts'
import type { OpenJobs } from '../../../engine/store/jobs.ts'
import { redis } from '../../support/services.ts'
import { sideBySide } from '../../support/side-by-side.ts'
import { until } from '../../support/until.ts'

const away = new GatewayError('store_unavailable')

/** A dispatch that writes down what it is told; jobs run until they are let go or aborted. */
class Recorder implements JobRunner {
  readonly events: string[] = []
  /** How many ends are still to fail. */
  failing = 0
  readonly #lacks: string
  readonly #ends = new Map<string, PromiseWithResolvers<void>>()
  readonly #watchers = new Set<() => void>()

  constructor(lacks = '') {
    this.#lacks = lacks
  }

  run(pipeline: string, { id, input }: Job) {
    const lacking = pipeline === this.#lacks
    this.#note(`${lacking ? 'lacks' : 'run'} ${pipeline} ${id} ${JSON.stringify(input)}`)
    if (lacking) return undefined
    const end = Promise.withResolvers<void>()
    this.#ends.set(id, end)
    const abort = ({ code }: GatewayError) => {
      this.#note(`abort ${id} ${code}`)
      end.resolve()
    }
    return { done: end.promise, abort }
  }

  async end(pipeline: string, { id }: Job, { code }: GatewayError) {
    this.#note(`end ${pipeline} ${id} ${code}`)
    if (this.failing-- > 0) throw away
  }

  finish(id: string): void {
    this.#ends.get(id)?.resolve()
  }

  fail(id: string): void {
    this.#ends.get(id)?.reject(away)
  }

  when(condition: (events: readonly string[]) => boolean): Promise<void> {
    return new Promise((resolve) => {
      const look = () => {
        if (!condition(this.events)) return
        this.#watchers.delete(look)
        resolve()
      }
      this.#watchers.add(look)
      look()
    })
  }

  #note(event: string): void {
    this.events.push(event)
    for (const look of this.#watchers) look()
  }
}

/** Queues of jobs on one server. */
interface Queues {
  readonly client: Redis
  /** What was logged. */
  readonly lines: string[]
  readonly open: () => Promise<OpenJobs>
  /** Opens a queue whose jobs run; it lacks a pipeline. */
  readonly started: (lacks?: string) => Promise<{ readonly jobs: OpenJobs; readonly dispatch: Recorder }>
  /** Resolves once nothing of a job is left in the queue. */
  readonly gone: (id: string) => Promise<void>
  /** Closes all queues and forgets what they held. */
  readonly clear: () => Promise<void>
}

function queuesAt(url: string): Queues {
  const client = new Redis(url)
  const lines: string[] = []
  const opened: OpenJobs[] = []
  const log = pino({ level: 'info' }, { write: (line: string) => void lines.push(line) })
  const open = async () => {
    const jobs = await openJobs(url, log)
    opened.push(jobs)
    return jobs
  }
  return {
    client,
    lines,
    open,
    started: async (lacks) => {
      const jobs = await open()
      const dispatch = new Recorder(lacks)
      jobs.start(dispatch)
      return { jobs, dispatch }
    },
    gone: (id) => until(async () => (await client.keys(`sluice:jobs:${id}*`)).length === 0),
    clear: async () => {
      await Promise.all(opened.splice(0).map((jobs) => jobs.drain(0, 1000).finally(() => jobs.close())))
      await client.flushdb()
      lines.length = 0
    },
  }
}

describe('jobs', () => {
  let queues: Queues
  before(async function () {
    queues = queuesAt((await redis(this)).url)
  })
  after(() => queues?.client.disconnect())
  afterEach(() => queues.clear())

  const started: Queues['started'] = (lacks) => queues.started(lacks)
  const gone: Queues['gone'] = (id) => queues.gone(id)

  it('runs a job once, in any of the processes, and forgets it', async () => {
    const [one, two] = [await started(), await started()]
    const ids = Array.from({ length: 40 }, (_, index) => `job-${index}`)
    await Promise.all(ids.map((id) => one.jobs.add('work', { id, input: { for: id } })))
    const both = () => [...one.dispatch.events, ...two.dispatch.events]
    const all = () => both().length === ids.length
    await Promise.race([one.dispatch.when(all), two.dispatch.when(all)])
    for (const { dispatch } of [one, two]) ids.forEach((id) => dispatch.finish(id))
    await Promise.all(ids.map(gone))
    expect(both().sort()).to.deep.equal(ids.map((id) => `run work ${id} {"for":"${id}"}`).sort())
  })

  it('keeps a job until a process takes jobs', async () => {
    const first = await queues.open()
    await first.add('work', { id: 'early', input: 1 })
    const { dispatch } = await started()
    await dispatch.when((events) => events.length === 1)
    expect(dispatch.events).to.deep.equal(['run work early 1'])
    dispatch.finish('early')
  })

  it('ends a running job from another process', async () => {
    const owner = await started()
    const other = await queues.open()
    await owner.jobs.add('work', { id: 'long', input: null })
    await owner.dispatch.when((events) => events.length === 1)
    await other.cancel('long')
    await owner.dispatch.when((events) => events.length === 2)
    expect(owner.dispatch.events).to.deep.equal(['run work long null', 'abort long cancelled'])
    await gone('long')
  })

  it('keeps a job that is cancelled from beginning, and runs its end', async () => {
    const busy = await started()
    const ids = Array.from({ length: 64 }, (_, index) => `busy-${index}`)
    await Promise.all(ids.map((id) => busy.jobs.add('work', { id, input: null })))
    await busy.dispatch.when((events) => events.length === ids.length)
    await busy.jobs.add('work', { id: 'waiting', input: null })
    await busy.jobs.cancel('waiting')
    expect(busy.dispatch.events.at(-1)).to.equal('end work waiting cancelled')
    await gone('waiting')
    ids.forEach((id) => busy.dispatch.finish(id))
    await Promise.all(ids.map(gone))
    expect(busy.dispatch.events).to.have.length(ids.length + 1)
  })

  it('does nothing for a job that is over or never was', async () => {
    const { jobs, dispatch } = await started()
    await jobs.cancel('nobody')
    expect(dispatch.events).to.deep.equal([])
  })

  it('leaves a job to a process that has its pipeline, and cancels it until then', async function () {
    const old = await started('new')
    await old.jobs.add('new', { id: 'first', input: null })
    await until(async () => (await queues.client.zcard('sluice:jobs:delayed')) === 1)
    await old.jobs.cancel('first')
    await gone('first')
    expect(old.dispatch.events).to.deep.equal(['lacks new first null', 'end new first cancelled'])
    await old.jobs.add('new', { id: 'second', input: null })
    await old.dispatch.when((events) => events.length === 4)
    await old.jobs.drain(0, 1000)
    const fresh = await started()
    await fresh.dispatch.when((events) => events.length === 1)
    expect(fresh.dispatch.events).to.deep.equal(['run new second null'])
    fresh.dispatch.finish('second')
    await gone('second')
    const told = queues.lines.filter((line) => line.includes('a job waits for its pipeline'))
    expect(told.map((line) => (JSON.parse(line) as { id: string }).id)).to.deep.equal(['first', 'second'])
  })

  it('lets running jobs finish when it drains, then ends them', async () => {
    const { jobs, dispatch } = await started()
    await jobs.add('work', { id: 'quick', input: null })
    await jobs.add('work', { id: 'slow', input: null })
    await dispatch.when((events) => events.length === 2)
    const drained = jobs.drain(50, 5000)
    dispatch.finish('quick')
    await drained
    expect(dispatch.events.slice(2)).to.deep.equal(['abort slow draining'])
    await jobs.add('work', { id: 'next', input: null })
    expect(await queues.client.lrange('sluice:jobs:wait', 0, -1)).to.deep.equal(['next'])
  })

  it('refuses a job that carries too much', async () => {
    const { jobs } = await started()
    const refused = await jobs.add('work', { id: 'fat', input: 'x'.repeat(20_000) }).catch((error: Error) => error)
    expect(refused).to.be.an('error').with.property('message', 'a job for "work" has 20023 bytes; it may have 16384')
  })

  it('rejects at once while the server is away, and says so once', async () => {
    const log = pino({ level: 'info' }, { write: (line: string) => void queues.lines.push(line) })
    const jobs = await openJobs('redis://127.0.0.1:1', log)
    jobs.start(new Recorder())
    const refused = await jobs.add('work', { id: 'any', input: null }).catch((error: GatewayError) => error)
    expect(refused).to.include({ name: 'GatewayError', code: 'store_unavailable' })
    await jobs.drain(0, 100)
    await jobs.close()
    expect(queues.lines.map((line) => (JSON.parse(line) as { msg: string }).msg)).to.deep.equal([
      'the job queue cannot be reached',
    ])
  })

  describe('whose owner is silent', () => {
    const slowly = (title: string, test: (queues: Queues) => Promise<void>) =>
      sideBySide(title, async (context) => {
        const service = await redis(context)
        const own = queuesAt(service.url)
        try {
          await test(own)
        } finally {
          await own.clear()
          own.client.disconnect()
          await service.stop()
        }
      })

    slowly('ends a job whose process was cut off, elsewhere, although that one is full', async ({ started }) => {
      const lost = await started()
      await lost.jobs.add('work', { id: 'orphan', input: null })
      await lost.dispatch.when((events) => events.length === 1)
      const full = await started()
      // The lost process has room for all but one of these; it must not take any.
      await lost.jobs.close()
      const ids = Array.from({ length: 64 }, (_, index) => `busy-${index}`)
      await Promise.all(ids.map((id) => full.jobs.add('work', { id, input: null })))
      await full.dispatch.when((events) => events.some((event) => event.startsWith('end')))
      expect(full.dispatch.events.at(-1)).to.equal('end work orphan worker_lost')
      expect(full.dispatch.events.filter((event) => event.includes('orphan'))).to.have.length(1)
      expect(lost.dispatch.events).to.deep.equal(['run work orphan null'])
      ids.forEach((id) => full.dispatch.finish(id))
      lost.dispatch.finish('orphan')
    })

    slowly(
      'goes on with a job that it lost by being silent for too long, if nobody else has it',
      async ({ client, lines, started, gone }) => {
        const { jobs, dispatch } = await started()
        const ids = Array.from({ length: 10 }, (_, index) => `silent-${index}`)
        const told = () => lines.map((line) => JSON.parse(line) as { id?: string; level: number; msg: string })
        const goingOn = (since: number) =>
          new Set(
            told().flatMap(
              ({ id, msg }, at) => (at >= since && msg.startsWith('this process continues a job') && id) || [],
            ),
          )
        const locks = ids.map((id) => `sluice:jobs:${id}:lock`)
        await Promise.all(ids.map((id) => jobs.add('work', { id, input: null })))
        await dispatch.when((events) => events.length === ids.length)
        // Looks for lost jobs come every two seconds, signs of life every two and a half: in four rounds, at every distance.
        for (let round = 0; round < 4; round++) {
          const since = lines.length
          await client.del(...locks)
          await until(() => goingOn(since).size === ids.length)
          await until(async () => (await client.exists(...locks)) === ids.length)
        }
        ids.forEach((id) => dispatch.finish(id))
        await Promise.all(ids.map(gone))
        expect(dispatch.events.toSorted()).to.deep.equal(ids.map((id) => `run work ${id} null`))
        expect(told().filter(({ level }) => level > 30)).to.deep.equal([])
      },
    )

    slowly('leaves a job to the newer of two tokens of its own worker', async ({ client, lines, started }) => {
      const { jobs, dispatch } = await started()
      await jobs.add('work', { id: 'again', input: null })
      await dispatch.when((events) => events.length === 1)
      // As if this process had taken it anew a moment ago, and not yet heard of it.
      const lock = 'sluice:jobs:again:lock'
      const worker = (await client.get(lock))?.split(':')[0] ?? ''
      await client.set(lock, `${worker}:1000000`, 'PX', 600_000)
      await until(() => lines.some((line) => line.includes('continues a job')))
      expect(await client.get(lock)).to.equal(`${worker}:1000000`)
      expect(dispatch.events).to.deep.equal(['run work again null'])
    })

    slowly('ends a job once that another process has by now', async ({ client, started }) => {
      const { jobs, dispatch } = await started()
      await jobs.add('work', { id: 'silent', input: null })
      await dispatch.when((events) => events.length === 1)
      await client.set('sluice:jobs:silent:lock', 'another', 'PX', 600_000)
      await dispatch.when((events) => events.length === 2)
      expect(dispatch.events).to.deep.equal(['run work silent null', 'abort silent worker_lost'])
      expect(await client.get('sluice:jobs:silent:lock')).to.equal('another')
    })

    slowly(
      'keeps a job in the queue until its end is written, and never runs it again',
      async ({ client, started, gone }) => {
        const { jobs, dispatch } = await started()
        dispatch.failing = 1
        await jobs.add('work', { id: 'full', input: null })
        await dispatch.when((events) => events.length === 1)
        dispatch.fail('full')
        for (const count of [2, 3]) {
          // As if this process had owned it for as long as it may.
          await client.del('sluice:jobs:full:lock')
          await dispatch.when((events) => events.length === count)
        }
        await gone('full')
        const ended = 'end work full worker_lost'
        expect(dispatch.events).to.deep.equal(['run work full null', ended, ended])
      },
    )

    slowly(
      'ends a job that was cancelled while its process could not hear of it',
      async ({ client, open, started, gone }) => {
        const owner = await started()
        const other = await open()
        await owner.jobs.add('work', { id: 'deaf', input: null })
        await owner.dispatch.when((events) => events.length === 1)
        await client.call('CLIENT', 'KILL', 'TYPE', 'pubsub')
        await other.cancel('deaf')
        await owner.dispatch.when((events) => events.length === 2)
        expect(owner.dispatch.events[1]).to.equal('abort deaf cancelled')
        await gone('deaf')
      },
    )
  })
})
