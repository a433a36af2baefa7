import { logistic } from '../../../plugins/classification/odds.ts'

/** A logistic regression on standardized features. */
export interface Logistic {
  readonly offset: number
  /** One weight per feature as it is measured. */
  readonly weights: readonly number[]
}

/** Fits a logistic regression with a ridge penalty to labels between 0 and 1, by Newton's method. */
export function fitLogistic(rows: readonly (readonly number[])[], labels: readonly number[], ridge: number): Logistic {
  const width = rows[0]?.length ?? 0
  const { means, deviations } = standardOf(rows)
  const standard = rows.map((row) => [1, ...row.map((value, at) => (value - (means[at] ?? 0)) / (deviations[at] ?? 1))])
  let weights = zeros(width + 1)
  for (let step = 0; step < 12; step++) {
    const gradient = weights.map((weight, at) => (at === 0 ? 0 : -ridge * weight))
    const hessian = weights.map((_, row) => weights.map((__, column) => (row === column && row > 0 ? ridge : 0)))
    for (const [index, row] of standard.entries()) {
      const p = logistic(row.reduce((sum, value, at) => sum + value * (weights[at] ?? 0), 0))
      const miss = (labels[index] ?? 0) - p
      const curve = Math.max(p * (1 - p), 1e-6)
      for (let at = 0; at <= width; at++) {
        const value = row[at] ?? 0
        gradient[at] = (gradient[at] ?? 0) + miss * value
        const line = hessian[at] as number[]
        for (let other = 0; other <= at; other++) line[other] = (line[other] ?? 0) + curve * value * (row[other] ?? 0)
      }
    }
    const change = solve(hessian, gradient)
    weights = weights.map((weight, at) => weight + (change[at] ?? 0))
  }
  const [offset = 0, ...own] = weights
  return {
    offset: offset - own.reduce((sum, weight, at) => sum + (weight * (means[at] ?? 0)) / (deviations[at] ?? 1), 0),
    weights: own.map((weight, at) => weight / (deviations[at] ?? 1)),
  }
}

const zeros = (count: number): number[] => Array.from({ length: count }, () => 0)

function standardOf(rows: readonly (readonly number[])[]) {
  const width = rows[0]?.length ?? 0
  const means = zeros(width)
  const squares = zeros(width)
  for (const row of rows)
    for (const [at, value] of row.entries()) {
      means[at] = (means[at] ?? 0) + value / rows.length
      squares[at] = (squares[at] ?? 0) + (value * value) / rows.length
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
