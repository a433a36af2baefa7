import { Refusal } from '../../engine/index.ts'
import type { Json, JsonObject } from '../../engine/index.ts'
import { asText, isObject, tiers } from '../../engine/kit.ts'
import { evaluated } from './evaluate.ts'
import type { Evaluation, LoggedDecision } from './evaluate.ts'
import { chances } from './propensity.ts'
import type { Propensity, PropensityArm, Terms } from './propensity.ts'

/** A row of the request log whose decision was rated. */
export interface RatedRow {
  /** The object `routing` of the row. */
  readonly routing: JsonObject
  /** From 0 to 1. */
  readonly reward: number
}

/** The probability of each model to be chosen, for a row. */
type Policy = (propensity: Propensity, tier: string) => ReadonlyMap<string, number>

/**
 * Estimates what the mean reward would have been under another policy. Rows that do not say how they were decided are
 * left out, and so are those of models that failed: another model served them. Throws a `Refusal` for what is no policy.
 * @param policy `{ "model": name }`: always this model; `{ "tiers": { "SIMPLE": name, … } }`: one per tier;
 * `{ "policy": "mean-1" }`: the best mean, without trials; `{ "policy": "ts-1" }`: the best draw, without trials
 */
export function evaluationOf(rows: readonly RatedRow[], policy: Json | undefined): Evaluation {
  const wanted = policyIn(policy)
  return evaluated(rows.flatMap((row) => decisionIn(row, wanted) ?? []))
}

function decisionIn({ routing, reward }: RatedRow, policy: Policy): LoggedDecision | undefined {
  const { mode, tier, chosen, served, propensity: found } = routing
  const propensity = propensityIn(found)
  if (typeof mode !== 'string' || typeof tier !== 'string' || typeof chosen !== 'string') return undefined
  if (propensity === undefined || served !== chosen) return undefined
  const logged = chances(propensity)
  return { context: `${mode} ${tier}`, chosen, reward, logged, wanted: policy(propensity, tier) }
}

/** Undefined for a block of another version. */
function propensityIn(found: Json | undefined): Propensity | undefined {
  if (!isObject(found)) return undefined
  const { policy, seed, trial_p: trial, arms, terms } = found
  if (policy !== 'ts-1' && policy !== 'mean-1') return undefined
  if (typeof seed !== 'string' || typeof trial !== 'number' || !Array.isArray(arms) || !arms.every(isArm))
    return undefined
  const drawn: Propensity = { policy, seed, trial_p: trial, arms }
  if (terms === undefined) return drawn
  // Without all arms, nobody knows how probable each was.
  return isTerms(terms) && terms.left_out === undefined ? { ...drawn, terms } : undefined
}

function isArm(arm: unknown): arm is PropensityArm {
  if (!isObject(arm)) return false
  const { model, a, b, c, pass } = arm
  const isKnown = typeof a === 'number' && a > 0 && typeof b === 'number' && b > 0 && typeof c === 'number'
  return isKnown && typeof model === 'string' && typeof pass === 'boolean'
}

function isTerms(terms: unknown): terms is Terms {
  if (!isObject(terms)) return false
  const { share, rest } = terms
  return typeof share === 'number' && Array.isArray(rest) && rest.every((one) => typeof one === 'number')
}

function policyIn(policy: Json | undefined): Policy {
  const { model, tiers: models, policy: name, ...others } = isObject(policy) ? policy : {}
  const given = [model, models, name].filter((one) => one !== undefined)
  if (!isObject(policy) || given.length !== 1 || Object.keys(others).length > 0)
    throw new Refusal('a policy has one of "model", "tiers" and "policy", and nothing else')
  if (typeof model === 'string') return () => new Map([[model, 1]])
  if (name === 'mean-1' || name === 'ts-1') return (propensity) => chances({ ...propensity, policy: name, trial_p: 0 })
  if (isObject(models) && tiers.every((tier) => typeof models[tier] === 'string'))
    return (_, tier) => new Map([[asText(models[tier]), 1]])
  throw new Refusal('"model" is a name, "tiers" has a name for SIMPLE, MEDIUM and COMPLEX, "policy" is mean-1 or ts-1')
}
