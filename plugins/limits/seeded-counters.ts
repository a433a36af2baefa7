import type { Counters, Reserved, Reserving, Seed, Sum, SumState } from './counters.ts'
import type { Ledger, Wanted } from './ledger.ts'

/** Milliseconds for which a new sum is compared with the ledger again, because rows reach it a little later. */
const SETTLING = 10_000

/** Counters whose sums come from the ledger. */
export class SeededCounters {
  readonly counters: Counters
  readonly #ledger: Pick<Ledger, 'spent'>
  /** Sums that are being seeded. */
  readonly #seeding = new Map<string, Promise<Seed[]>>()
  /** Sums that were used since the last comparison, or are new, and until when they are new. */
  readonly #used = new Map<string, { readonly sum: Sum; readonly until: number }>()

  constructor(counters: Counters, ledger: Pick<Ledger, 'spent'>) {
    this.counters = counters
    this.#ledger = ledger
  }

  /** Like that of the counters, for sums that may be unknown. Rejects while the database fails and a sum is unknown. */
  async reserve(reserving: Reserving): Promise<Exclude<Reserved, { readonly unknown: readonly number[] }>> {
    for (;;) {
      const reserved = await this.counters.reserve(reserving)
      if (!('unknown' in reserved)) {
        for (const sum of reserving.sums) this.#use(sum)
        return reserved
      }
      await this.#seed(reserved.unknown.map((index) => reserving.sums[index] as Sum))
    }
  }

  /** The states of sums. */
  async read(sums: readonly Sum[]): Promise<readonly SumState[]> {
    for (;;) {
      const states = await this.counters.read(sums)
      const unknown = sums.filter((_, index) => states[index] === undefined)
      if (unknown.length === 0) return states as readonly SumState[]
      await this.#seed(unknown)
    }
  }

  /**
   * Compares sums with the ledger: those that are new, in whose first moments rows of other processes may have been
   * missing, and with `all` every one that was used since the last time, because other gateways charge it, too.
   */
  async compare(all: boolean): Promise<void> {
    const now = Date.now()
    const used = [...this.#used.values()]
    this.#used.clear()
    for (const { sum, until } of used) if (until > now) this.#use(sum, until)
    const compared = used.filter(({ until }) => all || until > 0)
    await this.#merge(compared.map(({ sum }) => sum))
  }

  async #seed(sums: readonly Sum[]): Promise<void> {
    const until = Date.now() + SETTLING
    const fresh = sums.filter((sum) => !this.#seeding.has(keyOf(sum)))
    const merging = this.#merge(fresh).finally(() => fresh.forEach((sum) => this.#seeding.delete(keyOf(sum))))
    const waiting = sums.map((sum) => this.#seeding.get(keyOf(sum)) ?? merging)
    for (const sum of fresh) {
      this.#seeding.set(keyOf(sum), merging)
      this.#use(sum, until)
    }
    await Promise.all(waiting)
  }

  async #merge(sums: readonly Sum[]): Promise<Seed[]> {
    const wanted = sums.map(({ bucket, period, starts }): Wanted => ({ bucket, period, start: starts[1] }))
    const seeds = await this.#ledger.spent(wanted)
    if (seeds.length > 0) await this.counters.seed(seeds)
    return seeds
  }

  #use(sum: Sum, until = 0): void {
    const known = this.#used.get(keyOf(sum))
    if (known === undefined || known.until < until) this.#used.set(keyOf(sum), { sum, until })
  }
}

function keyOf({ bucket, period }: Sum): string {
  return `${period} ${bucket}`
}
