import type { Hold, Seed, Sum, SumState } from './counters.ts'
import { Leases } from './leases.ts'
import type { Period, Starts } from './period.ts'

interface Spent {
  since: number
  spent: number
  /** What was spent when the sum became known here. */
  known: number
}

type HeldMoney = Pick<Hold, 'micros' | 'input' | 'at'>

/** The money of one bucket, in the memory of this process. */
export class Purse {
  readonly #sums = new Map<Period, Spent>()
  readonly #holds = new Leases<HeldMoney>()
  #held = 0
  /** When it was last used, in milliseconds. */
  used: number

  constructor(now: number) {
    this.used = now
  }

  get isEmpty(): boolean {
    return this.#holds.size === 0
  }

  /**
   * The state of a sum in the current period; undefined: it must be seeded first.
   * @param now on the clock of the holds
   * @param wall milliseconds since 1970
   */
  state(sum: Pick<Sum, 'period' | 'starts'>, now: number, wall: number): SumState | undefined {
    if (!this.knows(sum, now, wall)) return undefined
    const { since, spent } = this.#sums.get(sum.period) as Spent
    return { since, spent, held: this.#held }
  }

  /** Brings a sum to the current period. Returns false for one that must be seeded first; for the moments see `state`. */
  knows({ period, starts }: Pick<Sum, 'period' | 'starts'>, now: number, wall: number): boolean {
    this.used = now
    for (const { micros } of this.#holds.expire(now)) this.#held -= micros
    const sum = this.#sums.get(period)
    if (!sum) return false
    const start = startNow(starts, wall)
    if (sum.since < start) this.#sums.set(period, { since: start, spent: 0, known: 0 })
    return true
  }

  /** What a known sum still has for an exchange, apart from what that holds already. */
  left({ period, limit, share = 1 }: Sum, id: string): number {
    const { known, spent } = this.#sums.get(period) as Spent
    const allowed = share === 1 ? limit : known + Math.floor(Math.max(0, limit - known) / share)
    return allowed - spent - this.#heldByOthers(id)
  }

  /** The largest estimate that a sum with so much left admits for an exchange. */
  admits(left: number, id: string): number {
    return admitted(left, this.#heldByOthers(id))
  }

  #heldByOthers(id: string): number {
    return this.#held - (this.#holds.get(id)?.micros ?? 0)
  }

  /** Holds money for an exchange, in place of what it holds already. */
  hold(id: string, money: HeldMoney, until: number): void {
    this.#release(id)
    this.#holds.set(id, money, until)
    this.#held += money.micros
  }

  /** Ends a hold, and charges the sums of its time. Returns what was charged; undefined: there is no such hold. */
  settle(id: string, micros: number | 'input'): number | undefined {
    const hold = this.#release(id)
    if (!hold) return undefined
    const charged = micros === 'input' ? hold.input : micros
    for (const sum of this.#sums.values()) if (hold.at >= sum.since) sum.spent += charged
    return charged
  }

  seed({ period, since, spent }: Seed): void {
    const sum = this.#sums.get(period)
    if (!sum || sum.since < since) this.#sums.set(period, { since, spent, known: spent })
    else if (sum.since === since) sum.spent = Math.max(sum.spent, spent)
  }

  reset(at: number): void {
    for (const period of this.#sums.keys()) this.#sums.set(period, { since: at, spent: 0, known: 0 })
  }

  #release(id: string): HeldMoney | undefined {
    const hold = this.#holds.get(id)
    if (hold) this.#held -= hold.micros
    this.#holds.delete(id)
    return hold
  }
}

/**
 * The last request may use up the rest: it is the one request that may go over. Once nothing is left, not even a
 * request that costs nothing is admitted.
 */
function admitted(left: number, held: number): number {
  if (left <= 0) return -1
  return held === 0 ? Infinity : left
}

function startNow([previous, current, next]: Starts, now: number): number {
  if (next > 0 && now >= next) return next
  return now >= current ? current : previous
}
