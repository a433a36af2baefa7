import type { Budget, RateLimit } from '../../engine/index.ts'
import type { LimitSettings } from './settings.ts'

/** The path to a limit, and what is wrong with it. */
type Found = readonly [path: readonly string[], message: string]

/** Settings that are never reached, because that of the whole gateway is reached before, and budgets of nothing. */
export function withoutEffect({ server, budget, ...usual }: LimitSettings): readonly Found[] {
  const found: Found[] = []
  for (const field of ['key_default', 'member_default'] as const) {
    for (const [path, message] of rateBeyond(usual[field], server)) found.push([[field, ...path.slice(1)], message])
    for (const [path, message] of budgetBeyond(budget[field], budget.server))
      found.push([['budget', field, ...path.slice(1)], message])
  }
  for (const field of ['server', 'key_default', 'member_default'] as const)
    if (budget[field]?.usd === 0)
      found.push([['budget', field, 'usd'], 'blocks all of them; without a budget, nothing limits their costs'])
  return found
}

/** What of a rate limit is above that of the whole gateway. */
export function* rateBeyond(own: RateLimit | null | undefined, server: RateLimit | null): Iterable<Found> {
  if (!own || !server) return
  for (const field of ['requests', 'tokens', 'concurrency'] as const) {
    const [limit, whole] = [own[field], server[field]]
    const isOfOnePeriod = field === 'concurrency' || own.period === server.period
    if (limit && whole && isOfOnePeriod && limit > whole)
      yield [['rate_limit', field], `is above that of the whole gateway, ${whole}`]
  }
}

/** What of a budget is above that of the whole gateway. */
export function* budgetBeyond(own: Budget | null | undefined, server: Budget | null): Iterable<Found> {
  if (own && server && own.period === server.period && own.usd > server.usd)
    yield [['budget', 'usd'], `is above that of the whole gateway, ${server.usd}`]
}
