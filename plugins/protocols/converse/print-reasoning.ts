import type { GenerateRequest, JsonObject } from '../../../engine/index.ts'
import { printThinking } from '../messages/print-thinking.ts'
import type { Obstacles } from '../messages/print-thinking.ts'
import type { Printing } from './printing.ts'

/** The options of a request that limit reasoning and the answer. */
export interface PrintedReasoning {
  /** Absent: the model's own limit. */
  readonly maxTokens: number | undefined
  /** Fields of the model. */
  readonly fields: JsonObject
  /** For `outputConfig`. */
  readonly output: JsonObject
  /** The thinking that was requested, beside which models refuse other options. */
  readonly thinking?: JsonObject
}

/** Prints the reasoning options, each family's in fields of its own. */
export function printReasoning(request: GenerateRequest, obstacles: Obstacles, printing: Printing): PrintedReasoning {
  const { family, losses } = printing
  const { reasoning: wish, maxOutputTokens: maxTokens } = request
  if (family === 'claude') return claude(request, obstacles, printing)
  const effort = wish?.effort
  if (wish === undefined || effort === 'none') return { maxTokens, fields: {}, output: {} }
  const level = effort === undefined ? undefined : levels.get(effort)
  if (family === 'other' || level === undefined) {
    losses.add('reasoning', level === undefined ? 'the upstream takes an effort' : 'the model has no such field')
    return { maxTokens, fields: {}, output: {} }
  }
  if (level !== effort) losses.add('reasoning.effort', 'the upstream knows low, medium and high')
  if (wish.budget !== undefined) losses.add('reasoning.budget', 'the upstream takes an effort')
  const fields =
    family === 'nova'
      ? { reasoningConfig: { type: 'enabled', maxReasoningEffort: level } }
      : { reasoning_effort: level }
  return { maxTokens, fields, output: {} }
}

function claude(request: GenerateRequest, obstacles: Obstacles, printing: Printing): PrintedReasoning {
  const { thinking, effort, max_tokens: limit } = printThinking(request, obstacles, printing)
  const output = effort === undefined ? {} : { effort }
  // Models that cannot think refuse the field, even if it says so.
  if (!thinking || thinking['type'] === 'disabled') return { maxTokens: request.maxOutputTokens, fields: {}, output }
  if (thinking['type'] !== 'enabled')
    return { maxTokens: request.maxOutputTokens, fields: { thinking }, output, thinking }
  // Models that take a budget do not know the field.
  const { display, ...known } = thinking
  if (display === 'omitted') printing.losses.add('reasoning.summary', 'the reasoning is shown')
  return { maxTokens: limit, fields: { thinking: known }, output, thinking }
}

/** The efforts that these models know. */
const levels: ReadonlyMap<string, string> = new Map([
  ['minimal', 'low'],
  ['low', 'low'],
  ['medium', 'medium'],
  ['high', 'high'],
  ['xhigh', 'high'],
  ['max', 'high'],
])
