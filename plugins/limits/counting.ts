import type { Budget } from '../../engine/index.ts'
import type { Counters, Giving, Reserved, Reserving, Settling, SumState, Taken, Taking } from './counters.ts'
import type { Ledger } from './ledger.ts'
import { sumOf } from './money.ts'
import type { BudgetRule } from './rules.ts'
import { SeededCounters } from './seeded-counters.ts'

/** A reservation in the budgets that apply to an exchange. */
export interface Reservable extends Omit<Reserving, 'sums'> {
  readonly budgets: readonly Pick<BudgetRule, 'bucket' | 'budget'>[]
}

/** Counts the exchanges of this process. */
export class Counting {
  readonly #counters: SeededCounters

  constructor(counters: Counters, ledger: Ledger) {
    this.#counters = new SeededCounters(counters, ledger)
  }

  async take(taking: Taking): Promise<Taken> {
    return this.#counters.counters.take(taking)
  }

  async give(giving: Giving): Promise<void> {
    await this.#counters.counters.give(giving)
  }

  async reserve({ budgets, ...rest }: Reservable): Promise<Exclude<Reserved, { readonly unknown: readonly number[] }>> {
    const now = Date.now()
    return this.#counters.reserve({ ...rest, sums: budgets.map(({ bucket, budget }) => sumOf(bucket, budget, now)) })
  }

  async settle(settling: Settling): Promise<number | undefined> {
    return this.#counters.counters.settle(settling)
  }

  /** Another process ends what the exchange holds. */
  passOn(_id: string): void {}

  read(budgets: readonly { readonly bucket: string; readonly budget: Budget }[]): Promise<readonly SumState[]> {
    const now = Date.now()
    return this.#counters.read(budgets.map(({ bucket, budget }) => sumOf(bucket, budget, now)))
  }

  async reset(bucket: string, at: number): Promise<void> {
    await this.#counters.counters.reset(bucket, at)
  }

  /** Compares sums with the ledger. Rejects while the database fails. */
  compare(): Promise<void> {
    return this.#counters.compare(true)
  }
}
