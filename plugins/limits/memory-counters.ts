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
import { fullBucket, levelOf, partsPerUnit, refill, waitFor } from './level.ts'
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
    for (const rate of rates) this.#filled(rate, now)
    const refused = forced ? undefined : this.#refusal(taking, now)
    const levels = rates.map((rate) => {
      const bucket = this.#bucketOf(rate, now)
      if (!refused) bucket.level -= partsOf(rate)
      return levelOf(bucket)
    })
    if (refused) return { levels, refused }
    for (const { bucket } of places) this.#placesOf(bucket, now).set(id, true, now + lasts)
    return { levels }
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
    const at = this.#clock()
    const left = sums.map(() => 0)
    let unknown: number[] | undefined
    let admits = Infinity
    let tightest = 0
    for (let index = 0; index < sums.length; index++) {
      const sum = sums[index] as Sum
      const purse = this.#purseOf(sum.bucket)
      if (!purse.knows(sum, now, at)) (unknown ??= []).push(index)
      else {
        const rest = (left[index] = purse.left(sum, id))
        const most = purse.admits(rest, id)
        if (most < admits) [admits, tightest] = [most, index]
      }
    }
    if (unknown) return { unknown }
    const held = admitted(estimates, admits)
    if (held === undefined) {
      const sum = sums[tightest] as Sum
      return { refused: tightest, state: this.#purseOf(sum.bucket).state(sum, now, at) ?? none }
    }
    const money = { micros: held, input, at }
    for (let index = 0; index < sums.length; index++) {
      this.#purseOf((sums[index] as Sum).bucket).hold(id, money, now + lasts)
      left[index] = Math.max(0, (left[index] as number) - held)
    }
    return { at, held, left }
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
    const bucket = this.#bucketOf(rate, now)
    refill(bucket, rate, now)
    return bucket
  }

  #bucketOf(rate: Rate, now: number): TokenBucket {
    const buckets = this.#rates[rate.counts]
    let bucket = buckets.get(rate.bucket)
    if (!bucket) buckets.set(rate.bucket, (bucket = fullBucket(rate, now)))
    return bucket
  }

  /** What is missing for longest; undefined: nothing. */
  #refusal({ id, rates, places }: Taking, now: number): Taken['refused'] {
    let [longest, at] = [0, 0]
    for (let index = 0; index < rates.length + places.length; index++) {
      const rate = rates[index]
      const place = places[index - rates.length]
      const isFree = place === undefined || this.#hasPlace(place.bucket, place.limit, id, now)
      const wait = rate ? waitFor(this.#bucketOf(rate, now), partsOf(rate)) : isFree ? 0 : placeWait
      if (wait > longest) [longest, at] = [wait, index]
    }
    return longest > 0 ? { index: at, wait: longest } : undefined
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
      for (const [name, bucket] of buckets) {
        refill(bucket, bucket, now)
        if (levelOf(bucket).full === 0) buckets.delete(name)
      }
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

/** The first estimate that is admitted. */
function admitted(estimates: readonly number[], most: number): number | undefined {
  for (const estimate of estimates) if (estimate <= most) return estimate
  return undefined
}

function partsOf({ amount, limit }: Rate): number {
  return amount * partsPerUnit(limit)
}
