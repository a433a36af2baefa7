import { defineStage, noConfig } from '../../engine/index.ts'
import type { Bill, Candidate, Scope } from '../../engine/index.ts'
import type { Rate } from './counters.ts'
import type { By } from './failover-counters.ts'
import { Estimates } from './estimate.ts'
import { showLevels, shownTo } from './headers.ts'
import { lastingOf } from './lasting.ts'
import { rateExceeded } from './refusal.ts'
import { leftEarly } from './left-early.ts'
import type { Limits } from './limits.ts'
import type { RateRule, Rules } from './rules.ts'
import { countedTokens } from './running-exchanges.ts'
import type { LimitSettings } from './settings.ts'
import { limitsShower } from './shown-limits.ts'
import { after } from './soon.ts'
import type { Soon } from './soon.ts'

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
      const estimated = rules.countsTokens ? estimates.tokens(request, settings) : 0
      const isRun = job !== undefined
      const only = isRun ? 'tokens' : tokenless.has(request.operation) ? 'requests' : undefined
      const rates = only === undefined ? rules.rates : rules.rates.filter(({ counts }) => counts === only)
      const taking = takingOf(rates, estimated)
      const { places } = rules
      return after(counting.take({ id: scope.id, lasts, rates: taking, places, forced: isRun }), (taken) => {
        if (settings.headers) showLevels(rates, taken.levels, show, scope)
        if (taken.by === 'local') scope.header('x-gateway-limit', 'local')
        if (taken.refused) throw refusal(limits, rules, rates, taken.refused, scope)
        const use = new LimitedUse(limits, scope, taking, rules.placeBuckets, taken.by)
        // A place is free when the client has its answer, before the exchange is logged, and nobody works for it.
        if (!request.background) scope.onEnd?.(() => use.leave())
        settle(({ bill, model, job: started }, { error }) => {
          const used = leftEarly(error?.code, scope) ? undefined : usedOf(bill, model, settings)
          // A response in the background keeps its place until its run has ended.
          return use.end(used, error !== undefined && isRefused(scope), started !== undefined && !isRun)
        })
        return nothing
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

/** A limit of requests is taken as it is. */
function takingOf(rates: readonly RateRule[], tokens: number): readonly Rate[] {
  return rates.map((rate) => (rate.counts === 'requests' ? rate : withAmount(rate, Math.min(tokens, rate.limit))))
}

function withAmount({ bucket, counts, limit, period }: Rate, amount: number): Rate {
  return { bucket, counts, limit, period, amount }
}

const nothing = {}
const none: readonly never[] = []

/** What one exchange has taken. */
class LimitedUse {
  readonly #limits: Pick<Limits, 'counting' | 'running'>
  readonly #scope: Scope
  readonly #rates: readonly Rate[]
  readonly #by: By
  /** Buckets in which it has a place. */
  #places: readonly string[]

  constructor(
    limits: Pick<Limits, 'counting' | 'running'>,
    scope: Scope,
    rates: readonly Rate[],
    places: readonly string[],
    by: By,
  ) {
    this.#limits = limits
    this.#scope = scope
    this.#rates = rates
    this.#places = places
    this.#by = by
  }

  /** Gives its places back, as soon as nobody works for it. */
  leave(): void {
    const places = this.#places
    if (places.length === 0) return
    this.#places = none
    const worked = this.#limits.running.worked(this.#scope)
    void after(worked, () => this.#limits.counting.give({ id: this.#scope.id, rates: none, places }, this.#by))
  }

  /**
   * Gives back what was not used.
   * @param used tokens; undefined: unknown
   * @param isRefused whether it has used nothing, and was no request either
   * @param goesOn whether a run in the background ends what it holds
   */
  end(used: number | undefined, isRefused: boolean, goesOn: boolean): Soon<void> {
    const { counting, running } = this.#limits
    const { id } = this.#scope
    const rates = this.#unused(used, running.of(this.#scope).tokens, isRefused)
    const places = goesOn ? none : this.#places
    if (!goesOn) this.#places = none
    const passing = goesOn ? counting.passOn(id) : undefined
    if (rates.length === 0 && places.length === 0) return passing
    return after(passing, () => counting.give({ id, rates, places }, this.#by))
  }

  /** @param taken tokens that the exchange has taken since, while it ran */
  #unused(used: number | undefined, taken: number, isRefused: boolean): readonly Rate[] {
    let unused: Rate[] | undefined
    for (const rate of this.#rates) {
      const ofTokens = used === undefined ? 0 : rate.amount + taken - used
      const amount = rate.counts === 'tokens' ? ofTokens : isRefused ? 1 : 0
      if (amount === 0) continue
      const back = amount === rate.amount ? rate : withAmount(rate, amount)
      // V8 gives a list that grows from nothing room for 17 elements.
      if (unused) unused.push(back)
      else unused = [back]
    }
    return unused ?? none
  }
}

function refusal(
  { refused }: Pick<Limits, 'refused'>,
  rules: Rules,
  rates: readonly RateRule[],
  { index, wait }: { index: number; wait: number },
  scope: Scope,
) {
  const rule = rates[index] ?? rules.places[index - rates.length]
  if (rule === undefined) throw new Error('a limit refused a request that nobody knows')
  refused(rule.kind, rates[index]?.counts ?? 'concurrency')
  return rateExceeded(rule, wait, scope)
}

/** Tokens that count towards limits; undefined: unknown. An exchange that failed before its answer began used none. */
function usedOf(bill: Bill | undefined, model: Candidate | undefined, settings: LimitSettings): number | undefined {
  if (bill === undefined) return undefined
  if (bill.tokens === undefined) return model === undefined ? 0 : undefined
  return countedTokens(bill.tokens, settings)
}
