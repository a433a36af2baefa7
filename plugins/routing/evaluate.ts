import { Random } from './random.ts'

/** A decision whose answer was rated. */
export interface LoggedDecision {
  /** What the model of rewards tells apart: mode and tier. */
  readonly context: string
  /** Name of the model that was chosen. */
  readonly chosen: string
  /** From 0 to 1. */
  readonly reward: number
  /** The probability of each model to be chosen, as it was. */
  readonly logged: ReadonlyMap<string, number>
  /** The same under the policy to evaluate. */
  readonly wanted: ReadonlyMap<string, number>
}

export interface Estimated {
  readonly value: number
  /** Ends of the 97.5 % interval. */
  readonly low: number
  readonly high: number
}

/** What the mean reward of a policy would have been. */
export interface Evaluation {
  readonly rows: number
  /** Mean reward as it was. */
  readonly logged: number
  /** Effective sample size: the number of rows that would say as much if all weighed the same. */
  readonly ess: number
  /** Share of rows whose weight was cut. */
  readonly clipped: number
  /** Self-normalized inverse propensity score; null: the effective sample size is too small. */
  readonly snips: Estimated | null
  /** Doubly robust: a model of rewards, corrected by the weighted rows; null as above. */
  readonly doubly_robust: Estimated | null
}

/** The most that a row weighs. */
const mostWeight = 20
/** The effective sample size below which nothing is estimated. */
const leastSize = 100
const resamples = 1_000
/** The probability that an interval has the truth in it. */
const level = 0.975
/** Observations that the mean of all rewards counts as, in the model of rewards. */
const strength = 5

/**
 * Estimates the mean reward of a policy from decisions of another one, whose probabilities are known (Swaminathan,
 * Joachims 2015; Dudík et al. 2011). Intervals are those of a bootstrap, which is the same each time. Rows whose
 * chosen model had no chance are left out.
 */
export function evaluated(decisions: readonly LoggedDecision[]): Evaluation {
  const rows = decisions.filter(({ logged, chosen }) => (logged.get(chosen) ?? 0) > 0)
  const ratios = rows.map(({ logged, wanted, chosen }) => (wanted.get(chosen) ?? 0) / (logged.get(chosen) ?? 1))
  const weights = ratios.map((ratio) => Math.min(mostWeight, ratio))
  const rewards = rows.map(({ reward }) => reward)
  const total = sumOf(weights)
  const ess = total === 0 ? 0 : total ** 2 / sumOf(weights.map((weight) => weight ** 2))
  const isEnough = ess >= leastSize
  const weighted = weights.map((weight, index) => weight * (rewards[index] ?? 0))
  const robust = isEnough ? robustValues(rows, weights) : []
  return {
    rows: rows.length,
    logged: rows.length === 0 ? 0 : sumOf(rewards) / rows.length,
    ess,
    clipped: rows.length === 0 ? 0 : ratios.filter((ratio) => ratio > mostWeight).length / rows.length,
    snips: isEnough ? bootstrapped(weighted, weights) : null,
    doubly_robust: isEnough
      ? bootstrapped(
          robust,
          robust.map(() => 1),
        )
      : null,
  }
}

/** Per row: what the model of rewards expects of the policy, corrected by the weighted row. */
function robustValues(rows: readonly LoggedDecision[], weights: readonly number[]): readonly number[] {
  const mean = sumOf(rows.map(({ reward }) => reward)) / rows.length
  const seen = new Map<string, { sum: number; count: number }>()
  const cell = (context: string, model: string) => {
    const key = `${context}\n${model}`
    let found = seen.get(key)
    if (found === undefined) seen.set(key, (found = { sum: 0, count: 0 }))
    return found
  }
  for (const { context, chosen, reward } of rows) {
    const known = cell(context, chosen)
    known.sum += reward
    known.count += 1
  }
  return rows.map(({ context, chosen, reward, wanted }, index) => {
    // The row itself is left out, so that the model does not know its own answer.
    const expected = (model: string) => {
      const { sum, count } = cell(context, model)
      const own = model === chosen ? 1 : 0
      return (sum - own * reward + strength * mean) / (count - own + strength)
    }
    const value = [...wanted].reduce((all, [model, chance]) => all + chance * expected(model), 0)
    return value + (weights[index] ?? 0) * (reward - expected(chosen))
  })
}

/**
 * The sum of values over the sum of weights, with its interval from resampled rows. The resamples are compared in units
 * of their own standard errors (bootstrap-t, Efron 1982): rewards are mostly 1, so their sums are skewed.
 */
function bootstrapped(values: readonly number[], weights: readonly number[]): Estimated {
  const rows = values.length
  const whole = new Sums()
  for (let index = 0; index < rows; index++) whole.add(values[index] ?? 0, weights[index] ?? 0)
  const { ratio, error } = whole
  const random = new Random('bootstrap')
  const distances: number[] = []
  for (let resample = 0; resample < resamples; resample++) {
    const sums = new Sums()
    for (let count = 0; count < rows; count++) {
      const index = Math.floor(random.uniform() * rows)
      sums.add(values[index] ?? 0, weights[index] ?? 0)
    }
    if (sums.error > 0) distances.push((sums.ratio - ratio) / sums.error)
  }
  distances.sort((one, other) => one - other)
  const limit = (share: number) => {
    const distance = distances[Math.min(distances.length - 1, Math.floor(share * distances.length))] ?? 0
    return Math.min(1, Math.max(0, ratio - distance * error))
  }
  return { value: ratio, low: limit((1 + level) / 2), high: limit((1 - level) / 2) }
}

/** Sums of rows: their ratio, and its standard error by linearization. */
class Sums {
  #value = 0
  #weight = 0
  #values = 0
  #products = 0
  #weights = 0

  add(value: number, weight: number): void {
    this.#value += value
    this.#weight += weight
    this.#values += value * value
    this.#products += value * weight
    this.#weights += weight * weight
  }

  get ratio(): number {
    return this.#weight === 0 ? 0 : this.#value / this.#weight
  }

  get error(): number {
    const { ratio } = this
    const squares = this.#values - 2 * ratio * this.#products + ratio * ratio * this.#weights
    // Differences of sums that are equal can be a little below 0.
    return this.#weight === 0 ? 0 : Math.sqrt(Math.max(0, squares)) / this.#weight
  }
}

function sumOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0)
}
