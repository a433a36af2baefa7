import type { GenerateRequest, Slots, Tier } from '../../engine/index.ts'
import { tierRanges, tiers } from '../../engine/kit.ts'
import { usualTier } from './settings.ts'
import type { RoutingSettings } from './settings.ts'

/** How difficult a request is taken to be. */
export interface Difficulty {
  /** From 0 to 1. */
  readonly complexity: number
  readonly tier: Tier
}

/** Whether one tier is above another. */
export function isAbove(one: Tier, other: Tier): boolean {
  return tiers.indexOf(one) > tiers.indexOf(other)
}

/** The difficulty, but in no lower tier than this. */
export function atLeast({ complexity, tier }: Difficulty, floor: Tier): Difficulty {
  return isAbove(floor, tier) ? { complexity: tierRanges[floor].from, tier: floor } : { complexity, tier }
}

function atMost(difficulty: Difficulty, cap: Tier): Difficulty {
  return isAbove(difficulty.tier, cap) ? { complexity: tierRanges[cap].to, tier: cap } : difficulty
}

export interface Limited extends Difficulty {
  /** What changed the tier, such as `floor=vision:MEDIUM`. */
  readonly notes: readonly string[]
}

type Facts = Slots['ensemble']['facts']
type Limits = Pick<RoutingSettings, 'floors' | 'caps'>

/** Applies the caps of the settings, then the floors, which win. */
export function limited(
  difficulty: Difficulty,
  { facts, format }: { readonly facts: Facts; readonly format: GenerateRequest['format'] },
  { floors, caps }: Limits,
): Limited {
  const count = (fact: string) => Number(facts[fact] ?? 0)
  const isStep = count('step') > 0
  const hasSchema = format?.type === 'schema'
  const holding = {
    vision: count('images') > 0,
    structured_output: hasSchema,
    final_verification: isStep && facts['verifies'] === true && count('writes') > 0,
    routine_success:
      isStep && facts['routine'] === true && count('repeats') === 0 && count('writes') === 0 && !hasSchema,
  }
  const notes: string[] = []
  let now = difficulty
  const apply = (kind: string, name: keyof typeof holding, given: Tier | 'none' | null, change: typeof atLeast) => {
    // A file may write null, as a merge patch does to have the default back.
    const tier = given ?? usualTier
    const changed = tier === 'none' || !holding[name] ? now : change(now, tier)
    if (changed.tier !== now.tier) notes.push(`${kind}=${name}:${tier}`)
    now = changed
  }
  apply('cap', 'routine_success', caps.routine_success, atMost)
  for (const name of ['vision', 'structured_output', 'final_verification'] as const)
    apply('floor', name, floors[name], atLeast)
  return { ...now, notes }
}
