import type { JsonObject, ReasoningWish } from '../../../engine/index.ts'
import type { Printing } from './printing.ts'

/** Tokens for each effort, for models that take a budget, lowest first. */
const budgets: ReadonlyMap<string, number> = new Map([
  ['minimal', 512],
  ['low', 1024],
  ['medium', 8192],
  ['high', 24_576],
  ['xhigh', 32_768],
  ['max', 32_768],
])
/** The levels of each effort; `none`, and what lies above the highest level, have none of their own. */
const levels: ReadonlyMap<string, string> = new Map([
  ['minimal', 'MINIMAL'],
  ['low', 'LOW'],
  ['medium', 'MEDIUM'],
  ['high', 'HIGH'],
])

/** A budget at which the model itself decides how long it thinks. */
const dynamic = -1

/** `thinkingConfig` for a wish; undefined if nothing of it can be said. */
export function printThinking(wish: ReasoningWish | undefined, printing: Printing): JsonObject | undefined {
  if (!wish) return undefined
  const { traits, losses } = printing
  if (traits.thinking === false) {
    if (wish.effort !== 'none') losses.add('reasoning', 'the upstream does not think')
    return undefined
  }
  const config = {
    ...shown(wish),
    ...amount(wish, printing),
  }
  return Object.keys(config).length > 0 ? config : undefined
}

/**
 * Whether thoughts are shown. A client that says how much to think and nothing of a summary, as those of chat
 * completions must, sees them, as it sees the reasoning of other providers.
 */
function shown({ summary, effort, budget }: ReasoningWish): JsonObject {
  if (summary !== undefined) return { includeThoughts: summary !== 'none' }
  return effort === 'none' || budget === 0 ? {} : { includeThoughts: true }
}

/** How much to think. Every model takes a budget; an effort is a level to those that know levels. */
function amount({ effort, budget }: ReasoningWish, { traits, target, losses }: Printing): JsonObject {
  if (budget !== undefined) return { thinkingBudget: budget }
  if (effort === undefined) return {}
  const budgeted = traits.thinking === 'budget' || (traits.thinking === 'auto' && /\bgemini-2/.test(target.model))
  if (budgeted) {
    const tokens = effort === 'none' ? 0 : budgets.get(effort)
    if (tokens === undefined) losses.add('reasoning.effort', 'the upstream does not know this effort')
    return tokens === undefined ? {} : { thinkingBudget: tokens }
  }
  const level = levels.get(effort)
  if (level !== undefined) return { thinkingLevel: level }
  const nearest = effort === 'none' ? 'MINIMAL' : budgets.has(effort) ? 'HIGH' : undefined
  losses.add('reasoning.effort', nearest === undefined ? 'the upstream does not know it' : `it became ${nearest}`)
  return nearest === undefined ? {} : { thinkingLevel: nearest }
}

/** The wish of a client's `thinkingConfig`. Thoughts are not shown unless it asks for them. */
export function parseThinking(config: JsonObject): ReasoningWish {
  const { thinkingBudget: budget, thinkingLevel: level, includeThoughts: shows } = config
  const effort = typeof level === 'string' ? [...levels].find(([, one]) => one === level.toUpperCase())?.[0] : undefined
  const off = budget === 0
  return {
    ...(off ? { effort: 'none' } : effort === undefined ? {} : { effort }),
    ...(typeof budget === 'number' && budget !== dynamic && !off ? { budget } : {}),
    ...(off ? {} : { summary: shows === true ? 'auto' : 'none' }),
  }
}
