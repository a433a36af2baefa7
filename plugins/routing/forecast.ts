import type { ModelRecord, Services, Tier } from '../../engine/index.ts'
import { predictedCost, predictedOutput } from './predict.ts'
import type { Expected } from './shortlisted.ts'

type Outcomes = ReturnType<Services['experience']['outcomes']>

/** What a model is predicted to use for a request, and what that costs. */
export interface Forecast {
  /** In tokens. */
  readonly input: number
  readonly output: number
  /** In USD; null: the model has no prices. */
  readonly cost: number | null
}

/**
 * Predicts what a request costs with a model in a tier.
 * @param outcomes what the model did lately in this tier
 */
export function forecast(
  { name, max_output_tokens: most = Infinity, pricing }: ModelRecord,
  tier: Tier,
  { input, maxOutput = Infinity, incumbent }: Expected,
  outcomes: Pick<Outcomes, 'inputRatio' | 'output' | 'cacheWrites'>,
): Forecast {
  const tokens = Math.round(input * outcomes.inputRatio)
  const output = predictedOutput(tier, outcomes.output, Math.min(maxOutput, most))
  // The cache that another model has filled is of no use.
  const cached = incumbent?.model === name ? incumbent.cached : 0
  const cost = predictedCost({ input: tokens, output, cached, written: outcomes.cacheWrites }, pricing)
  return { input: tokens, output, cost }
}
