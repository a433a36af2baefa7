import type { Tier } from '../../engine/index.ts'
import { tierRanges, tiers } from '../../engine/kit.ts'
import type { Judgement } from './consultation.ts'
import type { JudgeSettings } from './gate.ts'
import { rounded } from './reading.ts'

/** Probability of the tiers above that of the signals; undefined: the upstream reported no probabilities. */
export function escalationOf({ verdict, distribution }: Judgement, ensemble: Tier): number | undefined {
  if (verdict === undefined || distribution === undefined) return undefined
  const above = tiers.slice(tiers.indexOf(ensemble) + 1)
  return rounded(above.reduce((sum, tier) => sum + distribution[tier], 0))
}

/**
 * Whether a verdict replaces the tier of the signals: it clears one of the bars that are set, or none is set. A verdict
 * that does not is `held`.
 */
export function applies(said: Judgement, ensemble: Tier, settings: JudgeSettings): 'applied' | 'held' | undefined {
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
export function complexityOf(verdict: Tier, distribution: Judgement['distribution']): number {
  const { centre, from, to } = tierRanges[verdict]
  if (distribution === undefined) return centre
  const mean = tiers.reduce((sum, tier) => sum + distribution[tier] * tierRanges[tier].centre, 0)
  return rounded(Math.min(to, Math.max(from, mean)))
}
