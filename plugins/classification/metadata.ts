import type { Ask, Vote } from '../../engine/index.ts'
import type { Facts } from './facts.ts'
import { logistic } from './odds.ts'

/** A reason to hold a request for harder (positive) or easier than the average, and how far to trust it. */
interface Evidence {
  readonly reason: string
  /** Added to the logarithm of the odds. */
  readonly push: number
  readonly confidence: number
}

const efforts: Readonly<Record<string, number>> = { none: -1.5, minimal: -1.2, high: 1, xhigh: 1.6, max: 2 }
const severities = [0, 0.4, 0.7, 0.9]
/** Tokens of an answer that is a word or a number. */
const little = 64
/** How far a hint is trusted, and by what a turn lessens the trust in an earlier decision. */
const sure = 0.9
const decay = 0.7

/**
 * Judges a request by what happened since the last turn of the user, and by what was asked for explicitly. The mere
 * presence of tools, a history or a system prompt says nothing: those requests get no vote.
 */
export default function metadata({ facts }: Ask): Vote {
  const given = facts as unknown as Facts
  if (given.hint !== undefined) return { complexity: given.hint, confidence: sure, reasons: ['hint'] }
  const { previous } = given
  if (given.refers_back && previous) {
    const { age, ...said } = previous
    return { ...said, confidence: sure * decay ** age, reasons: ['refers_back'] }
  }
  const evidence = [...stepEvidence(given), ...wishEvidence(given)].filter(({ push }) => push !== 0)
  const odds = evidence.reduce((sum, { push }) => sum + push, 0)
  const doubt = evidence.reduce((product, { confidence }) => product * (1 - confidence), 1)
  return {
    complexity: logistic(odds),
    confidence: Math.min(sure, 1 - doubt),
    reasons: evidence.map(({ reason }) => reason),
  }
}

function* stepEvidence(facts: Facts): Iterable<Evidence> {
  const { step, results_ok: ok, results_failed: failed, last_error: severity, repeats, reads, writes } = facts
  if (step === 0) return
  if (failed > 0) yield { reason: 'failures', push: 0.5 * Math.min(failed, 3), confidence: 0.25 }
  if (severity > 0) yield { reason: 'last_error', push: severities[severity] ?? 0, confidence: 0.2 }
  if (repeats > 0) yield { reason: 'repeats', push: 0.6 * Math.min(repeats, 3), confidence: 0.25 }
  if (failed === 0 && reads > 0 && writes === 0)
    yield { reason: 'reads', push: -0.35 * Math.min(ok, 3), confidence: 0.15 }
}

function* wishEvidence(facts: Facts): Iterable<Evidence> {
  const { effort, max_output: most, schema_depth: depth, images, background } = facts
  if (effort !== undefined) yield { reason: 'effort', push: efforts[effort] ?? 0, confidence: 0.3 }
  if (most !== undefined && most < little) yield { reason: 'max_output', push: -1.2, confidence: 0.2 }
  if (depth > 2) yield { reason: 'schema', push: 0.3 * Math.min(depth - 2, 4), confidence: 0.15 }
  if (images > 1) yield { reason: 'images', push: 0.4, confidence: 0.1 }
  if (background) yield { reason: 'background', push: -0.8, confidence: 0.2 }
}
