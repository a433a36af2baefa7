import { hostname } from 'node:os'
import { defineService } from '../../engine/index.ts'
import type {
  Services,
  Budget,
  Envelope,
  Principal,
  Scope,
  SectionReport,
  SettingsAround,
  TableQueries,
  TypedRecords,
} from '../../engine/index.ts'
import { isPattern, timeText } from '../../engine/kit.ts'
import { RemoteCounters } from './remote-counters.ts'
import { nameOf } from './bucket.ts'
import type { Bucket } from './bucket.ts'
import { capOf } from './cap.ts'
import { Charges } from './charges.ts'
import type { SumState } from './counters.ts'
import { FailoverCounters } from './failover-counters.ts'
import { Holds } from './holds.ts'
import { Ledger } from './ledger.ts'
import { MICROS } from './money.ts'
import { Overruns } from './overruns.ts'
import { nextStart } from './period.ts'
import { RedisCounters } from './redis-counters.ts'
import type { Refused } from './refusal.ts'
import { RefusedKeys } from './refused-keys.ts'
import { RuleBook } from './rules.ts'
import type { BudgetRule, Holders } from './rules.ts'
import { RunningExchanges } from './running-exchanges.ts'
import type { UsedSoFar } from './running-exchanges.ts'
import { budgetBeyond, rateBeyond, settings, withoutEffect } from './settings.ts'
import type { LimitSettings } from './settings.ts'
import type { Soon } from './soon.ts'
import { SpentBudgets } from './spent-budgets.ts'
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

/** The budget of which the least is left. */
export interface Tightest extends Pick<BudgetRule, 'kind' | 'title'> {
  /** In micro-USD; never negative. */
  readonly left: number
}

/** Budgets and rate limits. */
export interface Limits {
  /** Rejects with `store_unavailable`. */
  budgetOf(bucket: Bucket, budget: Budget): Promise<BudgetState>
  /** Like `budgetOf`, for several at once, in their order. */
  budgetsOf(many: readonly (readonly [Bucket, Budget])[]): Promise<readonly BudgetState[]>
  /**
   * What is left of the tightest budget that applies to a holder; undefined: none applies. Rejects with
   * `store_unavailable`.
   */
  tightest(principal: Principal | undefined, holders: Holders): Soon<Tightest | undefined>
  /** What a request may cost by its own words, in micro-USD. Throws `invalid_value` for what is no amount. */
  capOf(request: Pick<Envelope, 'sent' | 'headers'>): number | undefined
  /** The budget of the whole gateway; undefined: there is none. */
  serverBudget(): Promise<BudgetState | undefined>
  /**
   * Forgets what a bucket has spent in every period. Within a transaction of the caller, it takes effect with its
   * commit.
   */
  reset(bucket: Bucket, transaction?: TableQueries): Promise<void>
  /** Adds what a bucket has spent elsewhere within the current period, in micro-USD, in a transaction of the caller. */
  spentElsewhere(
    bucket: Bucket,
    spent: { readonly micros: number; readonly period: Budget['period'] },
    transaction: TableQueries,
  ): Promise<void>
  readonly refusedKeys: RefusedKeys
  /**
   * Charges what an exchange has used that goes on for long, so that its budgets and rate limits know before its end.
   * Rejects with `budget_exceeded` when nothing is left for it, and with `store_unavailable`. The calls of one exchange
   * follow each other.
   */
  chargeSoFar(used: UsedSoFar, holders: Holders): Promise<void>
  /**
   * The exchange keeps its places of `concurrency` although its client has left, until what is returned resolves, at
   * the latest for as long as the longest request. `worked` is called when the exchange has ended, and never rejects.
   */
  outlast(scope: Scope, worked: () => Promise<void> | undefined): void
  /** For the stages of this plugin. */
  readonly settings: LimitSettings
  readonly rules: RuleBook
  readonly counting: FailoverCounters
  readonly charges: Charges
  readonly overruns: Pick<Overruns, 'of'>
  readonly running: RunningExchanges
  readonly refused: Refused
}

type Cause = Awaited<ReturnType<Parameters<Services['notifications']['watch']>[1]['read']>>[number]

declare module '../../engine/index.ts' {
  interface Services {
    limits: Limits
  }
}

/** Milliseconds between two comparisons with the ledger, and between two deletions of its old rows. */
const COMPARE = 5_000
const CLEAN = 60_000

/** Warns of limits that nobody means: budgets of models without a price, and limits that others make pointless. */
function checkLimits(
  given: LimitSettings,
  report: SectionReport,
  records: TypedRecords,
  { warn, models: catalog, written, sharesStore }: SettingsAround,
): void {
  const { budget, assumed_output_tokens: assumed } = given
  const { on_store_failure: onFailure } = written
  if (onFailure !== undefined && !sharesStore)
    report(['on_store_failure'], 'has no effect without a shared key-value store; set key_value', 'limits', 'warning')
  for (const [path, message] of withoutEffect(given)) report(path, message, 'limits', 'warning')
  // The price of a pattern is that of each of its models.
  const unpriced = catalog.filter(({ enabled, pricing, name }) => enabled !== false && !pricing && !isPattern(name))
  const [first] = budget.unknown_price === 'refuse' ? unpriced : []
  const noPrice = (name: string) =>
    `the model "${name}" has no price, so it is refused; give it pricing, or set rate_limits.budget.unknown_price`
  for (const field of ['server', 'key_default', 'member_default'] as const)
    if (first && budget[field]) report(['budget', field], noPrice(first.name), 'pricing', 'warning')
  for (const key of records.of('api_key')) {
    const { models, budget: own, rate_limit: limit } = key
    for (const [path, message] of [...rateBeyond(limit, given.server), ...budgetBeyond(own, budget.server)])
      warn(key, path, 'limits', message)
    const at = models?.findIndex((name) => unpriced.some((one) => one.name === records.find('model', name)?.name)) ?? -1
    if (first && own && models === undefined) warn(key, ['budget'], 'pricing', noPrice(first.name))
    if (first && own && at >= 0) warn(key, ['models', at], 'pricing', noPrice(models?.[at] ?? ''))
    if ((limit?.tokens ?? Infinity) < assumed)
      warn(
        key,
        ['rate_limit', 'tokens'],
        'tokens',
        `one request without a maximum takes all of it: it reserves ${assumed} tokens`,
      )
  }
}

export default defineService({
  name: 'limits',
  summary: 'Budgets and rate limits of API keys, members and the whole gateway.',
  section: 'rate_limits',
  settings,
  migrations,
  uses: ['requests', 'metrics', 'notifications', 'api_keys', 'members'],
  check: checkLimits,
  async open(host) {
    const ledger = new Ledger(host)
    const holds = new Holds()
    const redis = await host.connectRedis?.()
    const shared = redis
      ? new RedisCounters(redis, { holds: () => holds.all })
      : host.firstProcess && new RemoteCounters(host.firstProcess)
    // A call makes the engine's own connection notice, too, so that health reports tell.
    const onAway = () => void host.keyValue.get('limits').catch(() => undefined)
    const counting = new FailoverCounters({ ledger, log: host.log, holds, shared, onAway })
    if (!redis && host.dialect === 'postgres')
      host.log.warn(
        'no key-value store is configured: gateways on other machines count rate limits for themselves, and learn what others have spent every 5 seconds',
      )
    const charges = new Charges(counting, ledger)
    const spent = new SpentBudgets((most) => ledger.spenders(most))
    charges.charged = (budgets) => spent.charged(budgets)
    const overruns = new Overruns(host)
    let refused: Refused = () => undefined
    const running = new RunningExchanges(counting, charges, (holder, kind) => refused(holder, kind))
    const regularly = (every: number, problem: string, work: () => Promise<void>) =>
      setInterval(() => {
        work().catch((error: unknown) => host.log.warn({ err: error }, problem))
      }, every).unref()
    const learn = () => overruns.refresh()
    const clean = () => Promise.all([ledger.clean(), overruns.clean()]).then(() => undefined)
    await learn()
    const timers = [
      regularly(COMPARE, 'budgets cannot be compared with the ledger', () => counting.refresh()),
      regularly(COMPARE, 'what requests cost beyond their estimates is not known', learn),
      regularly(CLEAN, 'old rows of the ledger of budgets cannot be deleted', clean),
    ]
    const budgetsOf: Limits['budgetsOf'] = async (many) => {
      const now = Date.now()
      const states = await counting.read(many.map(([bucket, budget]) => ({ bucket: nameOf(bucket), budget })))
      return many.map(([, budget], index) => budgetState(budget, states[index] as SumState, now))
    }
    return {
      configure(limitSettings, { requests, metrics, notifications, ...holders }) {
        const whole = limitSettings.budget.server
        const rules = new RuleBook(limitSettings)
        const view: Limits = {
          budgetsOf,
          tightest(principal, holders) {
            const { budgets } = rules.of(principal, holders)
            return budgets.length === 0 ? undefined : tightestOf(budgets, counting)
          },
          capOf,
          budgetOf: async (bucket, budget) => (await budgetsOf([[bucket, budget]]))[0] as BudgetState,
          serverBudget: async () => (whole ? (await budgetsOf([[{ kind: 'server', id: '' }, whole]]))[0] : undefined),
          async reset(bucket, transaction) {
            const at = Date.now()
            const name = nameOf(bucket)
            await ledger.reset(name, at, () => counting.reset(name, at), transaction)
          },
          spentElsewhere: (bucket, spent, transaction) => ledger.add(nameOf(bucket), spent, transaction),
          chargeSoFar: (used, holders) => running.charge(used, rules.of(used.principal, holders), limitSettings),
          outlast: (scope, worked) => running.outlast(scope, worked),
          refusedKeys: new RefusedKeys(limitSettings.refused_per_address, counting),
          refused: (holder, kind) => refused(holder, kind),
          settings: limitSettings,
          rules,
          counting,
          charges,
          overruns,
          running,
        }
        requests.keepCharges(ledger.keeper)
        charges.carry = (row) => requests.charge(row)
        return {
          view,
          live() {
            counting.onFailure = limitSettings.on_store_failure
            refused = counted(metrics)
            notifications.watch('budgets', {
              read: (said) => spent.read(said, { counting, rules, holders, shares: notifications.budgetAt }),
            })
            notifications.watch('charges', { read: () => waitingCharges(ledger, requests) })
          },
        }
      },
      close() {
        timers.forEach(clearInterval)
        counting.close()
        redis?.disconnect()
      },
    }
  },
})

function counted(metrics: Services['metrics']): Refused {
  const rejections = metrics.counter({
    name: 'sluice_limit_rejections_total',
    help: 'Requests that a limit has refused.',
    labels: { holder: ['key', 'member', 'server'], kind: ['requests', 'tokens', 'concurrency', 'budget'] },
  })
  return (holder, kind) => rejections({ holder, kind }).add()
}

/** Charges that the database does not take: they wait in a file, or in memory, and budgets after a restart do not know them. */
function waitingCharges(
  ledger: Pick<Ledger, 'counters'>,
  requests: Pick<Services['requests'], 'counters'>,
): readonly Cause[] {
  const all = [ledger.counters, requests.counters]
  if (all.every(({ failing }) => failing === undefined)) return []
  const waiting = all.reduce((sum, { pending }) => sum + pending, 0)
  const host = hostname()
  const subject = `The database takes no charges of the gateway on ${host}`
  return [
    {
      cause: 'charges_waiting',
      key: `charges_waiting ${host}`,
      subject,
      facts: { host, waiting },
      path: '/configuration',
    },
  ]
}

async function tightestOf(budgets: readonly BudgetRule[], counting: Pick<FailoverCounters, 'read'>): Promise<Tightest> {
  const states = await counting.read(budgets)
  const left = budgets.map(({ kind, title, budget }, index) => ({
    kind,
    title,
    left: leftOf(budget, states[index] as SumState),
  }))
  return left.reduce((least, one) => (one.left < least.left ? one : least))
}

/** What a budget still has, in micro-USD. */
function leftOf({ usd }: Budget, { spent, held }: SumState): number {
  return Math.max(0, Math.round(usd * MICROS) - spent - held)
}

function budgetState(budget: Budget, state: SumState, now: number): BudgetState {
  const { usd, period } = budget
  const { spent, held, since } = state
  const next = nextStart(period, now)
  return {
    usd,
    period,
    spent: spent / MICROS,
    held: held / MICROS,
    remaining: leftOf(budget, state) / MICROS,
    resets_at: next === undefined ? null : timeText(next),
    since: timeText(since),
  }
}
