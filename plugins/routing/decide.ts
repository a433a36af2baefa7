import type { Mode, Services } from '../../engine/index.ts'
import { hash01 } from '../../engine/kit.ts'
import { trialOf } from './explore.ts'
import { forecast } from './forecast.ts'
import type { Forecast } from './forecast.ts'
import type { Propensity } from './propensity.ts'
import { Random } from './random.ts'
import { levelOf, needOf, priorMean, ranked } from './score.ts'
import type { Arm, Scored } from './score.ts'
import type { RoutingSettings } from './settings.ts'
import type { Shortlist, ShortlistEntry } from './shortlisted.ts'
import { sticking } from './sticking.ts'
import type { Difficulty } from './tier.ts'

/** What a decision is made of. */
export interface Deciding {
  /** Id of the request, from which random numbers follow. */
  readonly id: string
  readonly mode: Mode
  readonly difficulty: Difficulty
  /** Results of tools since the last turn of the user. */
  readonly step: number
  readonly shortlist: Pick<Shortlist, 'entries' | 'notes' | 'incumbent' | 'input' | 'maxOutput'>
  readonly settings: RoutingSettings
  readonly experience: Pick<Services['experience'], 'posterior' | 'outcomes' | 'spent'>
}

/** A model that was considered. */
export interface Considered extends Scored {
  readonly entry: ShortlistEntry
  readonly forecast: Forecast
  readonly observations: number
  readonly pulls: number
}

/** The models in the order in which they are asked, and how that came about. */
export interface Choice {
  /** The first one is chosen. */
  readonly order: readonly [Considered, ...Considered[]]
  /** Whether the choice is a trial, or differs from the best one by means. */
  readonly explored: boolean
  /** What it is predicted to cost more than the best one by means, in USD, from 0. */
  readonly extra: number
  readonly propensity: Propensity
  /** Such as `explore=trial:small`. */
  readonly notes: readonly string[]
}

/** What is known of a model before it is scored. */
interface Known extends Omit<Considered, keyof Scored> {
  readonly arm: Arm
}

/** Puts the models of a shortlist in order. Without exploration, it depends on what it is given alone. */
export function decide(deciding: Deciding): Choice {
  const { id, mode, shortlist, settings } = deciding
  const { exploration } = settings
  const { sure, drawn, explores } = ordersOf(deciding)
  const stuck = sticking(deciding, mode)
  const places = placesIn(shortlist)
  const competing = sure.filter((one) => places(sure[0], one) === 0)
  const trial = explores ? trialFor(competing, deciding) : undefined
  const isTrial = trial !== undefined && hash01(`${id}trial`) < exploration.trial_share
  const order = withFirst(drawn, stuck.model ?? (isTrial ? trial : undefined))
  const [chosen] = order
  const best = stuck.model === undefined ? sure[0] : chosen
  const open = stuck.model === undefined ? drawn.filter((one) => places(drawn[0], one) === 0) : [chosen]
  return {
    order,
    explored: chosen.model !== best.model,
    extra: Math.max(0, (chosen.cost ?? 0) - (best.cost ?? 0)),
    propensity: {
      policy: explores ? 'ts-1' : 'mean-1',
      seed: settings.seed ?? '',
      trial_p: trial === undefined ? 0 : exploration.trial_share,
      arms: propensityArms(drawn, trial, (one) => open.some(({ model }) => model === one.model)),
    },
    notes: [...stuck.notes, ...brokenNotes(shortlist.entries), ...(isTrial ? [`explore=trial:${trial}`] : [])],
  }
}

type Order = Choice['order']

/** The models in order by means, and as they were drawn; both are the same where nothing is explored. */
function ordersOf(deciding: Deciding): { readonly sure: Order; readonly drawn: Order; readonly explores: boolean } {
  const { id, mode, difficulty, step, shortlist, settings, experience } = deciding
  const { exploration, quality_weights: weights, quality_gate: gates, seed } = settings
  const known = new Map(shortlist.entries.map((entry) => [entry.model.name, knownOf(entry, deciding)]))
  const arms = [...known.values()].map(({ arm }) => arm)
  const rules = { mode, complexity: difficulty.complexity, weight: weights[mode], gate: gates[mode] }
  const places = placesIn(shortlist)
  const ordered = (random?: Random): Order => {
    const scored = ranked(arms, { ...rules, random }).map((one): Considered => {
      const { arm: _arm, ...rest } = known.get(one.model) as Known
      return { ...one, ...rest }
    })
    return scored.sort(places) as unknown as Order
  }
  const { spent } = experience
  const isPaid = spent.extra <= exploration.budget_share * spent.routed
  const explores = exploration.enabled && step === 0 && isPaid
  const sure = ordered()
  return { sure, drawn: explores ? ordered(new Random(id, seed ?? '')) : sure, explores }
}

/** The model that a trial would go to. Hard requests are not tried out on models. */
function trialFor(competing: readonly Considered[], { mode, difficulty, settings }: Deciding): string | undefined {
  if (difficulty.tier === 'COMPLEX') return undefined
  const { warmup_pulls: pulls, max_cost_ratio: ratios } = settings.exploration
  const counts = new Map(competing.map((one) => [one.model, one.pulls]))
  return trialOf(competing, (model) => counts.get(model) ?? 0, { pulls, ratio: ratios[mode] })
}

/** The order, but with one model before all others. */
function withFirst(order: Order, front: string | undefined): Order {
  const first = order.find(({ model }) => model === front)
  return first === undefined ? order : [first, ...order.filter((one) => one !== first)]
}

/** What is known of a model, as an arm of the bandit. */
function knownOf(entry: ShortlistEntry, { mode, difficulty, shortlist, settings, experience }: Deciding): Known {
  const { name, quality_tier: quality } = entry.model
  const { tier, complexity } = difficulty
  const { window, prior_strength: strength, implicit } = settings.experience
  const level = levelOf(quality)
  const mean = priorMean(needOf(complexity, mode), level)
  const { a, b, observations, pulls } = experience.posterior(
    { model: name, mode, tier },
    { mean, window, strength, implicit },
  )
  const { reliability, firstByte } = experience.outcomes(name, tier)
  const predicted = forecast(entry.model, tier, shortlist, experience)
  const bonus = shortlist.incumbent?.model === name ? settings.continuity.bonus : 0
  const arm = { model: name, level, cost: predicted.cost, a, b, reliability, firstByte, bonus }
  return { entry, arm, forecast: predicted, observations, pulls }
}

/** Compares models: those that fail go last; where none has enough context, the largest goes first. */
function placesIn({ notes }: Pick<Shortlist, 'notes'>): (one: Considered, other: Considered) => number {
  const isDegraded = notes.includes('degraded=context')
  const windowOf = ({ entry }: Considered) => entry.model.context_length ?? Infinity
  return (one, other) => {
    if (one.entry.isBroken !== other.entry.isBroken) return Number(one.entry.isBroken) - Number(other.entry.isBroken)
    return isDegraded && windowOf(one) !== windowOf(other) ? windowOf(other) - windowOf(one) : 0
  }
}

function brokenNotes(entries: readonly ShortlistEntry[]): readonly string[] {
  const broken = entries.filter(({ isBroken }) => isBroken)
  return [...new Set(broken.flatMap(({ candidates }) => candidates.map(({ provider }) => `circuit=${provider.name}`)))]
}

/** All that have drawn, in order of name: only with all of them can the draws be repeated. */
function propensityArms(
  order: readonly Scored[],
  trial: string | undefined,
  competes: (one: Scored) => boolean,
): Propensity['arms'] {
  // If none of those that compete has passed, they compete all the same.
  const all = order.filter(competes).every(({ pass }) => !pass)
  return order
    .map((one) => ({
      model: one.model,
      a: one.a,
      b: one.b,
      c: one.handicap,
      pass: competes(one) && (one.pass || all),
      ...(one.model === trial ? { trial: true as const } : {}),
    }))
    .toSorted((one, other) => (one.model < other.model ? -1 : 1))
}
