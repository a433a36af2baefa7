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

/** What a sum still has. */
export interface Room {
  /** The largest estimate that it admits. */
  readonly admits: number
  readonly left: number
  readonly state: SumState
}

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
  state({ period, starts }: Pick<Sum, 'period' | 'starts'>, now: number, wall: number): SumState | undefined {
    this.used = now
    for (const { micros } of this.#holds.expire(now)) this.#held -= micros
    const sum = this.#sums.get(period)
    if (!sum) return undefined
    const start = startNow(starts, wall)
    if (sum.since < start) this.#sums.set(period, { since: start, spent: 0, known: 0 })
    const { since, spent } = this.#sums.get(period) ?? sum
    return { since, spent, held: this.#held }
  }

  /** What a sum still has for an exchange, apart from what that holds already. */
  room({ period, limit, share = 1 }: Sum, id: string, state: SumState): Room {
    const held = state.held - (this.#holds.get(id)?.micros ?? 0)
    const known = this.#sums.get(period)?.known ?? 0
    const allowed = share === 1 ? limit : known + Math.floor(Math.max(0, limit - known) / share)
    const left = allowed - state.spent - held
    return { admits: admitted(left, held), left, state }
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
