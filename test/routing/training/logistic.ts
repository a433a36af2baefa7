import { logistic } from '../../../plugins/classification/odds.ts'

/** What is to be learned of each row, and how much the row counts. */
export interface Target {
  readonly labels: readonly number[]
  readonly weights: readonly number[]
}

/** Labels of rows that count the same. */
export function equally(labels: readonly number[]): Target {
  return { labels, weights: labels.map(() => 1) }
}

export function weightedMean(values: readonly number[], weights: readonly number[]): number {
  const total = weights.reduce((sum, weight) => sum + weight, 0)
  return values.reduce((sum, value, at) => sum + value * (weights[at] ?? 0), 0) / total
}

/** A line through features: its value is a number, or the logarithm of odds. */
export interface Line {
  readonly offset: number
  /** One weight per feature as it is measured. */
  readonly weights: readonly number[]
}

/** Fits a logistic regression with a ridge penalty to labels between 0 and 1, by Newton's method. */
export function fitLogistic(rows: readonly (readonly number[])[], target: Target, ridge: number): Line {
  const standard = standardOf(rows)
  return unstandardized(newton(standardized(rows, standard), target, { ridge, steps: 12 }), standard)
}

/** How labels are learned from rows that begin with a 1. */
export interface Fitting {
  readonly ridge: number
  /** Steps of Newton's method; of a line without odds, one gives the least squares. */
  readonly steps: number
  readonly loss?: 'squared'
}

/** Weights of a 1 and of each feature. */
export function newton(
  rows: readonly (readonly number[])[],
  { labels, weights: rowWeights }: Target,
  { ridge, steps, loss }: Fitting,
): readonly number[] {
  const width = rows[0]?.length ?? 0
  let weights = zeros(width)
  for (let step = 0; step < steps; step++) {
    const gradient = weights.map((weight, at) => (at === 0 ? 0 : -ridge * weight))
    const hessian = weights.map((_, row) => weights.map((__, column) => (row === column && row > 0 ? ridge : 0)))
    for (const [index, row] of rows.entries()) {
      const sum = row.reduce((total, value, at) => total + value * (weights[at] ?? 0), 0)
      const p = loss === 'squared' ? sum : logistic(sum)
      const own = rowWeights[index] ?? 1
      const miss = own * ((labels[index] ?? 0) - p)
      const curve = own * (loss === 'squared' ? 1 : Math.max(p * (1 - p), 1e-6))
      for (let at = 0; at < width; at++) {
        const value = row[at] ?? 0
        gradient[at] = (gradient[at] ?? 0) + miss * value
        const line = hessian[at] as number[]
        for (let other = 0; other <= at; other++) line[other] = (line[other] ?? 0) + curve * value * (row[other] ?? 0)
      }
    }
    const change = solve(hessian, gradient)
    weights = weights.map((weight, at) => weight + (change[at] ?? 0))
  }
  return weights
}

/** Mean and standard deviation of each feature. */
export interface Standard {
  readonly means: readonly number[]
  readonly deviations: readonly number[]
}

/** The rows in units of the standard, after a 1. */
export function standardized(
  rows: readonly (readonly number[])[],
  { means, deviations }: Standard,
): readonly (readonly number[])[] {
  return rows.map((row) => [1, ...row.map((value, at) => (value - (means[at] ?? 0)) / (deviations[at] ?? 1))])
}

/** The line for features as they are measured. */
export function unstandardized([offset = 0, ...own]: readonly number[], { means, deviations }: Standard): Line {
  return {
    offset: offset - own.reduce((sum, weight, at) => sum + (weight * (means[at] ?? 0)) / (deviations[at] ?? 1), 0),
    weights: own.map((weight, at) => weight / (deviations[at] ?? 1)),
  }
}

const zeros = (count: number): number[] => Array.from({ length: count }, () => 0)

export function standardOf(
  rows: readonly (readonly number[])[],
  weights: readonly number[] = rows.map(() => 1),
): Standard {
  const width = rows[0]?.length ?? 0
  const total = weights.reduce((sum, weight) => sum + weight, 0)
  const means = zeros(width)
  const squares = zeros(width)
  for (const [index, row] of rows.entries())
    for (const [at, value] of row.entries()) {
      const own = weights[index] ?? 1
      means[at] = (means[at] ?? 0) + (own * value) / total
      squares[at] = (squares[at] ?? 0) + (own * value * value) / total
    }
  const deviations = means.map((mean, at) => Math.sqrt(Math.max((squares[at] ?? 0) - mean * mean, 0)) || 1)
  return { means, deviations }
}

/** Solves a symmetric positive definite system, of which the lower half is given, by the decomposition of Cholesky. */
function solve(matrix: readonly (readonly number[])[], right: readonly number[]): readonly number[] {
  const size = right.length
  const lower = right.map(() => zeros(size))
  const at = (row: number, column: number) => lower[row]?.[column] ?? 0
  for (let row = 0; row < size; row++)
    for (let column = 0; column <= row; column++) {
      let sum = matrix[row]?.[column] ?? 0
      for (let k = 0; k < column; k++) sum -= at(row, k) * at(column, k)
      const line = lower[row] as number[]
      line[column] = row === column ? Math.sqrt(Math.max(sum, 1e-9)) : sum / at(column, column)
    }
  const forward: number[] = []
  for (let row = 0; row < size; row++)
    forward.push(((right[row] ?? 0) - forward.reduce((sum, value, k) => sum + at(row, k) * value, 0)) / at(row, row))
  const solved = zeros(size)
  for (let row = size - 1; row >= 0; row--) {
    let sum = forward[row] ?? 0
    for (let k = row + 1; k < size; k++) sum -= at(k, row) * (solved[k] ?? 0)
    solved[row] = sum / at(row, row)
  }
  return solved
}
