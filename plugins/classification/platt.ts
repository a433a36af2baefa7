import { logistic } from './odds.ts'

/** The line from a value to the logarithm of the odds of its label. */
export interface Line {
  readonly slope: number
  readonly offset: number
}

/** A line to begin with, and how far from it the fitted one may be: standard deviations of normal distributions. */
export interface Prior extends Line {
  readonly slopeDeviation: number
  readonly offsetDeviation: number
}

/** A value with its label, from 0 to 1. */
export interface Point {
  readonly value: number
  readonly label: number
}

const steps = 100
const halvings = 40
/** A step that gains less than this is the last. */
const enough = 1e-10

/**
 * The line with the highest posterior probability: logistic regression of one variable (Platt 1999) with a prior on
 * both parameters, by Newton's method. A step that would lessen the posterior is halved until it does not: plain steps
 * diverge for labels that are nearly all equal.
 */
export function fitPlatt(points: readonly Point[], prior: Prior): Line {
  let line: Line = { slope: prior.slope, offset: prior.offset }
  let best = posterior(points, prior, line)
  for (let step = 0; step < steps; step++) {
    const { slope, offset } = newtonStep(points, prior, line)
    let gained = false
    for (let half = 0, share = 1; half < halvings && !gained; half++, share /= 2) {
      const next = { slope: line.slope + share * slope, offset: line.offset + share * offset }
      const reached = posterior(points, prior, next)
      if (!(reached > best)) continue
      gained = reached - best > enough
      best = reached
      line = next
      if (!gained) return line
    }
    if (!gained) return line
  }
  return line
}

function newtonStep(points: readonly Point[], prior: Prior, line: Line): Line {
  const tight = { slope: 1 / prior.slopeDeviation ** 2, offset: 1 / prior.offsetDeviation ** 2 }
  const gradient = {
    slope: tight.slope * (prior.slope - line.slope),
    offset: tight.offset * (prior.offset - line.offset),
  }
  let [squares, mixed, ones] = [tight.slope, 0, tight.offset]
  for (const { value, label } of points) {
    const p = logistic(line.offset + line.slope * value)
    gradient.slope += (label - p) * value
    gradient.offset += label - p
    const curve = Math.max(p * (1 - p), 1e-9)
    squares += curve * value * value
    mixed += curve * value
    ones += curve
  }
  const determinant = squares * ones - mixed * mixed
  return {
    slope: (ones * gradient.slope - mixed * gradient.offset) / determinant,
    offset: (squares * gradient.offset - mixed * gradient.slope) / determinant,
  }
}

/** Logarithm of the posterior, up to a constant. */
function posterior(points: readonly Point[], prior: Prior, line: Line): number {
  const far =
    ((line.slope - prior.slope) / prior.slopeDeviation) ** 2 +
    ((line.offset - prior.offset) / prior.offsetDeviation) ** 2
  return points.reduce((sum, { value, label }) => {
    const odds = line.offset + line.slope * value
    // Logarithm of a logistic, without overflow for large odds.
    const softplus = Math.max(odds, 0) + Math.log1p(Math.exp(-Math.abs(odds)))
    return sum + label * odds - softplus
  }, -far / 2)
}
