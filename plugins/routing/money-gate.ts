import type { Principal, Services } from '../../engine/index.ts'
import type { Gate } from './sieve.ts'
import type { ShortlistEntry } from './shortlisted.ts'

type Limits = Pick<Services, 'limits' | 'api_keys' | 'members'>

type Tightest = Awaited<ReturnType<Services['limits']['tightest']>>

const MICROS = 1_000_000

/** What a request may cost, in USD: by its own words, and by what its budgets have left. */
export interface Purse {
  readonly cap: number | undefined
  readonly budget: { readonly title: string; readonly left: number } | undefined
  /** What limits the costs most, as the header `x-gateway-limit` names it. */
  readonly by: string
  /** Whether models without a price may be used where a budget applies. */
  readonly trusts: boolean
}

/** Rejects with `store_unavailable` if nobody knows what was spent. Without a budget, nobody is asked. */
export function purseOf(
  cap: number | undefined,
  principal: Principal | undefined,
  services: Limits,
): Purse | Promise<Purse> {
  const { limits } = services
  const purse = (budget: Tightest): Purse => ({
    by: budget && budget.left < (cap ?? Infinity) ? budget.kind : 'request',
    cap: cap === undefined ? undefined : cap / MICROS,
    budget: budget && { ...budget, left: budget.left / MICROS },
    trusts: limits.settings.budget.unknown_price === 'allow',
  })
  const tightest = limits.tightest(principal, services)
  return tightest instanceof Promise ? tightest.then(purse) : purse(tightest)
}

/** Lets those of these models pass that the request can pay for; undefined: nothing limits what it costs. */
export function moneyGate({ cap, budget, trusts }: Purse, entries: readonly ShortlistEntry[]): Gate | undefined {
  if (cap === undefined && budget === undefined) return undefined
  const most = Math.min(cap ?? Infinity, budget?.left ?? Infinity)
  const keeps = ({ cost }: ShortlistEntry) => (cost === null ? cap === undefined && trusts : cost <= most)
  const least = Math.min(...entries.map(({ cost }) => cost ?? Infinity))
  return {
    name: 'money',
    words: ['within the money', 'within the money'],
    code: cap === undefined && least === Infinity ? 'price_unknown' : 'budget_exceeded',
    keeps,
    hint() {
      const predicted =
        least === Infinity ? 'None has a price' : `The cheapest is predicted to cost ${written(least)} USD`
      return cap !== undefined && cap === most
        ? `${predicted}, and the request may cost ${cap === 0 ? 'less than 0.000001' : `at most ${written(cap)}`} USD.`
        : `${predicted}. ${budget?.title} has ${written(most)} USD left.`
    },
    options: { shouldRetry: false, ...(cap === undefined ? {} : { param: 'routing.max_cost' }) },
  }
}

/** An amount without needless digits, such as 0.00042. */
function written(usd: number): string {
  return String(Number(usd.toPrecision(6)))
}
