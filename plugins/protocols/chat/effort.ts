import type { JsonObject, ReasoningWish } from '../../../engine/index.ts'
import type { Losses } from '../../../engine/kit.ts'
import type { ChatTraits } from './traits.ts'

/** The values of `reasoning_effort`, lowest first. */
const scale = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max']

/** `reasoning_effort` for an upstream: the requested value, or the nearest one that it accepts. */
export function printReasoning(wish: ReasoningWish | undefined, traits: ChatTraits, losses: Losses): JsonObject {
  if (!wish) return {}
  if (wish.summary !== undefined && wish.summary !== 'none')
    losses.add('reasoning.summary', 'this protocol has no such field')
  if (wish.budget !== undefined) losses.add('reasoning.budget', 'this protocol has words for effort, no budget')
  const effort = wish.effort ?? (wish.budget === undefined ? undefined : effortOf(wish.budget))
  if (effort === undefined) return {}
  const allowed = traits.reasoning_effort
  if (allowed === true) return { reasoning_effort: effort }
  const nearest = allowed === false ? undefined : clamped(effort, allowed)
  if (nearest !== effort)
    losses.add(
      'reasoning_effort',
      nearest === undefined ? 'the provider does not take it' : `the provider takes ${nearest} instead`,
    )
  return nearest === undefined ? {} : { reasoning_effort: nearest }
}

/** The effort for a budget of tokens. */
function effortOf(budget: number): string {
  if (budget <= 0) return 'none'
  if (budget <= 4096) return 'low'
  return budget <= 16_384 ? 'medium' : 'high'
}

/** The highest allowed value that is not above `effort`, otherwise the lowest one. */
function clamped(effort: string, allowed: readonly string[]): string | undefined {
  if (allowed.includes(effort)) return effort
  const words = scale.filter((word) => allowed.includes(word))
  const rank = scale.indexOf(effort)
  // `none` disables reasoning: it maps to the lowest allowed value, and no other value maps to `none`.
  return (
    words.findLast((word) => word !== 'none' && scale.indexOf(word) <= rank) ?? words.find((word) => word !== 'none')
  )
}
