import type { Mode, Services } from '../../engine/index.ts'
import { chooseAmong } from './choose.ts'
import type { Choice, Known } from './choose.ts'
import { trialOf } from './explore.ts'
import { forecast } from './forecast.ts'
import { levelOf, needOf, priorMean } from './score.ts'
import type { Scored } from './score.ts'
import { measuredBy } from './settings.ts'
import type { RoutingSettings } from './settings.ts'
import type { Shortlist, ShortlistEntry } from './shortlisted.ts'
import type { Difficulty } from './tier.ts'

/** What a decision is made of. */
export interface Deciding {
  /** Id of the request, from which random numbers follow. */
  readonly id: string
  /** Id of the API key; null: it is none. */
  readonly key: string | null
  readonly mode: Mode
  readonly difficulty: Difficulty
  /** Results of tools since the last turn of the user. */
  readonly step: number
  readonly shortlist: Pick<Shortlist, 'entries' | 'notes' | 'incumbent' | 'input' | 'maxOutput'>
  readonly settings: RoutingSettings
  readonly experience: Pick<Services['experience'], 'posterior' | 'outcomes' | 'spent'>
}

/** Puts the models of a shortlist in order. Without exploration, it depends on what it is given alone. */
export function decide(deciding: Deciding): Choice {
  const { mode, step, shortlist, settings, experience } = deciding
  const { exploration } = settings
  const { spent } = experience
  const isPaid = spent.extra <= exploration.budget_share * spent.routed
  const rules = { pulls: exploration.warmup_pulls, ratio: exploration.max_cost_ratio[mode] }
  const known = shortlist.entries.map((entry) => knownOf(entry, deciding))
  const pulled = (model: string) => known.find(({ arm }) => arm.model === model)?.pulls ?? 0
  return chooseAmong(known, {
    ...deciding,
    explores: exploration.enabled && step === 0 && isPaid,
    trialAmong: (competing: readonly Scored[]) => trialOf(competing, pulled, rules),
  })
}

/** What is known of a model, as an arm of the bandit. */
function knownOf(entry: ShortlistEntry, deciding: Deciding): Known {
  const { key, mode, difficulty, shortlist, settings, experience } = deciding
  const { name, quality_tier: quality } = entry.model
  const { tier, benefit } = difficulty
  const { window, prior_strength: strength, implicit } = settings.experience
  const level = levelOf(quality)
  const mean = priorMean(needOf(benefit, mode), level)
  const { observations, pulls, a, b, gate } = experience.posterior(
    { model: name, mode, tier },
    { mean, window, strength, implicit },
  )
  const outcomes = experience.outcomes(name, tier, measuredBy(settings), key)
  const { reliability, firstByte } = outcomes
  const predicted = forecast(entry.model, tier, shortlist, outcomes)
  const bonus = shortlist.incumbent?.model === name ? settings.continuity.bonus : 0
  const arm = { model: name, level, cost: predicted.cost, a, b, gate, reliability, firstByte, bonus }
  return { entry, arm, forecast: predicted, observations, pulls }
}
