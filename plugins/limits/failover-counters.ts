import { GatewayError } from '../../engine/index.ts'
import type { Budget, ServiceHost } from '../../engine/index.ts'
import type { Giving, Reserved, Reserving, Settling, SharedCounters, Sum, SumState, Taken, Taking } from './counters.ts'
import type { Holds } from './holds.ts'
import type { Ledger } from './ledger.ts'
import { MemoryCounters } from './memory-counters.ts'
import { MissedCalls } from './missed-calls.ts'
import type { Missed } from './missed-calls.ts'
import { sumOf } from './money.ts'
import { startsAround } from './period.ts'
import type { BudgetRule } from './rules.ts'
import { SeededCounters } from './seeded-counters.ts'
import type { LimitSettings } from './settings.ts'
import { after } from './soon.ts'
import type { Soon } from './soon.ts'

/** A reservation in the budgets that apply to an exchange. */
export interface Reservable extends Omit<Reserving, 'sums'> {
  readonly budgets: readonly Pick<BudgetRule, 'bucket' | 'budget'>[]
}

/** Who counts: the usual counters, those of this process while the shared ones are away, or nobody. */
export type By = 'usual' | 'local' | 'nobody'

type Known<T> = T & { readonly by: By }

/** A call that takes something, whoever counts. */
interface Calls<T> {
  readonly usual: (counters: SeededCounters) => Soon<T>
  readonly local: (counters: SeededCounters) => Soon<T>
  readonly nobody: () => T
  readonly missed: () => Missed
  /** What this process holds from then on. */
  readonly done: (given: T) => void
}

/** Milliseconds between two attempts to reach shared counters that are away. */
const PROBE = 250

export interface FailoverOptions {
  readonly ledger: Ledger
  readonly log: ServiceHost['log']
  /** What this process holds; shared counters may have to be told again. */
  readonly holds: Holds
  /** Absent: this process counts alone. */
  readonly shared?: SharedCounters | undefined
  /** Called when the shared counters are away. */
  readonly onAway?: () => void
}

/**
 * Counts the exchanges of this process. While shared counters are away, it counts with a share of each limit, or does
 * what the operator wants. When they are back, they learn what was held and spent meanwhile.
 */
export class FailoverCounters {
  readonly #options: FailoverOptions
  readonly #shared: SeededCounters | undefined
  #local: SeededCounters
  /** Runs while the shared counters are away. */
  #probing: NodeJS.Timeout | undefined
  #isProbing = false
  readonly #missed = new MissedCalls()
  readonly #sums = new WeakMap<object, Sum>()
  readonly #lists = new WeakMap<Reservable['budgets'], readonly Sum[]>()
  /** The part that this process has of each sum while it counts alone. */
  readonly #parts = new WeakMap<Sum, Sum>()
  #processes = 1
  #renewed = performance.now()
  #closed = false
  /** What happens while the shared counters are away. */
  onFailure: LimitSettings['on_store_failure'] = 'local'

  constructor(options: FailoverOptions) {
    this.#options = options
    const { shared, ledger } = options
    this.#shared = shared && new SeededCounters(shared, ledger)
    this.#local = new SeededCounters(new MemoryCounters(), ledger)
  }

  /** Rejects with `store_unavailable` if nothing may be admitted without the shared counters. */
  take(taking: Taking): Soon<Known<Taken>> {
    // Nobody else has to learn what a process holds that counts alone.
    if (!this.#shared)
      return after(this.#local.counters.take(taking), ({ levels, refused }) =>
        refused ? { levels, refused, by: 'usual' } : { levels, by: 'usual' },
      )
    const { id, places } = taking
    return this.#call<Taken>(this.#shared, {
      usual: ({ counters }) => counters.take(taking),
      local: ({ counters }) => counters.take(this.#shareOf(taking)),
      nobody: () => ({ levels: [] }),
      missed: () => ({ give: { id, rates: [], places: places.map(({ bucket }) => bucket) } }),
      done: (taken) => this.#options.holds.took(taking, taken),
    })
  }

  /** @param by who has counted what goes back */
  give(giving: Giving, by: By): Soon<void> {
    if (!this.#shared) return this.#local.counters.give(giving)
    this.#options.holds.gave(giving)
    if (by === 'nobody') return undefined
    // What somebody else has counted must not be refilled here.
    const own = { ...giving, rates: (by === 'usual') === (this.#probing === undefined) ? giving.rates : [] }
    return this.#tell({ give: { ...giving, rates: [] } }, ({ counters }) => counters.give(own))
  }

  /** Like `take`, for money. Rejects with `store_unavailable` also if nobody knows what was spent. */
  reserve(reservable: Reservable): Soon<Known<Exclude<Reserved, { readonly unknown: unknown }>>> {
    const now = Date.now()
    const { budgets, id, lasts, estimates, input, isRun = false } = reservable
    const sums = this.#sumsOf(budgets, now)
    const reserving = { id, lasts, estimates, input, isRun, sums }
    if (!this.#shared)
      return after(this.#local.reserve(reserving), (reserved) =>
        'refused' in reserved
          ? { ...reserved, by: 'usual' }
          : { at: reserved.at, held: reserved.held, left: reserved.left, by: 'usual' },
      )
    return this.#call<Exclude<Reserved, { readonly unknown: unknown }>>(this.#shared, {
      usual: (counters) => counters.reserve(reserving),
      local: (counters) => counters.reserve({ ...reserving, sums: sums.map((sum) => this.#partOf(sum)) }),
      nobody: () => ({ at: now, held: estimates[0] ?? 0, left: [] }),
      missed: () => ({ settle: { id, sums: sums.map(({ bucket }) => bucket), micros: 0 } }),
      done: (reserved) => this.#options.holds.reserved(reserving, reserved),
    })
  }

  /** This process's part of a sum: one object for each sum, since counters remember the sums that they used. */
  #partOf(sum: Sum): Sum {
    const known = this.#parts.get(sum)
    if (known?.share === this.#processes) return known
    const part = { ...sum, share: this.#processes }
    this.#parts.set(sum, part)
    return part
  }

  settle(settling: Settling): Soon<number | undefined> {
    if (!this.#shared) return this.#local.counters.settle(settling)
    this.#options.holds.settled(settling)
    return this.#tell({ settle: settling }, ({ counters }) => counters.settle(settling))
  }

  /** The run in the background ends what the exchange holds, in whatever process. */
  async passOn(id: string): Promise<void> {
    const { shared, holds } = this.#options
    const hold = holds.passOn(id)
    if (!shared || !hold || this.#probing) return
    try {
      await shared.passOn(hold)
    } catch (error) {
      this.#turnOff(error)
    }
  }

  async read(budgets: readonly { readonly bucket: string; readonly budget: Budget }[]): Promise<readonly SumState[]> {
    const sums = budgets.map(({ bucket, budget }) => sumOf(bucket, budget, Date.now()))
    if (this.#shared && !this.#probing)
      try {
        return await this.#shared.read(sums)
      } catch (error) {
        this.#turnOff(error)
      }
    return this.#local.read(sums)
  }

  /** Sets all sums of a bucket to zero. Counters that are away learn of it from the ledger. */
  async reset(bucket: string, at: number): Promise<void> {
    await this.#local.counters.reset(bucket, at)
    await this.#tell(undefined, ({ counters }) => counters.reset(bucket, at))
  }

  /** To be called every few seconds: compares sums with the ledger, and tells that this process and its holds are there. */
  async refresh(): Promise<void> {
    const { shared, holds } = this.#options
    if (!shared || this.#probing) return this.#local.compare()
    try {
      this.#processes = await shared.processes()
      const all = holds.all
      const soonest = Math.min(shared.beat, ...all.map(({ lasts }) => lasts / 2))
      if (performance.now() - this.#renewed > soonest) {
        this.#renewed = performance.now()
        await shared.hold(all)
      }
      await this.#shared?.compare()
    } catch (error) {
      this.#turnOff(error)
    }
  }

  close(): void {
    this.#closed = true
    clearInterval(this.#probing)
  }

  /** The sums of budgets now: one list for each list of rules, as long as all periods go on. */
  #sumsOf(budgets: Reservable['budgets'], now: number): readonly Sum[] {
    const known = this.#lists.get(budgets)
    if (known?.every((sum, index) => sum === this.#sumOf(budgets[index] as BudgetRule, now))) return known
    const sums = budgets.map((rule) => this.#sumOf(rule, now))
    this.#lists.set(budgets, sums)
    return sums
  }

  /** The sum of a budget now. Its period starts anew once a day at most. */
  #sumOf(rule: Pick<BudgetRule, 'bucket' | 'budget'>, now: number): Sum {
    const known = this.#sums.get(rule)
    if (known?.starts === startsAround(rule.budget.period, now)) return known
    const sum = sumOf(rule.bucket, rule.budget, now)
    this.#sums.set(rule, sum)
    return sum
  }

  async #call<T>(shared: SeededCounters, calls: Calls<T>): Promise<Known<T>> {
    const given = await this.#ask(shared, calls)
    calls.done(given)
    return given
  }

  async #ask<T>(shared: SeededCounters, { usual, local, nobody, missed }: Calls<T>): Promise<Known<T>> {
    if (!this.#probing)
      try {
        return { ...(await usual(shared)), by: 'usual' }
      } catch (error) {
        this.#turnOff(error)
        this.#missed.unanswered(missed())
      }
    if (this.onFailure === 'closed') throw new GatewayError('store_unavailable', {}, { retryAfter: 1 })
    if (this.onFailure === 'open') return { ...nobody(), by: 'nobody' }
    return { ...(await local(this.#local)), by: 'local' }
  }

  /** Tells whoever counts. Shared counters that are away are told later. */
  async #tell<T>(missed: Missed | undefined, tell: (counters: SeededCounters) => Soon<T>): Promise<T | undefined> {
    if (this.#shared && !this.#probing)
      try {
        return await tell(this.#shared)
      } catch (error) {
        this.#turnOff(error)
        if (missed) this.#missed.unanswered(missed)
        return tell(this.#local)
      }
    // A probe may tell them of this exchange before it ends.
    if (this.#shared && missed) this.#missed.add(missed, this.#isProbing)
    return tell(this.#local)
  }

  /** The share of this process in what all may take together. */
  #shareOf(taking: Taking): Taking {
    const shareOf = (limit: number) => Math.max(1, Math.floor(limit / this.#processes))
    return {
      ...taking,
      rates: taking.rates.map((rate) => {
        const limit = shareOf(rate.limit)
        return { ...rate, limit, amount: Math.min(rate.amount, limit) }
      }),
      places: taking.places.map((places) => ({ ...places, limit: shareOf(places.limit) })),
    }
  }

  /** The shared counters are away. Throws what is the fault of somebody else. */
  #turnOff(error: unknown): void {
    if (error instanceof GatewayError) throw error
    if (this.#probing || this.#closed) return
    const { log, holds, ledger, onAway } = this.#options
    log.warn({ err: error }, 'the shared counters of limits are away')
    this.#local = new SeededCounters(new MemoryCounters(), ledger)
    void this.#local.counters.hold(holds.all)
    this.#missed.hold(holds.all)
    this.#probing = setInterval(() => void this.#probe(), PROBE).unref()
    onAway?.()
  }

  async #probe(): Promise<void> {
    const { log } = this.#options
    if (!this.#shared || this.#isProbing) return
    this.#isProbing = true
    try {
      await this.#tellMissed()
      this.#shared.adopt(this.#local)
      await this.#shared.compare()
    } catch (error) {
      // The counters answer, and the database does not: what they know has to do.
      if (!(error instanceof GatewayError)) return this.#missed.forgetOthers()
    } finally {
      this.#isProbing = false
    }
    clearInterval(this.#probing)
    this.#probing = undefined
    log.info('the shared counters of limits are back')
    // What began or ended during the comparison.
    await this.#tellMissed().then(
      () => void (this.#probing || this.#missed.clear()),
      (error: unknown) => this.#turnOff(error),
    )
  }

  /** Tells the shared counters what they have missed. Rejects if they are away, and then keeps the rest. */
  async #tellMissed(): Promise<void> {
    const { shared, holds } = this.#options
    if (!shared) return
    await shared.greet()
    this.#missed.hold(holds.all)
    await shared.hold(holds.all)
    await this.#missed.tell(shared)
  }
}
