import type { Principal, Scope, Usage } from '../../engine/index.ts'
import type { Charges } from './charges.ts'
import type { FailoverCounters } from './failover-counters.ts'
import { budgetExceeded } from './refusal.ts'
import type { Refused } from './refusal.ts'
import type { Rules } from './rules.ts'
import type { LimitSettings } from './settings.ts'
import type { Soon } from './soon.ts'

/** What a running exchange has used. */
export interface UsedSoFar {
  readonly scope: Scope
  readonly principal: Principal | undefined
  /** Since the last call. */
  readonly tokens: Usage
  /** Cost of the whole exchange so far in micro-USD; undefined: unknown. */
  readonly micros: number | undefined
}

/** What an exchange was charged while it ran. */
export interface ChargedSoFar {
  readonly micros: number
  readonly tokens: number
  readonly parts: number
}

const nothing: ChargedSoFar = { micros: 0, tokens: 0, parts: 0 }

/** The exchanges of this process that are charged while they run, or that outlast their clients. */
export class RunningExchanges {
  readonly #counting: Pick<FailoverCounters, 'give'>
  readonly #charges: Pick<Charges, 'chargePart'>
  readonly #refused: Refused
  readonly #charged = new WeakMap<Scope, ChargedSoFar>()
  readonly #working = new WeakMap<Scope, () => Soon<void>>()

  constructor(counting: Pick<FailoverCounters, 'give'>, charges: Pick<Charges, 'chargePart'>, refused: Refused) {
    this.#counting = counting
    this.#charges = charges
    this.#refused = refused
  }

  of(scope: Scope): ChargedSoFar {
    return this.#charged.get(scope) ?? nothing
  }

  /** Somebody may still work for the exchange when it has ended. `worked` tells until when, and never rejects. */
  outlast(scope: Scope, worked: () => Soon<void>): void {
    this.#working.set(scope, worked)
  }

  /** The work for an exchange that has ended. */
  worked(scope: Scope): Soon<void> {
    return this.#working.get(scope)?.()
  }

  /** Takes the tokens from the rate limits, and charges the cost. Rejects when a budget has nothing left. */
  async charge(
    { scope, principal, tokens, micros }: UsedSoFar,
    { rates }: Rules,
    settings: LimitSettings,
  ): Promise<void> {
    const before = this.of(scope)
    const due = micros === undefined ? 0 : Math.max(0, Math.floor(micros) - before.micros)
    const counted = countedTokens(tokens, settings)
    const part = before.parts + 1
    this.#charged.set(scope, { micros: before.micros + due, tokens: before.tokens + counted, parts: part })
    const taken = rates.filter(({ counts }) => counts === 'tokens').map((rate) => ({ ...rate, amount: -counted }))
    const { id } = scope
    if (taken.length > 0) await this.#counting.give({ id, rates: taken, places: [] }, 'usual')
    const usedUp = await this.#charges.chargePart({ id, part, principal, micros: due })
    if (usedUp === undefined) return
    this.#refused(usedUp.budget.kind, 'budget')
    throw budgetExceeded(usedUp.budget, usedUp.state, scope)
  }
}

/** The tokens of a use that count towards rate limits. */
export function countedTokens(usage: Usage, { count_cache_reads: reads }: LimitSettings): number {
  const { input, cacheRead, cacheWrite, output, reasoning } = usage
  return input + cacheWrite + output + reasoning + (reads ? cacheRead : 0)
}
