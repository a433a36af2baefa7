import { GatewayError } from '../../engine/index.ts'
import type { Scope } from '../../engine/index.ts'
import { timeText } from '../../engine/kit.ts'
import type { Bucket } from './bucket.ts'
import type { SumState } from './counters.ts'
import { MICROS } from './money.ts'
import { nextStart } from './period.ts'
import type { BudgetRule, PlacesRule, RateRule } from './rules.ts'

/** What refused a request, as the header `x-gateway-limit` names it. */
type Refusing = 'key' | 'member' | 'server' | 'request'

/** Hears of a request that a limit refuses: whose limit it is, and what it limits. */
export type Refused = (holder: Bucket['kind'], kind: 'requests' | 'tokens' | 'concurrency' | 'budget') => void

const refused = (scope: Scope, by: Refusing) => scope.header('x-gateway-limit', by)

/** 429 for a request that a rate limit or the number of requests at the same time does not admit. */
export function rateExceeded(rule: RateRule | PlacesRule, wait: number, scope: Scope): GatewayError {
  refused(scope, rule.kind)
  const retryAfter = Math.max(1, Math.ceil(wait / 1_000))
  const again = `Try again in ${retryAfter === 1 ? '1 second' : `${retryAfter} seconds`}.`
  return new GatewayError('rate_limit_exceeded', {}, { message: `${reasonOf(rule)} ${again}`, retryAfter })
}

function reasonOf(rule: RateRule | PlacesRule): string {
  // The figures of the whole gateway are for its operator alone.
  if (rule.kind === 'server') return 'The gateway has reached its limit.'
  if ('counts' in rule) return `${rule.title} has reached its limit of ${rule.limit} ${rule.counts} per ${rule.per}.`
  const { title, limit } = rule
  return `${title} has reached its limit of ${limit} ${limit === 1 ? 'request' : 'requests'} at the same time.`
}

const periods = { day: 'today', week: 'this week', month: 'this month', total: 'in total' } as const

/** 429 for a request for which a budget has too little left. */
export function budgetExceeded({ kind, title, budget }: BudgetRule, state: SumState, scope: Scope): GatewayError {
  refused(scope, kind)
  const next = nextStart(budget.period, Math.max(state.since, Date.now()))
  const used = state.spent >= Math.round(budget.usd * MICROS) ? 'has used up' : 'has too little left of'
  const again = next === undefined ? '' : ` It is available again at ${timeText(next)}.`
  const reason = `${title} ${used} its budget of ${budget.usd} USD ${periods[budget.period]}.${again}`
  return new GatewayError('budget_exceeded', { reason }, { shouldRetry: false })
}

/**
 * 429 for a request that would cost more than it says it may.
 * @param cheapest the lowest estimate in micro-USD; infinite: no model for it has a price
 */
export function capExceeded(cap: number, cheapest: number, scope: Scope): GatewayError {
  refused(scope, 'request')
  const cost = cheapest === Infinity ? 'no model for it has a price' : `it may cost ${cheapest / MICROS} USD or more`
  const reason = `The request may cost at most ${cap / MICROS} USD, but ${cost}.`
  return new GatewayError('budget_exceeded', { reason }, { shouldRetry: false, param: 'routing.max_cost' })
}

/** 403 for a request that chooses something for which its model has no price. */
export function choiceUnpriced(model: string, param: string): GatewayError {
  return new GatewayError('price_unknown', { model, reason: `what ${param} chooses` }, { param })
}

/** 403 for a request under a budget whose models have no price. */
export function priceUnknown(model: string): GatewayError {
  return new GatewayError('price_unknown', { model, reason: 'what the request will use' }, { param: 'model' })
}
