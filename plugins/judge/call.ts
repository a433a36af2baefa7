import { performance } from 'node:perf_hooks'
import type { Dispatched, JsonObject, Tier } from '../../engine/index.ts'
import { tierRanges, tiers } from '../../engine/kit.ts'
import type { Admission } from './circuit.ts'
import type { Judgement, Verdict } from './consultation.ts'
import type { Gate, JudgeSettings } from './gate.ts'
import { rounded, saysWhat } from './reading.ts'

/** How a request came to be judged. */
export interface Circumstances {
  readonly settings: JudgeSettings
  readonly gate: Gate
  /** The tier of the signals. */
  readonly ensemble: Tier
}

/** Milliseconds beyond the deadline for which a judge is waited for whose call is over, but not logged. */
const grace = 25

/** A call of the judge, from its beginning until it is logged. */
export class Call {
  readonly #around: Circumstances
  readonly #began = performance.now()
  #judgement: Judgement = { asked: true }
  #id: string | undefined
  #latency: number | undefined
  #isMade = true
  #isOver = false
  #isLate = false
  /** Resolves when it is logged. */
  readonly done: Promise<void>

  /** @param dispatched undefined: it was not made after all */
  constructor(around: Circumstances, dispatched: Promise<Dispatched | undefined>, admission: Admission) {
    this.#around = around
    this.done = dispatched.then((call) => {
      this.#isOver = true
      if (!call) {
        this.#isMade = false
        return admission.ended(undefined, around.settings.circuit)
      }
      const { id, slots, outcome } = call
      this.#id = id
      this.#latency = Math.round(outcome.duration)
      // A pipeline of the operator's own may read nothing.
      this.#judgement = slots.judgement ?? { asked: true, error: outcome.error?.code ?? 'unparseable' }
      admission.ended(saysWhat(this.#judgement.error), around.settings.circuit)
    })
  }

  /** Waits for the verdict, at most until the deadline. */
  async verdict(): Promise<Verdict> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const deadline = this.#began + this.#around.settings.deadline_s * 1_000
    const timer = setTimeout(resolve, deadline + grace - performance.now())
    await Promise.race([this.done, promise])
    clearTimeout(timer)
    this.#isLate = !this.#isOver
    const said = this.#said
    const { verdict, distribution, mass } = said
    if (verdict === undefined) return this.#with({ notes: [] })
    if (applies(said, this.#around.ensemble, this.#around.settings) === 'applied')
      return this.#with({ tier: verdict, complexity: complexityOf(verdict, distribution), notes: [`judge=${verdict}`] })
    return this.#with({ notes: [`judge-held=${verdict}${mass === undefined ? '' : `(${mass.toFixed(2)})`}`] })
  }

  /** The verdict of a call that changes nothing, and that only the row of the request waits for. */
  shadow(): Verdict {
    return this.#with({ notes: [] })
  }

  #with(verdict: Pick<Verdict, 'tier' | 'complexity' | 'notes'>): Verdict {
    const cost = () => this.#said.cost
    return {
      ...verdict,
      done: this.done,
      get cost() {
        return cost()
      },
      block: () => (this.#isMade ? blockOf(this.#around, this.#said, { id: this.#id, latency: this.#latency }) : null),
    }
  }

  /** What counts of it: a verdict that came too late is none. */
  get #said(): Judgement {
    const { asked, inputTokens, cost, isCostTold } = this.#judgement
    return this.#isLate ? { asked, inputTokens, cost, isCostTold, error: 'deadline' } : this.#judgement
  }
}

/** What the row tells of a judge that is left alone because it fails. */
export function leftAlone(around: Circumstances): JsonObject {
  return blockOf(around, { asked: false, error: 'circuit_open' })
}

function blockOf(
  { settings, gate, ensemble }: Circumstances,
  said: Judgement,
  call: { readonly id?: string | undefined; readonly latency?: number | undefined } = {},
): JsonObject {
  const applied = applies(said, ensemble, settings)
  return {
    model: settings.model,
    request_id: call.id ?? null,
    shadow: settings.shadow,
    gate_fired: gate.gateFired,
    sampled: gate.sampled,
    sample_p: gate.sampleP,
    asked: said.asked,
    verdict: said.verdict ?? null,
    mass: said.mass ?? null,
    escalation: escalationOf(said, ensemble) ?? null,
    distribution: said.distribution ?? null,
    applied: applied === 'applied',
    held: applied === 'held',
    latency_ms: call.latency ?? null,
    input_tokens: said.inputTokens ?? null,
    cost: said.cost ?? null,
    cost_origin: originOf(said, settings),
    error: said.error ?? null,
  }
}

/** Where the cost comes from: the settings, the record of the judge, or its upstream. */
function originOf({ cost, isCostTold }: Judgement, { price }: JudgeSettings): string {
  if (cost === undefined) return 'unknown'
  if (isCostTold) return 'upstream'
  return price === null ? 'model' : 'override'
}

/** Probability of the tiers above that of the signals; undefined: the upstream reported no probabilities. */
function escalationOf({ verdict, distribution }: Judgement, ensemble: Tier): number | undefined {
  if (verdict === undefined || distribution === undefined) return undefined
  const above = tiers.slice(tiers.indexOf(ensemble) + 1)
  return rounded(above.reduce((sum, tier) => sum + distribution[tier], 0))
}

/**
 * Whether a verdict replaces the tier of the signals: it clears one of the bars that are set, or none is set. A verdict
 * that does not is `held`.
 */
function applies(said: Judgement, ensemble: Tier, settings: JudgeSettings): 'applied' | 'held' | undefined {
  if (settings.shadow || said.verdict === undefined) return undefined
  const { apply_min_confidence: least, apply_min_escalation: leastEscalation } = settings
  const bars = [
    [said.mass, least],
    [escalationOf(said, ensemble), leastEscalation],
  ] as const
  const isFree = bars.every(([, bar]) => bar === null)
  return isFree || bars.some(([value, bar]) => bar !== null && value !== undefined && value >= bar) ? 'applied' : 'held'
}

/** The complexity that a verdict stands for: the mean of the tiers, as far as it lies within that of the verdict. */
function complexityOf(verdict: Tier, distribution: Judgement['distribution']): number {
  const { centre, from, to } = tierRanges[verdict]
  if (distribution === undefined) return centre
  const mean = tiers.reduce((sum, tier) => sum + distribution[tier] * tierRanges[tier].centre, 0)
  return rounded(Math.min(to, Math.max(from, mean)))
}
