/** Logarithm of the odds of a probability between 0 and 1. */
export function logit(probability: number): number {
  return Math.log(probability / (1 - probability))
}

/** The probability with this logarithm of its odds. */
export function logistic(odds: number): number {
  return 1 / (1 + Math.exp(-odds))
}
