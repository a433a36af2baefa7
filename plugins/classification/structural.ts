import type { Ask, Vote } from '../../engine/index.ts'
import { isCourtesy } from './courtesy.ts'
import { featureNames, features } from './features.ts'
import model from './structural.json' with { type: 'json' }
import { benefitOf } from './benefit-model.ts'
import gains from './benefit.json' with { type: 'json' }
import { complexityOf, scoresOf } from './structural-model.ts'
import { logistic } from './odds.ts'

/** How sure it is at least. */
const least = 0.2
/** Reasons that are named. */
const most = 3
/** Kinds of features that a reader of the log understands, with their places. */
const told = 'numbers signs brackets math work condition factual light everyday'
  .split(' ')
  .map((name) => ({ name, at: featureNames.indexOf(name) }))

/**
 * Judges a request by the text of its last user turn alone, as learned from how models of all classes did (`npm run
 * train:routing`): the probability that a model of the class economy fails, and what a dear one gains. No text: no vote.
 */
export default function structural({ text }: Pick<Ask, 'text'>): Vote {
  if (text.trim() === '') return { complexity: 0.5, confidence: 0, reasons: [] }
  const measured = features(text)
  const { version } = model
  if (isCourtesy(text))
    return { complexity: 0, benefit: 0, confidence: 1, reasons: ['courtesy'], features: measured, version }
  const scores = scoresOf(model, measured)
  return {
    complexity: complexityOf(model, scores),
    benefit: benefitOf(gains, scores.hand, measured),
    confidence: Math.max(least, 1 - Math.abs(logistic(scores.logistic) - logistic(scores.trees)) / 2),
    reasons: reasonsFor(measured),
    features: measured,
    version,
  }
}

/** The features of which a text has most, those of an equal value in the order of `told`. */
function reasonsFor(measured: readonly number[]): readonly string[] {
  const found: (typeof told)[number][] = []
  for (const one of told) {
    const value = measured[one.at] ?? 0
    if (value <= 0) continue
    let place = found.length
    while (place > 0 && (measured[found[place - 1]?.at ?? 0] ?? 0) < value) place--
    if (place === most) continue
    if (found.length === most) found.pop()
    found.splice(place, 0, one)
  }
  return found.map(({ name }) => name)
}
