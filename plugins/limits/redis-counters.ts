import { randomUUID } from 'node:crypto'
import type { Redis } from 'ioredis'
import type {
  Giving,
  Hold,
  Reserved,
  Reserving,
  Seed,
  Settling,
  SharedCounters,
  Sum,
  SumState,
  Taken,
  Taking,
} from './counters.ts'
import { placeWait } from './memory-counters.ts'
import { Patience } from './patience.ts'
import { GIVE, HOLD, READ, RESERVE, RESET, RUNNING, SEED, SENTINEL, SETTLE, TAKE } from './redis-scripts.ts'

/** Runs a script. Resolves to its reply, whose numbers are texts. */
type Script = (key: string, sentinel: string, now: string, call: string) => Promise<readonly string[]>

const scripts = {
  limitsTake: TAKE,
  limitsGive: GIVE,
  limitsReserve: RESERVE,
  limitsSettle: SETTLE,
  limitsSeed: SEED,
  limitsRead: READ,
  limitsReset: RESET,
  limitsHold: HOLD,
  limitsRunning: RUNNING,
} as const

type Name = keyof typeof scripts
type Scripted = Redis & { readonly [N in Name]: Script }

/** Milliseconds for which a process counts as running after it was last heard of. */
const ALIVE = 15_000

/**
 * Milliseconds for which places and money are held after their process was last heard of, and between two times that it
 * tells what it holds: a little less than two looks of the service.
 */
const LEASE = 25_000
const BEAT = 9_000

/** Holds that are put back by one call. */
const BATCH = 200

export interface RedisCountersOptions {
  /** What this process holds at present, to be put back when the server has lost it. */
  readonly holds?: () => readonly Hold[]
  /** Milliseconds since 1970; default: the clock of the server. */
  readonly clock?: () => number
  /** Milliseconds for which a process that tells nothing keeps what it holds; default: 25 seconds. */
  readonly lease?: number
}

/**
 * Counters in Redis (7 or later), shared by all processes: one script, and so one round trip, per call. When the server
 * has lost its contents, the sentinel is gone: the call then puts the holds of this process back first. Every call
 * rejects while the server does not answer. What a process holds is leased: it is free again soon after the process was
 * killed, except for runs in the background, which another process takes over or ends.
 */
export class RedisCounters implements SharedCounters {
  readonly beat = BEAT
  readonly #redis: Scripted
  readonly #options: RedisCountersOptions
  readonly #process = randomUUID()
  readonly #patience = new Patience()
  #sentinel: string | undefined
  #greeting: Promise<string> | undefined

  constructor(redis: Redis, options: RedisCountersOptions = {}) {
    this.#redis = redis as Scripted
    this.#options = options
    for (const [name, lua] of Object.entries(scripts)) redis.defineCommand(name, { numberOfKeys: 1, lua })
  }

  async take(taking: Taking): Promise<Taken> {
    const { id, rates, places, forced = false } = taking
    const lasts = this.#lasting({ ...taking, isRun: forced })
    const [missing, wait, ...numbers] = await this.#run('limitsTake', {
      id,
      lasts,
      rates,
      places,
      forced,
      wait: placeWait,
      silent: Math.floor(lasts / 2),
    })
    const levels = rates.map((_, index) => ({
      remaining: Number(numbers[2 * index]),
      full: Number(numbers[2 * index + 1]),
    }))
    return missing === '0' ? { levels } : { levels, refused: { index: Number(missing) - 1, wait: Number(wait) } }
  }

  async give(giving: Giving): Promise<void> {
    await this.#run('limitsGive', giving)
  }

  async reserve({ id, lasts, sums, estimates, input, isRun = false }: Reserving): Promise<Reserved> {
    const reserving = { id, lasts: this.#lasting({ lasts, isRun }), sums, estimates, input }
    const [outcome, ...texts] = await this.#run('limitsReserve', reserving)
    const [first = 0, second = 0, third = 0, fourth = 0] = texts.map(Number)
    if (outcome === 'unknown') return { unknown: texts.map((index) => Number(index) - 1) }
    if (outcome === 'refused') return { refused: first - 1, state: { spent: second, held: third, since: fourth } }
    return { at: first, held: second, left: texts.slice(2).map(Number) }
  }

  async settle({ id, sums, micros }: Settling): Promise<number | undefined> {
    const [charged] = await this.#run('limitsSettle', { id, sums, micros })
    return charged === undefined ? undefined : Number(charged)
  }

  async seed(seeds: readonly Seed[]): Promise<void> {
    await this.#run('limitsSeed', { seeds })
  }

  async read(sums: readonly Sum[]): Promise<readonly (SumState | undefined)[]> {
    const states = await this.#run('limitsRead', { sums })
    return states.map((state) => {
      if (state === '') return undefined
      const [spent = 0, held = 0, since = 0] = state.split(' ').map(Number)
      return { spent, held, since }
    })
  }

  async reset(bucket: string, at: number): Promise<void> {
    await this.#run('limitsReset', { bucket, at })
  }

  async hold(holds: readonly Hold[]): Promise<void> {
    await this.#put(holds, (call) => this.#run('limitsHold', call))
  }

  async passOn(hold: Hold): Promise<void> {
    await this.#run('limitsHold', { holds: [{ ...hold, isRun: true }], existing: true })
  }

  /** Tells that this process is running. Resolves to the number of those that do. */
  async processes(): Promise<number> {
    const [count] = await this.#run('limitsRunning', { process: this.#process, lasts: ALIVE })
    return Number(count)
  }

  /** Makes sure that the server answers, and that it has the holds of this process. */
  async greet(): Promise<void> {
    this.#sentinel = undefined
    await this.#greet()
  }

  /** @param call computed again whenever it is sent */
  async #run(name: Name, call: object | (() => object)): Promise<readonly string[]> {
    for (;;) {
      const sentinel = this.#sentinel ?? (await this.#greet())
      const reply = await this.#send(name, sentinel, typeof call === 'function' ? (call as () => object)() : call)
      if (reply[0] !== 'lost') return reply
      if (this.#sentinel === sentinel) this.#sentinel = undefined
    }
  }

  #send(name: Name, sentinel: string, call: object): Promise<readonly string[]> {
    const { clock } = this.#options
    return this.#patience.for(this.#redis[name](SENTINEL, sentinel, clock ? String(clock()) : '', JSON.stringify(call)))
  }

  /** Puts holds back in batches. What has ended by the time of its batch must not come back: nobody would end it. */
  async #put(holds: readonly Hold[], send: (call: () => object) => Promise<unknown>): Promise<void> {
    for (let at = 0; at < holds.length; at += BATCH) {
      const batch = holds.slice(at, at + BATCH)
      await send(() => ({ holds: this.#present(batch).map((one) => ({ ...one, lasts: this.#lasting(one) })) }))
    }
  }

  #lasting({ lasts, isRun }: Pick<Hold, 'lasts' | 'isRun'>): number {
    return isRun ? lasts : Math.min(lasts, this.#options.lease ?? LEASE)
  }

  #present(batch: readonly Hold[]): readonly Hold[] {
    const all = this.#options.holds?.()
    if (all === undefined) return batch
    const present = new Map(all.map((one) => [one.id, one]))
    return batch.flatMap(({ id }) => present.get(id) ?? [])
  }

  #greet(): Promise<string> {
    return (this.#greeting ??= this.#meet().finally(() => (this.#greeting = undefined)))
  }

  async #meet(): Promise<string> {
    await this.#patience.for(this.#redis.set(SENTINEL, randomUUID(), 'NX'))
    const sentinel = (await this.#patience.for(this.#redis.get(SENTINEL))) ?? ''
    // From now on, calls do not wait for this one.
    this.#sentinel = sentinel
    // Not by `#run`, which would wait for this call.
    await this.#put(this.#options.holds?.() ?? [], async (call) => {
      const [outcome] = await this.#send('limitsHold', sentinel, call())
      if (outcome === 'lost') throw new Error('the server has lost its contents again')
    })
    return sentinel
  }
}
