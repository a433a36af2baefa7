import type { Catalog, JsonObject, Mode, ModelRecord, Services, Tier } from '../../engine/index.ts'
import type { Known } from './choose.ts'
import { forecast } from './forecast.ts'
import type { Propensity, PropensityArm } from './propensity.ts'
import { costScale, levelOf, needOf, priorMean } from './score.ts'
import { measuredBy } from './settings.ts'
import type { RoutingSettings } from './settings.ts'
import type { Difficulty } from './tier.ts'

export interface Replaying {
  /** The settings by which it was decided. */
  readonly before: RoutingSettings
  readonly settings: RoutingSettings
  readonly catalog: Catalog
  readonly experience: Pick<Services['experience'], 'posterior' | 'outcomes'>
}

/** What a block says, in the types of a decision. */
export interface Past extends Difficulty {
  readonly id: string
  readonly mode: Mode
  readonly chosen: string
  readonly notes: readonly string[]
  readonly facts: JsonObject
  readonly estimate: { readonly input: number; readonly cost: number | null }
  readonly propensity: Propensity
}

interface Arms {
  readonly known: readonly Known[]
  /** Those that cannot be chosen any more. They have drawn, too. */
  readonly gone: Propensity['arms']
}

/** The models of a decision as they were, with what other settings and another difficulty change of them. */
export function armsNow(past: Past, difficulty: Difficulty, replaying: Replaying): Arms {
  const { catalog, experience, before, settings } = replaying
  const { arms, terms } = past.propensity
  // The estimate has the ratio of the model that was chosen in it.
  const input = past.estimate.input / experience.outcomes(past.chosen, past.tier, measuredBy(before)).inputRatio
  const expected = { input, maxOutput: undefined, incumbent: undefined }
  const found = arms.flatMap((arm, index) => {
    const record = eligible(arm, catalog)
    if (record === undefined) return []
    const forecastIn = (tier: Tier) =>
      forecast(record, tier, expected, experience.outcomes(record.name, tier, measuredBy(before)))
    return [
      { arm, record, rest: terms?.rest[index] ?? 0, was: forecastIn(past.tier), now: forecastIn(difficulty.tier) },
    ]
  })
  const least = { was: lowest(found.map(({ was }) => was.cost)), now: lowest(found.map(({ now }) => now.cost)) }
  const known = found.map(({ arm, record, rest, was, now }): Known => {
    const level = levelOf(record.quality_tier)
    // What another tier changes of the cost changes its place among the others.
    const moved = difficulty.tier === past.tier ? 0 : costScale(now.cost, least.now) - costScale(was.cost, least.was)
    const isIncumbent = record.name === terms?.incumbent?.model
    return {
      arm: {
        model: record.name,
        level,
        cost: now.cost,
        ...beliefNow(arm, { level, past, difficulty }, replaying),
        reliability: 1,
        firstByte: null,
        bonus: isIncumbent ? settings.continuity.bonus : 0,
        recorded: { c: Math.min(1, Math.max(0, arm.c + moved)), rest },
      },
      entry: {
        model: record,
        candidates: [],
        isBroken: terms?.broken?.includes(record.name) ?? false,
        cost: now.cost,
      },
      forecast: now,
      observations: 0,
      pulls: 0,
    }
  })
  return { known, gone: arms.filter((arm) => eligible(arm, catalog) === undefined) }
}

function eligible({ model }: PropensityArm, catalog: Replaying['catalog']): ModelRecord | undefined {
  const record = catalog.find(model)
  return record?.name === model && record.enabled !== false && record.auto_eligible ? record : undefined
}

interface Believing {
  readonly level: number
  readonly past: Past
  readonly difficulty: Difficulty
}

/** What was known of the quality of a model, over the expectation that the settings and the difficulty give. */
function beliefNow(
  { model, a, b, gate }: PropensityArm,
  { level, past, difficulty: { benefit, tier } }: Believing,
  { before, settings, experience }: Replaying,
): Pick<Known['arm'], 'a' | 'b' | 'gate'> {
  const { mode } = past
  const { window, prior_strength: strength, implicit } = settings.experience
  const mean = priorMean(needOf(benefit, mode), level)
  if (tier !== past.tier) {
    const {
      observations: _,
      pulls: __,
      ...belief
    } = experience.posterior({ model, mode, tier }, { mean, window, strength, implicit })
    return belief
  }
  const old = priorMean(needOf(past.benefit, mode), level)
  const was = before.experience.prior_strength
  const moved = (belief: { readonly a: number; readonly b: number }) => {
    if (mean === old && strength === was) return belief
    const [successes, failures] = [Math.max(0, belief.a - was * old), Math.max(0, belief.b - was * (1 - old))]
    return { a: strength * mean + successes, b: strength * (1 - mean) + failures }
  }
  return { ...moved({ a, b }), ...(gate && { gate: moved(gate) }) }
}

function lowest(costs: readonly (number | null)[]): number | null {
  const known = costs.filter((cost) => cost !== null)
  return known.length === 0 ? null : Math.min(...known)
}
