import { tiers } from './consultation.ts'
import type { Judgement, Tier } from './consultation.ts'
import type { JudgeSettings } from './gate.ts'
import { rounded } from './reading.ts'

/** Complexity in the middle of each tier, and the lowest and the highest one that is shown as a part of it. */
const ranges: Readonly<Record<Tier, { readonly centre: number; readonly low: number; readonly high: number }>> = {
  SIMPLE: { centre: 0.165, low: 0, high: 0.329 },
  MEDIUM: { centre: 0.5, low: 0.33, high: 0.669 },
  COMPLEX: { centre: 0.835, low: 0.67, high: 1 },
}

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
  const { centre, low, high } = ranges[verdict]
  if (distribution === undefined) return centre
  const mean = tiers.reduce((sum, tier) => sum + distribution[tier] * ranges[tier].centre, 0)
  return rounded(Math.min(high, Math.max(low, mean)))
}
