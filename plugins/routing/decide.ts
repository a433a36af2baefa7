import type { Mode, Services } from '../../engine/index.ts'
import { trialOf } from './explore.ts'
import { forecast } from './forecast.ts'
import type { Forecast } from './forecast.ts'
import type { Propensity } from './propensity.ts'
import { Random, hash01 } from './random.ts'
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

type Known = Omit<Considered, keyof Scored | 'entry'> & { readonly arm: Arm; readonly entry: ShortlistEntry }

/** Puts the models of a shortlist in order. Without exploration, it depends on what it is given alone. */
export function decide(deciding: Deciding): Choice {
  const { id, mode, difficulty, step, shortlist, settings, experience } = deciding
  const { exploration, quality_weights: weights, quality_gate: gates } = settings
  const known = new Map(shortlist.entries.map((entry) => [entry.model.name, knownOf(entry, deciding)]))
  const arms = [...known.values()].map(({ arm }) => arm)
  const rules = { mode, complexity: difficulty.complexity, weight: weights[mode], gate: gates[mode] }
  const { spent } = experience
  const isPaid = spent.extra <= exploration.budget_share * spent.routed
  const explores = exploration.enabled && step === 0 && isPaid
  const isDegraded = shortlist.notes.includes('degraded=context')
  const inPlace = (order: readonly Scored[]) =>
    order.toSorted((one, other) => comparedPlaces(entryOf(one), entryOf(other), isDegraded))
  const sure = inPlace(ranked(arms, rules))
  const seed = settings.seed ?? ''
  const drawn = explores ? inPlace(ranked(arms, { ...rules, random: new Random(id, seed) })) : sure
  const stuck = sticking(deciding, mode)
  const competing = sure.filter((one) => sure[0] && comparedPlaces(entryOf(sure[0]), entryOf(one), isDegraded) === 0)
  const trial =
    explores && stuck.model === undefined && difficulty.tier !== 'COMPLEX'
      ? trialOf(competing, (model) => known.get(model)?.pulls ?? 0, {
          pulls: exploration.warmup_pulls,
          ratio: exploration.max_cost_ratio[mode],
        })
      : undefined
  const isTrial = trial !== undefined && hash01(`${id}trial`) < exploration.trial_share
  const front = stuck.model ?? (isTrial ? trial : undefined)
  const order = front === undefined ? drawn : drawn.toSorted((one, other) => rankOf(one) - rankOf(other))
  const [chosen, ...others] = order.map((one): Considered => consideredOf(one))
  if (chosen === undefined) throw new Error('the shortlist is empty')
  const surest = stuck.model ?? sure[0]?.model
  return {
    order: [chosen, ...others],
    explored: chosen.model !== surest,
    extra: Math.max(0, (chosen.cost ?? 0) - (known.get(surest ?? '')?.forecast.cost ?? 0)),
    propensity: {
      policy: explores ? 'ts-1' : 'mean-1',
      seed,
      trial_p: trial === undefined ? 0 : exploration.trial_share,
      arms: propensityArms(stuck.model === undefined ? drawn.filter(competes) : [chosen], trial),
    },
    notes: [...stuck.notes, ...brokenNotes(shortlist.entries), ...(isTrial ? [`explore=trial:${trial}`] : [])],
  }

  function entryOf({ model }: Scored): ShortlistEntry {
    return (known.get(model) as Known).entry
  }
  function consideredOf(one: Scored): Considered {
    const { arm: _, ...rest } = known.get(one.model) as Known
    return { ...one, ...rest }
  }
  function rankOf({ model }: Scored): number {
    return model === front ? 0 : 1
  }
  function competes({ model }: Scored): boolean {
    return competing.some((one) => one.model === model)
  }
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

/** Models that fail go last. Where none has enough context, the largest goes first. */
function comparedPlaces(one: ShortlistEntry, other: ShortlistEntry, isDegraded: boolean): number {
  const windowOf = ({ model }: ShortlistEntry) => model.context_length ?? Infinity
  if (one.isBroken !== other.isBroken) return Number(one.isBroken) - Number(other.isBroken)
  return isDegraded && windowOf(one) !== windowOf(other) ? windowOf(other) - windowOf(one) : 0
}

function brokenNotes(entries: readonly ShortlistEntry[]): readonly string[] {
  const broken = entries.filter(({ isBroken }) => isBroken)
  return [...new Set(broken.flatMap(({ candidates }) => candidates.map(({ provider }) => `circuit=${provider.name}`)))]
}

/** Those that could have been chosen, in order of name. */
function propensityArms(order: readonly Scored[], trial: string | undefined): Propensity['arms'] {
  // If none has passed, they compete all the same.
  const all = order.every(({ pass }) => !pass)
  return order
    .map(({ model, a, b, handicap, pass }) => ({
      model,
      a,
      b,
      c: handicap,
      pass: pass || all,
      ...(model === trial ? { trial: true as const } : {}),
    }))
    .toSorted((one, other) => (one.model < other.model ? -1 : 1))
}
