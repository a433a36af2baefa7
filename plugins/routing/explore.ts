import { costRatio } from './score.ts'
import type { Scored } from './score.ts'

export interface TrialRules {
  /** Choices of a model in this mode and tier after which it needs no trial. */
  readonly pulls: number
  /** How many times as much as the winner a trial may cost. */
  readonly ratio: number
}

/**
 * The model that a trial goes to: the one that was chosen least, of those that passed the gate of quality and cost at
 * most `ratio` times as much as the winner by means. Undefined: every other model was chosen often enough, or costs too
 * much. It does not depend on draws, so that the probability of a choice can be computed.
 * @param order all models, ordered by means; the first is the winner
 * @param pulled how often a model was chosen in this mode and tier
 */
export function trialOf(
  [winner, ...others]: readonly Scored[],
  pulled: (model: string) => number,
  { pulls, ratio }: TrialRules,
): string | undefined {
  if (winner === undefined) return undefined
  let least: string | undefined
  let fewest = pulls
  for (const { model, pass, cost } of others) {
    if (!pass || (costRatio(cost, winner.cost) ?? Infinity) > ratio) continue
    const count = pulled(model)
    if (count >= fewest) continue
    least = model
    fewest = count
  }
  return least
}
