import type { GenerateRequest, JsonObject, PrintTarget, ReasoningWish } from '../../../engine/index.ts'
import type { Losses } from '../../../engine/kit.ts'
import type { PrintedTurn } from '../turns.ts'
import type { MessagesTraits } from './traits.ts'

/** Tokens for each effort, for upstreams that accept a budget. */
const budgets: ReadonlyMap<string, number> = new Map([
  ['minimal', 1024],
  ['low', 2048],
  ['medium', 8192],
  ['high', 16384],
  ['xhigh', 32000],
  ['max', 64000],
])

/** Least tokens of a budget. */
const leastBudget = 1024
/**
 * The output limit if neither the client nor the model's record has one, and the least output tokens beyond a budget.
 */
export const usualOutput = 32_000
const leastAnswer = 4096

/** The fields of a request that limit thinking and the answer. */
export interface PrintedThinking {
  readonly max_tokens: number
  readonly thinking?: JsonObject
  /** For `output_config`. */
  readonly effort?: string
}

/** What printing the reasoning options takes. */
interface Printing {
  readonly target: PrintTarget
  readonly traits: Pick<MessagesTraits, 'thinking' | 'effort'>
  readonly losses: Losses
}

/** What disables thinking, because the protocol rejects it together with a budget. */
export interface Obstacles {
  /** A tool is forced. */
  readonly forced: boolean
  /** The last turn has calls, but not their thinking. */
  readonly unthought: boolean
}

/**
 * Prints the reasoning options. `max_tokens` is raised above the budget, unless the client set `max_tokens`: then the
 * budget is lowered.
 */
export function printThinking(
  request: GenerateRequest,
  { forced, unthought }: Obstacles,
  printing: Printing,
): PrintedThinking {
  const { reasoning: wish } = request
  const { traits, losses } = printing
  const limit = request.maxOutputTokens ?? printing.target.record.max_output_tokens ?? usualOutput
  const none = { max_tokens: limit }
  if (!wish) return none
  if (traits.thinking === false) {
    if (wish.effort !== 'none') losses.add('reasoning', 'the upstream does not think')
    return none
  }
  if (wish.effort === 'none') {
    if (traits.thinking !== 'always') return { ...none, thinking: { type: 'disabled' } }
    losses.add('reasoning.effort', 'the upstream always thinks')
    return none
  }
  if (traits.effort) return { ...none, ...adaptive(wish, printing) }
  const wanted = wish.budget ?? budgets.get(wish.effort ?? '')
  if (wanted === undefined) {
    losses.add('reasoning', 'the upstream wants to be told how long to think')
    return none
  }
  const obstacle = forced ? 'a tool is forced' : unthought ? 'the last calls come without their thinking' : undefined
  if (obstacle !== undefined) {
    losses.add('reasoning', obstacle)
    return { ...none, thinking: { type: 'disabled' } }
  }
  return budgeted(wish, wanted, request, printing)
}

function adaptive(wish: ReasoningWish, { losses }: Printing): Omit<PrintedThinking, 'max_tokens'> {
  const thinking = { type: 'adaptive', ...display(wish) }
  if (wish.budget !== undefined) losses.add('reasoning.budget', 'the upstream takes an effort')
  const effort = wish.effort ?? effortOf(wish.budget)
  if (effort === undefined) return { thinking }
  if (!budgets.has(effort)) {
    losses.add('reasoning.effort', 'the upstream does not know this effort')
    return { thinking }
  }
  return { thinking, effort: effort === 'minimal' ? 'low' : effort }
}

/** The lowest effort that covers a budget. */
function effortOf(budget: number | undefined): string | undefined {
  if (budget === undefined) return undefined
  return [...budgets].find(([, tokens]) => tokens >= budget)?.[0] ?? 'max'
}

function budgeted(wish: ReasoningWish, wanted: number, request: GenerateRequest, printing: Printing): PrintedThinking {
  const { losses, target } = printing
  const known = request.maxOutputTokens ?? target.record.max_output_tokens
  const limit = known ?? Math.max(usualOutput, wanted + leastAnswer)
  const budget = Math.min(Math.max(wanted, leastBudget), limit - 1)
  if (budget < leastBudget) {
    losses.add('reasoning', `max_tokens leaves no room for the least budget of ${leastBudget}`)
    return { max_tokens: limit, thinking: { type: 'disabled' } }
  }
  if (wish.budget !== undefined && budget !== wish.budget)
    losses.add('reasoning.budget', `it must be at least ${leastBudget} and below max_tokens`)
  return { max_tokens: limit, thinking: { type: 'enabled', budget_tokens: budget, ...display(wish) } }
}

/** `display`, only if the client set it: older upstreams do not have the field. */
function display({ summary }: ReasoningWish): JsonObject {
  if (summary === undefined) return {}
  return { display: summary === 'none' ? 'omitted' : 'summarized' }
}

/** Whether the last turn of the assistant has calls but does not begin with their thinking. */
export function unthought(turns: readonly PrintedTurn[]): boolean {
  const last = turns.findLast((turn) => turn.role === 'assistant')
  if (!last?.blocks.some((block) => block.type === 'tool_use')) return false
  const first = last.blocks[0]?.type
  return first !== 'thinking' && first !== 'redacted_thinking'
}
