import { lookUp, tableOf } from './confidence-map.ts'
import type { ConfidenceMap, Label } from './confidence-map.ts'
import { fitIsotonic, stepAt } from './isotonic.ts'
import { fitPlatt } from './platt.ts'
import type { Prior } from './platt.ts'
import { logistic, logit } from './odds.ts'

/** Fewest labels of a refit, and from how many on a map may have any shape. */
export const fewest = 25
export const many = 500
const folds = 5

/** A map without the version that it gets when it is stored. */
export type FittedMap = Omit<ConfidenceMap, 'version'>

/** Fits a map to labels. `brier_after` is that of labels in the fold that the map was not fitted to. */
export function refit(labels: readonly Label[], before: ConfidenceMap): FittedMap {
  const fitted = fit(labels, before)
  return {
    kind: fitted.kind,
    parameters: fitted.parameters,
    labels: labels.length,
    brier_before: rounded(brier(labels, ({ raw }) => lookUp(before.table, raw))),
    brier_after: rounded(crossValidated(labels, before)),
    table: tableOf(fitted.map),
  }
}

interface Fitted extends Pick<ConfidenceMap, 'kind' | 'parameters'> {
  readonly map: (raw: number) => number
}

function fit(labels: readonly Label[], before: ConfidenceMap, kind = kindFor(labels)): Fitted {
  if (kind === 'isotonic') {
    const stairs = fitIsotonic(labels.map(({ raw, right }) => ({ value: raw, label: right })))
    return { kind, parameters: { ...stairs }, map: (raw) => stepAt(stairs, raw) }
  }
  const points = labels.map(({ raw, right }) => ({ value: oddsOf(raw), label: right }))
  const { slope, offset } = fitPlatt(points, priorOf(before))
  const parameters = { slope: rounded(slope), offset: rounded(offset) }
  return { kind, parameters, map: (raw) => logistic(offset + slope * oddsOf(raw)) }
}

/** Few labels bear no more than two parameters. */
function kindFor({ length }: readonly Label[]): 'platt' | 'isotonic' {
  return length >= many ? 'isotonic' : 'platt'
}

/** The Brier score of each fifth of the labels by a map that was fitted to the others. */
function crossValidated(labels: readonly Label[], before: ConfidenceMap): number {
  const kind = kindFor(labels)
  const sums = Array.from({ length: folds }, (_, fold) => {
    const { map } = fit(
      labels.filter((_label, at) => at % folds !== fold),
      before,
      kind,
    )
    const held = labels.filter((_label, at) => at % folds === fold)
    return brier(held, ({ raw }) => map(raw)) * held.length
  })
  return sums.reduce((sum, one) => sum + one, 0) / labels.length
}

/** The line of the map before; one without a line begins at what the raw confidence says. */
function priorOf({ parameters }: ConfidenceMap): Prior {
  const { slope = 1, offset = 0 } = parameters
  const line = typeof slope === 'number' && typeof offset === 'number' ? { slope, offset } : { slope: 1, offset: 0 }
  return { ...line, slopeDeviation: 0.5, offsetDeviation: 1 }
}

/** The logarithm of the odds of a raw confidence. */
function oddsOf(raw: number): number {
  return logit(Math.min(0.95, Math.max(0.05, raw)))
}

function brier(labels: readonly Label[], map: (label: Label) => number): number {
  return labels.reduce((sum, label) => sum + (map(label) - label.right) ** 2, 0) / labels.length
}

function rounded(value: number): number {
  return Number(value.toFixed(6))
}
