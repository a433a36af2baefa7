import { defineStage, noConfig } from '../../engine/index.ts'
import type { Candidate, Scope } from '../../engine/index.ts'
import { capOf } from './cap.ts'
import { Estimates } from './estimate.ts'
import { lastingOf } from './lasting.ts'
import { MICROS } from './money.ts'
import { pricedIn } from './priced-choices.ts'
import { budgetExceeded, capExceeded, priceUnknown } from './refusal.ts'
import type { BudgetRule } from './rules.ts'
import { after } from './soon.ts'

/**
 * Holds money for a request in the budgets of its key, the key's owner and the gateway, all or nothing: what the
 * dearest candidate is estimated to cost, or as many times as much as answers of that model cost lately. Candidates for
 * which too little is left are not tried, nor those that cost more than the request says it may. Where candidates are
 * chosen anew, it holds for them in place of the first ones, and never less than before. A response in the background
 * keeps its hold until its run has ended.
 */
export default defineStage({
  name: 'reserve',
  summary: 'Hold money for the request, and leave out candidates that no budget admits.',
  config: noConfig,
  needs: ['request', 'candidates'],
  reads: ['principal', 'job', 'model', 'target'],
  provides: ['candidates'],
  pays: ['reserve'],
  settles: ['bill'],
  uses: ['limits', 'api_keys', 'members', 'tokens', 'prices'],
  build: (_config, host, { limits, tokens, prices, ...holders }) => {
    const estimates = new Estimates(host, { tokens, prices })
    const lasts = lastingOf(host.catalog)
    return ({ principal, request, candidates, job, target }, scope, settle) => {
      const before = limits.charges.openOf(scope.id)
      // What took a budget away meanwhile would leave the first hold there.
      const { budgets } = before ?? limits.rules.of(principal, holders)
      // Smart routing compares predictions with it, and chooses accordingly.
      const cap = target?.virtual ? undefined : capOf(request)
      const { settings, counting } = limits
      const costsNothing = cap === undefined && settings.budget.unknown_price === 'allow'
      const isFree = budgets.length === 0 && cap === undefined
      if (isFree && (principal?.models === undefined || costsNothing)) return { candidates }
      const priced = pricedIn(request, candidates, { host, isFree, costsNothing, target })
      if (isFree) return { candidates: priced }
      const input = estimates.input(request)
      const estimated = priced.map((candidate): Priced | undefined => {
        const cost = estimates.dearest(request, candidate, input, settings)
        if (!cost) return costsNothing ? { candidate, total: 0, input: 0, held: 0 } : undefined
        const held = Math.ceil(cost.total * limits.overruns.of(candidate.model.name))
        return { candidate, total: cost.total, input: cost.input, held }
      })
      const all = those(estimated, (one) => one !== undefined) as readonly Priced[]
      const affordable = cap === undefined ? all : underCap(cap, all, scope)
      if (affordable.length === 0) throw priceUnknown(candidates[0]?.model.name ?? request.model)
      if (budgets.length === 0) return { candidates: affordable.map(({ candidate }) => candidate) }
      const byCost = affordable.length === 1 ? affordable : affordable.toSorted((one, other) => other.held - one.held)
      const reserving = counting.reserve({
        id: scope.id,
        lasts,
        budgets,
        isRun: job !== undefined,
        // Failed tries may have cost something, which the same hold pays.
        estimates: byCost.map(({ held }) => Math.max(held, before?.held ?? 0)),
        input: byCost[0]?.input ?? 0,
      })
      return after(reserving, (reserved) => {
        if (reserved.by === 'local') scope.header('x-gateway-limit', 'local')
        if ('refused' in reserved) {
          const budget = budgets[reserved.refused] as BudgetRule
          limits.refused(budget.kind, 'budget')
          limits.charges.charged([budget])
          throw budgetExceeded(budget, reserved.state, scope)
        }
        if (reserved.left.length > 0)
          scope.header('x-gateway-budget-remaining', String(Math.min(...reserved.left) / MICROS))
        const admitted = those(affordable, ({ held }) => held <= reserved.held)
        const reservation = {
          budgets,
          at: reserved.at,
          held: reserved.held,
          lasts,
          estimates: admitted,
          input: byCost[0]?.input ?? 0,
        }
        limits.charges.reserved(scope.id, reservation)
        settle(({ bill, model, job: started }) => {
          if (started !== undefined && job === undefined) return limits.charges.passOn(scope.id, reservation)
          // Pipelines without `charge` are charged here.
          if (!limits.charges.openOf(scope.id)) return undefined
          const charged = limits.running.of(scope).micros
          const isRun = job !== undefined
          return limits.charges.charge({ id: scope.id, at: reserved.at, principal, bill, model, charged, isRun })
        })
        return {
          candidates: admitted.length === candidates.length ? candidates : admitted.map(({ candidate }) => candidate),
        }
      })
    }
  },
})

interface Priced {
  readonly candidate: Candidate
  /** In micro-USD. */
  readonly total: number
  readonly input: number
  /** What is held for it. */
  readonly held: number
}

/** Nearly always all of them. */
function those<T>(all: readonly T[], are: (one: T) => boolean): readonly T[] {
  return all.every(are) ? all : all.filter(are)
}

/** The candidates that cost no more than the request says it may. */
function underCap(cap: number, all: readonly Priced[], scope: Scope): readonly Priced[] {
  const affordable = all.filter(({ total }) => total <= cap)
  if (affordable.length === 0) throw capExceeded(cap, Math.min(...all.map(({ total }) => total)), scope)
  return affordable
}
