/** How strong a model a request needs. */
export type Tier = 'SIMPLE' | 'MEDIUM' | 'COMPLEX'

/** The complexities at which the second and the third tier begin. */
export const borders = [0.33, 0.67] as const

/** The complexity in the middle of each tier. */
export const centres: Readonly<Record<Tier, number>> = { SIMPLE: 0.165, MEDIUM: 0.5, COMPLEX: 0.835 }

export function tierOf(complexity: number): Tier {
  return complexity < borders[0] ? 'SIMPLE' : complexity < borders[1] ? 'MEDIUM' : 'COMPLEX'
}

/** Logarithm of the odds of a probability between 0 and 1. */
export function logit(probability: number): number {
  return Math.log(probability / (1 - probability))
}

/** The probability with this logarithm of its odds. */
export function logistic(odds: number): number {
  return 1 / (1 + Math.exp(-odds))
}
