import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect } from 'chai'
import { WorkError, WorkerPool } from '../../../engine/workers/pool.ts'
import type { WorkFailure } from '../../../engine/workers/pool.ts'
import type { Order } from './tasks.ts'

const tasks = new URL('./tasks.ts', import.meta.url)
const ample = 600_000

describe('WorkerPool', function () {
  let pool: WorkerPool

  const open = (options: ConstructorParameters<typeof WorkerPool>[0]) => (pool = new WorkerPool(options))
  const run = (order: Order, deadline = ample) => pool.run<Order, unknown>(tasks, order, deadline)

  async function failureOf(promise: Promise<unknown>): Promise<WorkError> {
    const thrown: unknown = await promise.then(
      () => undefined,
      (error: unknown) => error,
    )
    if (!(thrown instanceof WorkError)) throw new Error('expected a WorkError', { cause: thrown })
    return thrown
  }

  async function fails(promise: Promise<unknown>, failure: WorkFailure): Promise<void> {
    expect((await failureOf(promise)).failure).to.equal(failure)
  }

  afterEach(() => pool.close())

  it('runs in another thread, and a module keeps its state there', async () => {
    open({ threads: 1 })
    expect(await run('thread')).to.be.greaterThan(0)
    expect(await run('count')).to.equal(2)
    expect(await run('count')).to.equal(3)
  })

  it('hands on what a task throws, and keeps the thread', async () => {
    open({ threads: 1 })
    const error = await failureOf(run('throw'))
    expect([error.failure, error.message]).to.deep.equal(['threw', 'The task failed.'])
    const cause = error.cause as Error
    expect([cause.name, cause.message]).to.deep.equal(['RangeError', 'out of cheese'])
    expect(cause.stack).to.include('tasks.ts')
    expect(((await failureOf(run('throw text'))).cause as Error).message).to.equal('a text')
    expect(await run('count')).to.equal(3)
  })

  it('fails a task whose module is not there', async () => {
    open({ threads: 1 })
    await fails(pool.run(new URL('./missing.ts', import.meta.url), null, ample), 'threw')
  })

  for (const order of ['exit', 'throw later', 'memory', 'uncloneable'] as const) {
    it(`survives a task that ends its thread (${order}), and serves again`, async () => {
      open({ threads: 1, memory: 32 })
      await fails(run(order), 'died')
      expect(await run('count')).to.equal(1)
    })
  }

  it('ends an endless loop at its deadline, and serves again', async () => {
    open({ threads: 1 })
    await run('count')
    const error = await failureOf(run('loop', 50))
    expect([error.failure, error.message]).to.deep.equal(['late', 'The task was not done within 50 ms.'])
    expect(await run('count')).to.equal(1)
  })

  it('is late at once when there is no time left', async () => {
    open({ threads: 1 })
    await fails(run('count', 0), 'late')
    await fails(run('count', -5), 'late')
  })

  it('refuses what exceeds the queue, and serves those who waited after a loop was ended', async () => {
    open({ threads: 1, queue: 2 })
    await run('count')
    const looping = failureOf(run('loop', 200))
    const waiting = [run('count'), run('count')]
    const error = await failureOf(run('count'))
    expect([error.failure, error.message]).to.deep.equal(['full', '2 tasks wait for a worker thread already.'])
    expect((await looping).failure).to.equal('late')
    expect(await Promise.all(waiting)).to.deep.equal([1, 2])
  })

  it('gives up waiting at the deadline, which frees the place in the queue', async () => {
    open({ threads: 1, queue: 1 })
    await run('count')
    const looping = failureOf(run('loop', 400))
    await fails(run('count', 50), 'late')
    expect(await run('count')).to.equal(1)
    expect((await looping).failure).to.equal('late')
  })

  it('rejects what waits and what runs when it closes, and everything after', async () => {
    open({ threads: 1, queue: 2 })
    await run('count')
    const outcomes = [failureOf(run('loop')), failureOf(run('count')), failureOf(run('count'))]
    await pool.close()
    expect((await Promise.all(outcomes)).map(({ failure }) => failure)).to.deep.equal(['closed', 'closed', 'closed'])
    await fails(run('count'), 'closed')
  })

  it('lets a late task go on for its grace, and keeps the thread if it ends by then', async () => {
    open({ threads: 1 })
    const thread = await run('thread')
    await fails(pool.run<Order, unknown>(tasks, 'linger', 10, ample), 'late')
    expect(await run('thread')).to.equal(thread)
    await fails(pool.run<Order, unknown>(tasks, 'loop', 10, 50), 'late')
    expect(await run('thread')).not.to.equal(thread)
  })

  it('keeps modules loaded: before any task, in every new thread, and again after a thread died', async () => {
    const seen: string[] = []
    open({ threads: 1, idle: 300, onError: (error) => seen.push(error.message) })
    const marked = new URL('./loaded.ts', import.meta.url)
    const release = pool.keep([marked])
    const loaded = () => pool.run<Order, unknown>(tasks, 'loaded', ample)
    // The module is not asked for by the task: it is there, or it is not.
    expect(await loaded()).to.equal(true)
    await fails(run('exit'), 'died')
    expect(await loaded()).to.equal(true)
    release()
    await fails(run('exit'), 'died')
    expect(await loaded()).to.equal(false)
    expect(seen).to.deep.equal([])
  })

  it('does not keep the process alive', async () => {
    open({})
    const { stdout } = await promisify(execFile)(process.execPath, [
      fileURLToPath(new URL('./idle.ts', import.meta.url)),
    ])
    expect(stdout).to.equal('1\n')
  })
})
