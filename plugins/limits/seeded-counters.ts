import { GatewayError } from '../../engine/index.ts'
import type { Counters, Reserved, Reserving, Sum, SumState } from './counters.ts'
import type { Ledger, Wanted } from './ledger.ts'
import { after } from './soon.ts'
import type { Soon } from './soon.ts'

/** Counters whose sums come from the ledger. */
export class SeededCounters {
  readonly counters: Counters
  readonly #ledger: Pick<Ledger, 'spent' | 'compared'>
  /** Sums that are being seeded. */
  readonly #seeding = new Map<string, Promise<void>>()
  /**
   * Sums that were used since the last comparison, or within `Ledger.compared`, and when they were last used, in
   * milliseconds since 1970.
   */
  #used = new Map<Sum, number>()

  constructor(counters: Counters, ledger: Pick<Ledger, 'spent' | 'compared'>) {
    this.counters = counters
    this.#ledger = ledger
  }

  /**
   * Like that of the counters, for sums that may be unknown. Rejects with `store_unavailable` while the database fails
   * and a sum is unknown.
   */
  reserve(reserving: Reserving): Soon<Exclude<Reserved, { readonly unknown: readonly number[] }>> {
    const { sums } = reserving
    return after(this.counters.reserve(reserving), (reserved) => {
      if ('unknown' in reserved)
        return this.#seed(reserved.unknown.map((index) => sums[index] as Sum)).then(() => this.reserve(reserving))
      this.#use(sums)
      return reserved
    })
  }

  /** The states of sums. Rejects like `reserve`. */
  async read(sums: readonly Sum[]): Promise<readonly SumState[]> {
    for (;;) {
      const states = await this.counters.read(sums)
      const unknown = sums.filter((_, index) => states[index] === undefined)
      if (unknown.length === 0) return states as readonly SumState[]
      await this.#seed(unknown)
    }
  }

  /** Compares the sums that `other` counters used, too. */
  adopt(other: SeededCounters): void {
    for (const [sum, at] of other.#used) this.#used.set(sum, at)
  }

  /**
   * Compares the sums that were used since the last time with the ledger, which other gateways write, too, and whose
   * rows come a little later than the first look at a sum. Rejects with `store_unavailable` while the database fails.
   */
  async compare(): Promise<void> {
    const used = this.#used
    const since = Date.now() - this.#ledger.compared
    this.#used = new Map([...used].filter(([, at]) => at > since))
    try {
      await this.#merge([...new Map([...used.keys()].map((sum) => [keyOf(sum), sum])).values()])
    } catch (error) {
      for (const [sum, at] of used) if (!this.#used.has(sum)) this.#used.set(sum, at)
      throw error
    }
  }

  /** Seeds sums, each once, however many wait for it. */
  async #seed(sums: readonly Sum[]): Promise<void> {
    const fresh = sums.filter((sum) => !this.#seeding.has(keyOf(sum)))
    if (fresh.length > 0) {
      const seeding = this.#merge(fresh).finally(() => fresh.forEach((sum) => this.#seeding.delete(keyOf(sum))))
      for (const sum of fresh) this.#seeding.set(keyOf(sum), seeding)
    }
    await Promise.all(sums.flatMap((sum) => this.#seeding.get(keyOf(sum)) ?? []))
    this.#use(sums)
  }

  #use(sums: readonly Sum[]): void {
    const at = Date.now()
    for (const sum of sums) this.#used.set(sum, at)
  }

  async #merge(sums: readonly Sum[]): Promise<void> {
    const now = Date.now()
    const wanted = sums.map(({ bucket, period, starts: [, current, next] }): Wanted => {
      // A sum that was used before its period ended may be compared after it.
      return { bucket, period, start: next > 0 && now >= next ? next : current }
    })
    const seeds = await this.#ledger.spent(wanted).catch((error: unknown) => {
      throw new GatewayError('store_unavailable', {}, { cause: error })
    })
    if (seeds.length > 0) await this.counters.seed(seeds)
  }
}

function keyOf({ bucket, period }: Sum): string {
  return `${period} ${bucket}`
}
