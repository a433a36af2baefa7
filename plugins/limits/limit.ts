import { defineStage, noConfig } from '../../engine/index.ts'
import type { Bill, Candidate, Scope } from '../../engine/index.ts'
import type { Counted, Rate } from './counters.ts'
import { Estimates } from './estimate.ts'
import { limitHeaders, shownTo } from './headers.ts'
import { lastingOf } from './lasting.ts'
import { rateExceeded } from './refusal.ts'
import { leftEarly } from './left-early.ts'
import type { RateRule, Rules } from './rules.ts'
import { countedTokens } from './running-exchanges.ts'
import type { LimitSettings } from './settings.ts'
import { limitsShower } from './shown-limits.ts'
import { after } from './soon.ts'

/**
 * Takes what a request needs from the rate limits of its key, the key's owner and the gateway, all or nothing. What it
 * did not use in the end goes back. A response in the background counts as a request when it is asked for. Its run
 * takes the rest, whatever is left by then. A request that failed earlier counts towards nothing, and its answer shows
 * the limits all the same.
 */
export default defineStage({
  name: 'limit',
  notAfter: ['limit'],
  summary: 'Refuse requests beyond the rate limits of the API key, its owner and the gateway.',
  config: noConfig,
  needs: ['request'],
  reads: ['principal', 'job', 'model'],
  provides: [],
  pays: ['limit'],
  settles: ['bill'],
  uses: ['limits', 'api_keys', 'members', 'tokens', 'prices'],
  build: (_config, host, { limits, tokens, prices, ...holders }) => {
    const estimates = new Estimates(host, { tokens, prices })
    const show = shownTo(host.pipeline.protocol)
    const lasts = lastingOf(host.catalog)
    return ({ principal, request, job }, scope, settle) => {
      const rules = limits.rules.of(principal, holders)
      if (rules.rates.length === 0 && rules.places.length === 0) return {}
      const { settings, counting } = limits
      const estimated = rules.rates.some(({ counts }) => counts === 'tokens') ? estimates.tokens(request, settings) : 0
      const isRun = job !== undefined
      const rates = ratesOf(
        rules,
        estimated,
        isRun ? 'tokens' : tokenless.has(request.operation) ? 'requests' : undefined,
      )
      const places = rules.places.map(({ bucket }) => bucket)
      const taking = counting.take({ id: scope.id, lasts, rates, places: rules.places, forced: isRun })
      return after(taking, (taken) => {
        if (settings.headers)
          for (const [name, value] of limitHeaders(rates, taken.levels, show)) scope.header(name, value)
        if (taken.by === 'local') scope.header('x-gateway-limit', 'local')
        if (taken.refused) throw refusal(rules, rates, taken.refused, scope)
        let left = places.length === 0
        const leave = () => {
          const leaving = left ? [] : places
          left = true
          return leaving
        }
        // A place is free when the client has its answer, before the exchange is logged, and nobody works for it.
        if (!request.background)
          scope.onEnd?.(() => {
            const leaving = leave()
            if (leaving.length === 0) return
            const free = () => counting.give({ id: scope.id, rates: [], places: leaving }, taken.by)
            void after(limits.running.worked(scope), free)
          })
        settle(({ bill, model, job: started }, { error }) => {
          const back = backOf(rates, {
            used: leftEarly(error?.code, scope) ? undefined : usedOf(bill, model, settings),
            taken: limits.running.of(scope).tokens,
            nothing: error !== undefined && isRefused(scope),
          })
          // A response in the background keeps its place until its run has ended.
          const goesOn = started !== undefined && !isRun
          const leaving = goesOn ? [] : leave()
          const passing = goesOn ? counting.passOn(scope.id) : undefined
          if (back.length === 0 && leaving.length === 0) return passing
          return after(passing, () => counting.give({ id: scope.id, rates: back, places: leaving }, taken.by))
        })
        return {}
      })
    }
  },
  unreached: (_config, host, services) => {
    const showLimits = limitsShower(host, services)
    return ({ principal }, scope) => showLimits(principal, scope)
  },
})

/** Operations that use no model: they count towards no limit of tokens. */
const tokenless: ReadonlySet<string> = new Set(['count', 'mcp'])

/** Whether the stage `reserve` has refused the exchange, whatever the reason: such a request has used nothing. */
function isRefused({ laps }: Pick<Scope, 'laps'>): boolean {
  return laps.some(({ stage, outcome }) => stage.name === 'reserve' && outcome === 'failed')
}

type Taking = RateRule & Rate

/** @param only what the exchange counts towards: a run to nothing but tokens, and a count of tokens to none */
function ratesOf({ rates }: Rules, tokens: number, only: Counted | undefined): readonly Taking[] {
  const taking = rates.map((rule) => ({
    ...rule,
    amount: rule.counts === 'requests' ? 1 : Math.min(tokens, rule.limit),
  }))
  return only === undefined ? taking : taking.filter(({ counts }) => counts === only)
}

function refusal(
  rules: Rules,
  rates: readonly RateRule[],
  { index, wait }: { index: number; wait: number },
  scope: Scope,
) {
  const rule = rates[index] ?? rules.places[index - rates.length]
  if (rule === undefined) throw new Error('a limit refused a request that nobody knows')
  return rateExceeded(rule, wait, scope)
}

/** Tokens that count towards limits; undefined: unknown. An exchange that failed before its answer began used none. */
function usedOf(bill: Bill | undefined, model: Candidate | undefined, settings: LimitSettings): number | undefined {
  if (bill === undefined) return undefined
  if (bill.tokens === undefined) return model === undefined ? 0 : undefined
  return countedTokens(bill.tokens, settings)
}

/**
 * What goes back: the tokens that were not used, and of a request that used nothing the request, too.
 * @param taken tokens that the exchange has taken since, while it ran
 */
function backOf(
  rates: readonly Taking[],
  { used, taken, nothing }: { used: number | undefined; taken: number; nothing: boolean },
): readonly Rate[] {
  const back = rates.map((rate) => {
    if (rate.counts === 'requests') return { ...rate, amount: nothing ? 1 : 0 }
    return { ...rate, amount: used === undefined ? 0 : rate.amount + taken - used }
  })
  return back.filter(({ amount }) => amount !== 0)
}
