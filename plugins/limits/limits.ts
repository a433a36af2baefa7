import { defineService } from '../../engine/index.ts'
import type { Budget, TableQueries } from '../../engine/index.ts'
import { timeText } from '../../engine/kit.ts'
import { nameOf, server } from './bucket.ts'
import type { Bucket } from './bucket.ts'
import type { Sum, SumState } from './counters.ts'
import { Ledger } from './ledger.ts'
import { MemoryCounters } from './memory-counters.ts'
import { nextStart, startsAround } from './period.ts'
import { SeededCounters } from './seeded-counters.ts'
import { settings } from './settings.ts'
import { migrations } from './table.ts'

/** A budget and what is left of it, as clients see it: in USD, with moments as text (RFC 3339). */
export interface BudgetState extends Budget {
  readonly spent: number
  /** Reserved for requests that are running. */
  readonly held: number
  /** Never negative. */
  readonly remaining: number
  /** When the next period starts; null: never. */
  readonly resets_at: string | null
  /** Start of the period, or the last reset within it. */
  readonly since: string
}

/** Budgets and rate limits. */
export interface Limits {
  /** Rejects with `store_unavailable`. */
  budgetOf(bucket: Bucket, budget: Budget): Promise<BudgetState>
  /** Like `budgetOf`, for several at once, in their order. */
  budgetsOf(many: readonly (readonly [Bucket, Budget])[]): Promise<readonly BudgetState[]>
  /** The budget of the whole gateway; undefined: there is none. */
  serverBudget(): Promise<BudgetState | undefined>
  /**
   * Forgets what a bucket has spent in every period. Within a transaction of the caller, it takes effect with its
   * commit.
   */
  reset(bucket: Bucket, transaction?: TableQueries): Promise<void>
}

declare module '../../engine/index.ts' {
  interface Services {
    limits: Limits
  }
}

/** Micro-USD per USD. */
const MICROS = 1_000_000

/** Milliseconds between two comparisons with the ledger, and between two deletions of its old rows. */
const COMPARE = 5_000
const CLEAN = 60_000

export default defineService({
  name: 'limits',
  summary: 'Budgets and rate limits of API keys, members and the whole gateway.',
  section: 'rate_limits',
  settings,
  migrations,
  open(host) {
    const ledger = new Ledger(host)
    const seeded = new SeededCounters(new MemoryCounters(), ledger)
    const regularly = (every: number, what: string, work: () => Promise<void>) =>
      setInterval(() => {
        work().catch((error: unknown) => host.log.warn({ err: error }, what))
      }, every).unref()
    const timers = [
      regularly(COMPARE, 'sums cannot be compared with the ledger', () => seeded.compare(true)),
      regularly(CLEAN, 'old rows of the ledger cannot be deleted', () => ledger.clean()),
    ]
    const budgetsOf: Limits['budgetsOf'] = async (many) => {
      const now = Date.now()
      const sums = many.map(([bucket, budget]) => sumOf(nameOf(bucket), budget, now))
      const states = await seeded.read(sums)
      return many.map(([, budget], index) => budgetState(budget, states[index] as SumState, now))
    }
    return {
      configure: ({ budget: { server: whole } }) => ({
        view: {
          budgetsOf,
          budgetOf: async (bucket, budget) => (await budgetsOf([[bucket, budget]]))[0] as BudgetState,
          serverBudget: async () => whole && (await budgetsOf([[{ kind: 'server', id: server }, whole]]))[0],
          async reset(bucket, transaction) {
            const at = Date.now()
            const name = nameOf(bucket)
            await ledger.reset(name, at, async () => seeded.counters.reset(name, at), transaction)
          },
        },
      }),
      close: () => timers.forEach(clearInterval),
    }
  },
})

function sumOf(bucket: string, { usd, period }: Budget, now: number): Sum {
  return { bucket, period, starts: startsAround(period, now), limit: Math.round(usd * MICROS) }
}

function budgetState({ usd, period }: Budget, { spent, held, since }: SumState, now: number): BudgetState {
  const limit = Math.round(usd * MICROS)
  const next = nextStart(period, now)
  return {
    usd,
    period,
    spent: spent / MICROS,
    held: held / MICROS,
    remaining: Math.max(0, limit - spent - held) / MICROS,
    resets_at: next === undefined ? null : timeText(next),
    since: timeText(since),
  }
}
