import { isDeepStrictEqual } from 'node:util'
import type { GenerateRequest, Json, JsonObject, Mode, Tier } from '../../engine/index.ts'
import { isObject, tierOf } from '../../engine/kit.ts'
import { chooseAmong } from './choose.ts'
import type { Propensity } from './propensity.ts'
import { armsNow } from './recorded-arms.ts'
import type { Past, Replaying } from './recorded-arms.ts'
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
  /** `gone`: the record of its model; `off`: no model is chosen; `partial`: the row has not all that it was made of. */
  readonly because: 'same' | 'tier' | 'score' | 'gone' | 'off' | 'partial'
}

/**
 * Decides a request again, from the row of it alone: with equal settings, the choice is the same. What was known of the
 * models then counts, except in a tier that the request was not in. The gates, and what a judge said, stay as they were.
 * Undefined: the request was refused.
 */
export function replayed({ id, block }: PastDecision, replaying: Replaying): Replayed | undefined {
  const past = pastIn(id, block)
  if (past === undefined) return undefined
  const { settings } = replaying
  const { chosen, estimate, propensity } = past
  if (!settings.enabled) return { model: null, tier: null, cost: null, because: 'off' }
  if (propensity.terms === undefined || propensity.terms.left_out !== undefined)
    return { model: chosen, tier: past.tier, cost: estimate.cost, because: 'partial' }
  const difficulty = difficultyNow(block, past, replaying)
  const { known, gone } = armsNow(past, difficulty, replaying)
  if (known.length === 0) return { model: null, tier: difficulty.tier, cost: null, because: 'gone' }
  const [first] = chooseAmong(known, { ...choosingNow(past, replaying), difficulty, gone }).order
  const isSame = first.model === chosen && difficulty.tier === past.tier
  const changed = gone.some(({ model }) => model === chosen) ? 'gone' : difficulty.tier === past.tier ? 'score' : 'tier'
  return {
    model: first.model,
    tier: difficulty.tier,
    cost: isSame ? estimate.cost : first.cost,
    because: isSame ? 'same' : changed,
  }
}

function pastIn(id: string, block: JsonObject): Past | undefined {
  // Rows of before there were two numbers were decided by their complexity.
  const { chosen, propensity, estimate, complexity, benefit = complexity, tier, mode, notes } = block
  if (typeof chosen !== 'string' || !isObject(propensity) || !isObject(estimate)) return undefined
  return {
    id,
    chosen,
    mode: mode as Mode,
    tier: tier as Tier,
    complexity: Number(complexity),
    benefit: Number(benefit),
    notes: Array.isArray(notes) ? notes.filter((note) => typeof note === 'string') : [],
    facts: objectIn(objectIn(block['features'])['facts']),
    estimate: estimate as unknown as Past['estimate'],
    propensity: propensity as unknown as Propensity,
  }
}

/** What a choice depends on beside the models and the difficulty. What explored then may explore now. */
function choosingNow({ id, mode, notes, facts, propensity }: Past, { before, settings }: Replaying) {
  const step = Number(facts['step'] ?? 0)
  const trial = propensity.arms.find((arm) => arm.trial)?.model
  return {
    id,
    mode,
    step,
    shortlist: { notes, incumbent: propensity.terms?.incumbent },
    // The seed may have been another one then.
    settings: settings.seed === before.seed ? { ...settings, seed: propensity.seed } : settings,
    explores: settings.exploration.enabled && propensity.policy === 'ts-1' && step === 0,
    trialAmong: (competing: readonly { readonly model: string }[]) =>
      competing.some(({ model }) => model === trial) ? trial : undefined,
  }
}

/** The difficulty by the floors and caps of the settings. A verdict that was applied stays. */
function difficultyNow(block: JsonObject, past: Past, { before, settings }: Replaying): Difficulty {
  const { complexity, benefit, tier, facts } = past
  const isUnclassified = block['confidence'] === 0 && block['confidence_raw'] === 0
  const isUnchanged =
    isDeepStrictEqual([before.floors, before.caps], [settings.floors, settings.caps]) &&
    (!isUnclassified || before.default_complexity === settings.default_complexity)
  if (isUnchanged || objectIn(block['judge'])['applied'] === true) return { complexity, benefit, tier }
  const ensemble = objectIn(block['ensemble'])
  const { complexity: signals, benefit: gained = ensemble['tier'] === tier ? benefit : signals } = ensemble
  const seen = isUnclassified ? settings.default_complexity : Number(signals)
  const hasSchema = Number(facts['schema_depth'] ?? 0) + Number(facts['schema_fields'] ?? 0) > 0
  const format = hasSchema ? ({ type: 'schema' } as GenerateRequest['format']) : undefined
  const { notes: _, ...now } = limited(
    { complexity: seen, tier: tierOf(seen), benefit: isUnclassified ? seen : Number(gained) },
    { facts, format },
    settings,
  )
  return now
}

function objectIn(value: Json | undefined): JsonObject {
  return isObject(value) ? value : {}
}
