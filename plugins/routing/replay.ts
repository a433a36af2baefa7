import { isDeepStrictEqual } from 'node:util'
import type { Catalog, GenerateRequest, Json, JsonObject, Mode, Services, Tier } from '../../engine/index.ts'
import { hash01, isObject, tierOf } from '../../engine/kit.ts'
import { forecast } from './forecast.ts'
import type { Propensity } from './propensity.ts'
import { Random } from './random.ts'
import { costScale, levelOf, needOf, priorMean, qualityShare, ranked } from './score.ts'
import type { Arm } from './score.ts'
import type { RoutingSettings } from './settings.ts'
import { limited } from './tier.ts'
import type { Difficulty } from './tier.ts'

/** A decision of the past: the id of its request, and the block of its row. */
export interface PastDecision {
  readonly id: string
  readonly block: JsonObject
}

/** What a decision would be now. */
export interface Replayed {
  /** Null: nothing would be chosen. */
  readonly model: string | null
  readonly tier: Tier | null
  /** Predicted, in USD; null: unknown. */
  readonly cost: number | null
  /** `same`, `tier`, `score`, `gone` or `off`. */
  readonly because: 'same' | 'tier' | 'score' | 'gone' | 'off'
}

export interface Replaying {
  /** The settings by which it was decided. */
  readonly before: RoutingSettings
  readonly settings: RoutingSettings
  readonly catalog: Catalog
  readonly experience: Pick<Services['experience'], 'posterior' | 'outcomes'>
}

/** What a block says, in the types of a decision. */
interface Past extends Difficulty {
  readonly id: string
  readonly mode: Mode
  readonly chosen: string
  readonly incumbent: Json | undefined
  readonly facts: JsonObject
  readonly estimate: { readonly input: number; readonly cost: number | null }
  readonly propensity: Propensity
  /** The part of the score that quality had. */
  readonly share: number
}

/**
 * Decides a request again, from the row of it alone: with equal settings, the choice is the same. What was known of the
 * models then counts, except in a tier that the request was not in. The gates, and what a judge said, stay as they were.
 * Undefined: the request was refused.
 */
export function replayed({ id, block }: PastDecision, replaying: Replaying): Replayed | undefined {
  const past = pastIn(id, block, replaying)
  if (past === undefined) return undefined
  const { settings } = replaying
  if (!settings.enabled) return { model: null, tier: null, cost: null, because: 'off' }
  const difficulty = difficultyNow(block, past, replaying)
  const arms = armsNow(past, difficulty, replaying)
  const model = chosenNow(arms, past, difficulty, replaying)
  if (model === undefined) return { model: null, tier: difficulty.tier, cost: null, because: 'gone' }
  const isSame = model === past.chosen && difficulty.tier === past.tier
  const cost = isSame ? past.estimate.cost : (arms.find((arm) => arm.model === model)?.cost ?? null)
  const isGone = !arms.some((arm) => arm.model === past.chosen)
  const changed = isGone ? 'gone' : difficulty.tier === past.tier ? 'score' : 'tier'
  return { model, tier: difficulty.tier, cost, because: isSame ? 'same' : changed }
}

function pastIn(id: string, block: JsonObject, { before }: Replaying): Past | undefined {
  const { chosen, propensity, estimate, complexity, tier, mode } = block
  if (typeof chosen !== 'string' || !isObject(propensity) || !isObject(estimate)) return undefined
  const weights = objectIn(objectIn(block['diagnostics'])['weights'])
  const usual = qualityShare(Number(complexity), before.quality_weights[mode as Mode])
  return {
    id,
    chosen,
    mode: mode as Mode,
    tier: tier as Tier,
    complexity: Number(complexity),
    incumbent: block['incumbent'],
    facts: objectIn(objectIn(block['features'])['facts']),
    estimate: estimate as unknown as Past['estimate'],
    propensity: propensity as unknown as Propensity,
    share: typeof weights['quality'] === 'number' ? weights['quality'] : usual,
  }
}

/** The difficulty by the floors and caps of the settings. A verdict that was applied stays. */
function difficultyNow(block: JsonObject, past: Past, { before, settings }: Replaying): Difficulty {
  const { complexity, tier, facts } = past
  const isUnclassified = block['confidence'] === 0 && block['confidence_raw'] === 0
  const isUnchanged =
    isDeepStrictEqual([before.floors, before.caps], [settings.floors, settings.caps]) &&
    (!isUnclassified || before.default_complexity === settings.default_complexity)
  if (isUnchanged || objectIn(block['judge'])['applied'] === true) return { complexity, tier }
  const seen = isUnclassified ? settings.default_complexity : Number(objectIn(block['ensemble'])['complexity'])
  const hasSchema = Number(facts['schema_depth'] ?? 0) + Number(facts['schema_fields'] ?? 0) > 0
  const format = hasSchema ? ({ type: 'schema' } as GenerateRequest['format']) : undefined
  const now = limited({ complexity: seen, tier: tierOf(seen) }, { facts, format }, settings)
  return { complexity: now.complexity, tier: now.tier }
}

/** The models as they were, with what the settings change of them. Those whose records are gone are left out. */
function armsNow(past: Past, difficulty: Difficulty, replaying: Replaying): readonly Arm[] {
  const { catalog, experience } = replaying
  const { estimate, propensity } = past
  const expected = { input: estimate.input, maxOutput: undefined, incumbent: undefined }
  const found = propensity.arms.flatMap((arm) => {
    const record = catalog.find(arm.model)
    if (record?.name !== arm.model || record.enabled === false || !record.auto_eligible) return []
    const costIn = (tier: Tier) => forecast(record, tier, expected, experience).cost
    return [{ arm, level: levelOf(record.quality_tier), was: costIn(past.tier), cost: costIn(difficulty.tier) }]
  })
  const cheapest = found.reduce<number | null>((least, { was }) => lower(least, was), null)
  return found.map(({ arm, level, was, cost }) => ({
    model: arm.model,
    level,
    cost,
    ...beliefNow(arm, level, past, difficulty, replaying),
    reliability: 1,
    firstByte: null,
    // All of its score that is neither quality nor cost.
    bonus: (1 - past.share) * costScale(was, cheapest) - past.share * arm.c + loyalty(arm.model, past, replaying),
  }))
}

/** What was known of the quality of a model, over the expectation that the settings and the difficulty give. */
function beliefNow(
  { model, a, b }: Propensity['arms'][number],
  level: number,
  past: Past,
  { complexity, tier }: Difficulty,
  { before, settings, experience }: Replaying,
): { readonly a: number; readonly b: number } {
  const { mode } = past
  const { window, prior_strength: strength, implicit } = settings.experience
  const mean = priorMean(needOf(complexity, mode), level)
  if (tier !== past.tier) return experience.posterior({ model, mode, tier }, { mean, window, strength, implicit })
  const old = priorMean(needOf(past.complexity, mode), level)
  const was = before.experience.prior_strength
  if (mean === old && strength === was) return { a, b }
  const [successes, failures] = [Math.max(0, a - was * old), Math.max(0, b - was * (1 - old))]
  return { a: strength * mean + successes, b: strength * (1 - mean) + failures }
}

/** What a change of the bonus of continuity adds. */
function loyalty(model: string, { incumbent }: Past, { before, settings }: Replaying): number {
  return incumbent === model ? settings.continuity.bonus - before.continuity.bonus : 0
}

function chosenNow(
  arms: readonly Arm[],
  past: Past,
  difficulty: Difficulty,
  { before, settings }: Replaying,
): string | undefined {
  const { exploration, quality_weights: weights, quality_gate: gates } = settings
  const { id, mode, propensity, facts } = past
  const explores = exploration.enabled && propensity.policy === 'ts-1' && Number(facts['step'] ?? 0) === 0
  const trial = propensity.arms.find((arm) => arm.trial)?.model
  const isTrial = explores && difficulty.tier !== 'COMPLEX' && hash01(`${id}trial`) < exploration.trial_share
  if (isTrial && trial !== undefined && arms.some(({ model }) => model === trial)) return trial
  const rules = { mode, complexity: difficulty.complexity, weight: weights[mode], gate: gates[mode] }
  const seed = settings.seed === before.seed ? propensity.seed : (settings.seed ?? '')
  const random = explores ? { random: new Random(id, seed) } : {}
  return ranked(arms, { ...rules, ...random })[0]?.model
}

function lower(one: number | null, other: number | null): number | null {
  return one === null || other === null ? (one ?? other) : Math.min(one, other)
}

function objectIn(value: Json | undefined): JsonObject {
  return isObject(value) ? value : {}
}
