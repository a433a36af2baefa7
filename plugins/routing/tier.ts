import type { GenerateRequest, Slots, Tier } from '../../engine/index.ts'
import { tierRanges, tiers } from '../../engine/kit.ts'
import { usualTier } from './settings.ts'
import type { RoutingSettings } from './settings.ts'

/** How difficult a request is taken to be. */
export interface Difficulty {
  /** From 0 to 1. */
  readonly complexity: number
  readonly tier: Tier
  /** What a better model gains, on the scale of complexity. By it models are compared, by the tier they are known. */
  readonly benefit: number
}

/** A complexity with its tier. */
type Placed = Pick<Difficulty, 'complexity' | 'tier'>

/** Whether one tier is above another. */
export function isAbove(one: Tier, other: Tier): boolean {
  return tiers.indexOf(one) > tiers.indexOf(other)
}

/** The difficulty, but in no lower tier than this. */
function atLeast({ complexity, tier }: Placed, floor: Tier): Placed {
  return isAbove(floor, tier) ? { complexity: tierRanges[floor].from, tier: floor } : { complexity, tier }
}

function atMost(placed: Placed, cap: Tier): Placed {
  return isAbove(placed.tier, cap) ? { complexity: tierRanges[cap].to, tier: cap } : placed
}

export interface Limited extends Difficulty {
  /** What changed the tier, such as `floor=vision:MEDIUM`. */
  readonly notes: readonly string[]
}

type Facts = Slots['ensemble']['facts']
type Limits = Pick<RoutingSettings, 'floors' | 'caps'>

/** What decides which floors and caps hold. */
interface Asked {
  readonly facts: Facts
  readonly format: GenerateRequest['format']
  /** What the judge said, in place of the signals. */
  readonly verdict?: Partial<Placed> | undefined
}

/**
 * What the signals saw, after the judge, the caps of the settings, and then the floors, which win. If these have changed
 * the tier, the benefit is what that tier allows.
 */
export function limited(
  { complexity, tier, benefit = complexity }: Placed & { readonly benefit?: number },
  { facts, format, verdict }: Asked,
  { floors, caps }: Limits,
): Limited {
  const count = (fact: string) => Number(facts[fact] ?? 0)
  const isStep = count('step') > 0
  const hasImages = count('images') > 0
  const hasSchema = format?.type === 'schema'
  const notes: string[] = []
  let now: Placed = { complexity: verdict?.complexity ?? complexity, tier: verdict?.tier ?? tier }
  const apply = (kind: string, name: string, given: Tier | 'none' | null, change: typeof atLeast) => {
    // A file may write null, as a merge patch does to have the default back.
    const bound = given ?? usualTier
    const changed = bound === 'none' ? now : change(now, bound)
    if (changed.tier !== now.tier) notes.push(`${kind}=${name}:${bound}`)
    now = changed
  }
  if (isStep && facts['routine'] === true && count('repeats') === 0 && count('writes') === 0 && !hasSchema)
    apply('cap', 'routine_success', caps.routine_success, atMost)
  if (hasImages) apply('floor', 'vision', floors.vision, atLeast)
  if (hasSchema) apply('floor', 'structured_output', floors.structured_output, atLeast)
  if (isStep && facts['verifies'] === true && count('writes') > 0)
    apply('floor', 'final_verification', floors.final_verification, atLeast)
  const { from, to } = tierRanges[now.tier]
  const gained = now.tier === tier ? benefit : Math.min(to, Math.max(from, benefit))
  return { complexity: now.complexity, tier: now.tier, benefit: gained, notes }
}
