import type { DecideAnswer, DecideQuestion, Json } from '../../../engine/index.ts'
import { unreadable } from './restore.ts'

/** An upstream's answer to one question, in either envelope. Fields may be missing or wrong. */
export interface Told {
  /** The chosen option, as it was sent. */
  readonly choice?: Json | undefined
  readonly score?: Json | undefined
  readonly confidence?: Json | undefined
  /** By the text of the option, or by the index of the level. */
  readonly probabilities?: ReadonlyMap<string | undefined, Json | undefined> | undefined
}

/**
 * The answer to a choice. Without a choice, it is the most probable option. Without probabilities, the choice gets 1.
 * Throws `upstream_invalid_response` if both are missing, or for an unknown option.
 */
export function choiceAnswer(
  { choices }: Extract<DecideQuestion, { type: 'choice' }>,
  told: Told,
  place: string,
): DecideAnswer {
  const words = choices.map(({ value }) => String(value))
  const known = told.probabilities && spread(words, told.probabilities)
  const { choice } = told
  const chosen =
    choice === undefined || choice === null
      ? (known?.indexOf(Math.max(...known)) ?? -1)
      : words.findIndex((word) => word === wordOf(choice))
  if (chosen < 0) throw unreadable(`it chose no option of ${place}`)
  return {
    type: 'choice',
    choice: chosen,
    ...(known ? { probabilities: known } : certain(words.length, chosen)),
    ...confidence(told),
  }
}

/** An option as text: `true` and `false` for booleans. */
export function wordOf(value: Json | undefined): string | undefined {
  return typeof value === 'string' || typeof value === 'boolean' ? String(value) : undefined
}

/**
 * The answer to a score. Without a score, it is the average of the levels. Without probabilities, the nearest level
 * gets 1. Throws `upstream_invalid_response` if both are missing, or for a score beyond the levels.
 */
export function scoreAnswer(
  { levels }: Extract<DecideQuestion, { type: 'score' }>,
  told: Told,
  place: string,
): DecideAnswer {
  const last = levels.length - 1
  const known = told.probabilities && spread([...levels.keys()].map(String), told.probabilities)
  const average = known?.reduce((sum, probability, index) => sum + probability * index, 0)
  const score = within(told.score ?? average, last)
  if (score === undefined) throw unreadable(`it has no score within the levels of ${place}`)
  return {
    type: 'score',
    score,
    ...(known ? { probabilities: known } : certain(levels.length, Math.round(score))),
    ...confidence(told),
  }
}

/** The answer to a predicate. Throws `upstream_invalid_response` if it is no probability. */
export function predicateAnswer(told: Json | undefined, place: string): DecideAnswer {
  const probability = within(told, 1)
  if (probability === undefined) throw unreadable(`it has no probability for ${place}`)
  return { type: 'predicate', probability }
}

function confidence(told: Told): { readonly confidence?: number } {
  const value = within(told.confidence, 1)
  return value === undefined ? {} : { confidence: value }
}

/** One probability per option; undefined if all are missing. */
function spread(
  options: readonly string[],
  told: ReadonlyMap<string | undefined, Json | undefined>,
): readonly number[] | undefined {
  const found = options.map((option) => within(told.get(option), 1))
  return found.some((probability) => probability !== undefined) ? found.map((value) => value ?? 0) : undefined
}

function certain(count: number, chosen: number): { readonly probabilities: readonly number[]; readonly assumed: true } {
  return { probabilities: Array.from({ length: count }, (_, index) => (index === chosen ? 1 : 0)), assumed: true }
}

/** A number from 0 to `most`. A rounding error beyond an end is clamped. */
function within(value: Json | undefined, most: number): number | undefined {
  if (typeof value !== 'number' || !(value > -slack && value < most + slack)) return undefined
  return Math.min(Math.max(value, 0), most)
}

const slack = 1e-6
