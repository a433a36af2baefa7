import type {
  Counters,
  Giving,
  Hold,
  Rate,
  Reserved,
  Reserving,
  Seed,
  Settling,
  Sum,
  SumState,
  Taken,
  Taking,
} from './counters.ts'
import { Leases } from './leases.ts'
import { levelOf, partsPerUnit, refilled, waitFor } from './level.ts'
import type { TokenBucket } from './level.ts'
import { Purse } from './purse.ts'

/** Milliseconds to wait for a place: nobody knows when one will be free. */
export const placeWait = 1_000

/** Milliseconds between two searches for what can be forgotten, and after which an unused purse is. */
const SWEEP = 60_000
const FORGOTTEN = 3_600_000

/** Counters in the memory of one process. */
export class MemoryCounters implements Counters {
  readonly #clock: () => number
  readonly #steady: () => number
  readonly #rates = { requests: new Map<string, TokenBucket>(), tokens: new Map<string, TokenBucket>() }
  readonly #places = new Map<string, Leases<true>>()
  readonly #purses = new Map<string, Purse>()
  #swept: number

  /**
   * @param clock milliseconds since 1970, for the periods of budgets
   * @param steady milliseconds, whole ones, for what lasts: a wall clock that is set fills no bucket
   */
  constructor(clock: () => number = Date.now, steady: () => number = clock === Date.now ? uptime : clock) {
    this.#clock = clock
    this.#steady = steady
    this.#swept = steady()
  }

  take(taking: Taking): Taken {
    const { id, lasts, rates, places, forced = false } = taking
    const now = this.#now()
    const buckets = rates.map((rate) => this.#filled(rate, now))
    if (!forced) {
      const refused = this.#refusal(taking, buckets, now)
      if (refused) return { levels: buckets.map(levelOf), refused }
    }
    for (const [index, bucket] of buckets.entries()) bucket.level -= partsOf(rates[index] as Rate)
    for (const { bucket } of places) this.#placesOf(bucket, now).set(id, true, now + lasts)
    return { levels: buckets.map(levelOf) }
  }

  give({ id, rates, places }: Giving): void {
    const now = this.#now()
    for (const rate of rates) {
      const bucket = this.#filled(rate, now)
      bucket.level = Math.min(bucket.level + partsOf(rate), rate.limit * partsPerUnit(rate.limit))
    }
    for (const bucket of places) this.#places.get(bucket)?.delete(id)
  }

  reserve({ id, lasts, sums, estimates, input }: Reserving): Reserved {
    const now = this.#now()
    const rooms = sums.map((sum) => {
      const purse = this.#purseOf(sum.bucket)
      const state = purse.state(sum, now, this.#clock())
      return state && purse.room(sum, id, state)
    })
    const unknown = rooms.flatMap((room, index) => (room ? [] : [index]))
    if (unknown.length > 0) return { unknown }
    const known = rooms.filter((room) => room !== undefined)
    const admits = Math.min(...known.map((room) => room.admits))
    const refused = known.findIndex((room) => room.admits === admits)
    const held = estimates.find((estimate) => estimate <= admits)
    if (held === undefined) return { refused, state: (known[refused] ?? { state: none }).state }
    const at = this.#clock()
    for (const { bucket } of sums) this.#purseOf(bucket).hold(id, { micros: held, input, at }, now + lasts)
    return { at, held, left: known.map(({ left }) => Math.max(0, left - held)) }
  }

  settle({ id, sums, micros }: Settling): number | undefined {
    let charged: number | undefined
    for (const bucket of sums) charged = this.#purses.get(bucket)?.settle(id, micros) ?? charged
    return charged
  }

  seed(seeds: readonly Seed[]): void {
    for (const seed of seeds) this.#purseOf(seed.bucket).seed(seed)
  }

  read(sums: readonly Sum[]): (SumState | undefined)[] {
    const now = this.#now()
    return sums.map((sum) => this.#purseOf(sum.bucket).state(sum, now, this.#clock()))
  }

  reset(bucket: string, at: number): void {
    this.#purses.get(bucket)?.reset(at)
  }

  hold(holds: readonly Hold[]): void {
    const now = this.#now()
    for (const { id, lasts, places, sums, ...money } of holds) {
      for (const bucket of places) this.#placesOf(bucket, now).set(id, true, now + lasts)
      for (const bucket of sums) this.#purseOf(bucket).hold(id, money, now + lasts)
    }
  }

  #filled(rate: Rate, now: number): TokenBucket {
    const buckets = this.#rates[rate.counts]
    const bucket = refilled(buckets.get(rate.bucket), rate, now)
    buckets.set(rate.bucket, bucket)
    return bucket
  }

  /** What is missing for longest; undefined: nothing. */
  #refusal({ id, rates, places }: Taking, buckets: readonly TokenBucket[], now: number): Taken['refused'] {
    let longest: Taken['refused']
    const miss = (index: number, wait: number) => {
      if (wait > (longest?.wait ?? 0)) longest = { index, wait }
    }
    for (const [index, rate] of rates.entries()) miss(index, waitFor(buckets[index] as TokenBucket, partsOf(rate)))
    for (const [index, { bucket, limit }] of places.entries())
      if (!this.#hasPlace(bucket, limit, id, now)) miss(rates.length + index, placeWait)
    return longest
  }

  #hasPlace(bucket: string, limit: number, id: string, now: number): boolean {
    const taken = this.#placesOf(bucket, now)
    return taken.size < limit || taken.get(id) !== undefined
  }

  #placesOf(bucket: string, now: number): Leases<true> {
    let taken = this.#places.get(bucket)
    if (!taken) this.#places.set(bucket, (taken = new Leases()))
    taken.expire(now)
    return taken
  }

  #purseOf(bucket: string): Purse {
    let purse = this.#purses.get(bucket)
    if (!purse) this.#purses.set(bucket, (purse = new Purse(this.#steady())))
    return purse
  }

  #now(): number {
    const now = this.#steady()
    if (now - this.#swept >= SWEEP) this.#sweep(now)
    return now
  }

  /** Forgets what is as good as new: full token buckets, free places, and sums that can be seeded again. */
  #sweep(now: number): void {
    this.#swept = now
    for (const buckets of Object.values(this.#rates))
      for (const [name, bucket] of buckets) if (levelOf(refilled(bucket, bucket, now)).full === 0) buckets.delete(name)
    for (const [bucket, taken] of this.#places) {
      taken.expire(now)
      if (taken.size === 0) this.#places.delete(bucket)
    }
    for (const [bucket, purse] of this.#purses)
      if (purse.isEmpty && now - purse.used > FORGOTTEN) this.#purses.delete(bucket)
  }
}

function uptime(): number {
  return Math.floor(performance.now())
}

const none: SumState = { spent: 0, held: 0, since: 0 }

function partsOf({ amount, limit }: Rate): number {
  return amount * partsPerUnit(limit)
}
