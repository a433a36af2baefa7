import type { Pricing, Tier } from '../../engine/index.ts'

/** Tokens of an answer while too few are known, by tier. */
const usualOutput: Readonly<Record<Tier, number>> = { SIMPLE: 200, MEDIUM: 600, COMPLEX: 1500 }

/** What a model is predicted to use for a request. */
export interface Predicted {
  /** Input tokens, cached ones included. */
  readonly input: number
  /** Output tokens, reasoning included. */
  readonly output: number
  /** Share of the input that it reads from its cache. */
  readonly cached: number
  /** Share of the input that it writes to its cache. */
  readonly written: number
}

/**
 * Output tokens of an answer: the median of the model's answers in this tier, once that is known.
 * @param allowed the most that the client allows
 */
export function predictedOutput(tier: Tier, median: number | null, allowed: number): number {
  return Math.min(median ?? usualOutput[tier], allowed)
}

/**
 * What a request is predicted to cost, in USD; null: the model has no prices. A part of the input whose cache has no
 * price costs what input costs.
 */
export function predictedCost(predicted: Predicted, pricing: Pricing | undefined): number | null {
  if (pricing === undefined) return null
  const { input: tokens, output: answered } = predicted
  const tier = pricing.tiers?.findLast(({ above_input_tokens: above }) => tokens > above)
  const prices = tier ? { ...pricing, ...tier } : pricing
  const { input, output, cache_read: read = input, cache_write: write = input, requests = 0 } = prices
  if (input === undefined || output === undefined || read === undefined || write === undefined) return null
  // What was read last time cannot be written as well.
  const cached = Math.min(predicted.cached, 1)
  const written = Math.min(predicted.written, 1 - cached)
  const perToken = (1 - cached - written) * input + cached * read + written * write
  return (tokens * perToken + answered * output) / 1e6 + requests
}
