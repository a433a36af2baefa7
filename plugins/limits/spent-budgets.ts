import type { Principal, Services } from '../../engine/index.ts'
import type { Bucket } from './bucket.ts'
import { server } from './bucket.ts'
import type { FailoverCounters } from './failover-counters.ts'
import { MICROS } from './money.ts'
import type { BudgetRule, Holders, RuleBook } from './rules.ts'

type Source = Parameters<Services['notifications']['watch']>[1]
type Cause = Awaited<ReturnType<Source['read']>>[number]

/** Most budgets that are looked at: those that were charged lately, and those of which much is spent. */
const most = 10_000

/** What a look depends on. */
export interface Looking {
  readonly counting: Pick<FailoverCounters, 'read'>
  readonly rules: RuleBook
  readonly holders: Holders
  /** Shares of a budget that are told, from 0 to 1. */
  readonly shares: readonly number[]
}

/** Sees which budgets have spent a share that somebody wants to be told of. */
export class SpentBudgets {
  /** Names of buckets. */
  readonly #near = new Set<string>()
  #charged = new Set<string>()
  /** Tells the buckets that spent something before this process began; undefined: they are known. */
  #before: (() => Promise<readonly string[]>) | undefined

  /** @param before names buckets that have spent something lately, at most so many */
  constructor(before: (most: number) => Promise<readonly string[]>) {
    this.#before = () => before(most)
  }

  /** Budgets were charged, or had too little left for a request. */
  charged(budgets: readonly Pick<BudgetRule, 'bucket'>[]): void {
    for (const { bucket } of budgets) this.#note(bucket)
  }

  /** @param said causes that were told and last, also before a restart */
  async read(
    said: Parameters<Source['read']>[0],
    { counting, rules, holders, shares }: Looking,
  ): Promise<readonly Cause[]> {
    for (const bucket of (await this.#before?.()) ?? []) this.#note(bucket)
    this.#before = undefined
    const told = said.flatMap(({ cause, key }) => (cause === 'budget' ? [bucketIn(key)] : []))
    const charged = this.#charged
    const buckets = new Set([...charged, ...this.#near, ...told])
    this.#charged = new Set()
    const found = [...buckets].flatMap((bucket) => ruleOf(bucket, rules, holders) ?? [])
    try {
      const sums = found.length === 0 ? [] : await counting.read(found)
      for (const bucket of buckets) this.#near.delete(bucket)
      return found.flatMap((rule, at) => {
        const spent = (sums[at]?.spent ?? 0) / MICROS
        const { usd } = rule.budget
        // Who was given nothing has not used it up.
        const passed = usd === 0 ? [] : shares.filter((share) => spent >= share * usd)
        if (passed.length > 0 && this.#near.size < most) this.#near.add(rule.bucket)
        return passed.map((share) => causeOf(rule, share, spent))
      })
    } catch (error) {
      // They are looked at again.
      for (const bucket of charged) this.#note(bucket)
      throw error
    }
  }

  #note(bucket: string): void {
    if (this.#charged.size < most) this.#charged.add(bucket)
  }
}

function causeOf({ kind, bucket, title, budget }: BudgetRule, share: number, spent: number): Cause {
  const { usd: limit, period } = budget
  return {
    cause: 'budget',
    key: `budget ${bucket} ${share}`,
    subject: `${title} has spent ${share === 1 ? 'all' : `${Number((share * 100).toFixed(1))} %`} of its budget`,
    facts: { holder: kind, share, period, spent: Number(spent.toFixed(6)), limit },
    path: pathOf(bucket),
  }
}

/** The bucket of a cause; the name of a key may have spaces. */
function bucketIn(key: string): string {
  return key.slice('budget '.length, key.lastIndexOf(' '))
}

function pathOf(bucket: string): string {
  const [kind, id = ''] = split(bucket)
  if (kind === 'server') return '/settings/rate_limits'
  return `/${kind}s/${encodeURIComponent(id)}`
}

function split(bucket: string): readonly [kind: Bucket['kind'], id?: string] {
  if (bucket === server) return ['server']
  const colon = bucket.indexOf(':')
  return [bucket.slice(0, colon) as Bucket['kind'], bucket.slice(colon + 1)]
}

/** The budget of a bucket as it is now; undefined: its holder is gone, or has none any more. */
function ruleOf(bucket: string, rules: RuleBook, holders: Holders): BudgetRule | undefined {
  const [kind, id = ''] = split(bucket)
  const principal = kind === 'server' ? undefined : ({ kind, id, name: '' } as Principal)
  return rules.of(principal, holders).budgets.find((rule) => rule.bucket === bucket)
}
