import { lookUp, sideOf, tableOf } from './confidence-map.ts'
import type { ConfidenceMap, Label, Side } from './confidence-map.ts'
import { fitIsotonic, stepAt } from './isotonic.ts'
import { fitPlatt } from './platt.ts'
import { logistic, logit } from './odds.ts'

/** Fewest labels of a refit, and from how many on a map may have any shape. */
export const fewest = 25
export const many = 500
/** Fewest labels of a side that may have any shape. */
const manyOfSide = 100
const folds = 5
/** What the line of a side begins with: a slope, and how far it and the middle of the line may be from there. */
const prior = { slope: 0.5, slopeDeviation: 0.5, offsetDeviation: 1.5 }

/** A map without the version that it gets when it is stored. */
export type FittedMap = Omit<ConfidenceMap, 'version'>

/**
 * Fits a map to labels: if all of them name their tier, one part for SIMPLE and one for what is above, otherwise one part
 * for both. `brier_after` is that of labels in the fold that the map was not fitted to.
 */
export function refit(labels: readonly Label[], before: ConfidenceMap): FittedMap {
  const sides: readonly Side[] = labels.every(({ tier }) => tier !== undefined) ? ['simple', 'above'] : ['simple']
  const isIsotonic = labels.length >= many
  const fitting: Fitting = { before, sides, isIsotonic }
  const { parameters, table, table_above } = fit(labels, fitting)
  return {
    kind: isIsotonic ? 'isotonic' : sides.length > 1 ? 'platt2' : 'platt',
    parameters,
    labels: labels.length,
    brier_before: rounded(brier(labels, before)),
    brier_after: rounded(crossValidated(labels, fitting)),
    table,
    ...(table_above && { table_above }),
  }
}

interface Fitting {
  readonly before: ConfidenceMap
  readonly sides: readonly Side[]
  readonly isIsotonic: boolean
}

type Fitted = Pick<ConfidenceMap, 'parameters' | 'table' | 'table_above'>

function fit(labels: readonly Label[], { before, sides, isIsotonic }: Fitting): Fitted {
  const [simple = before, above] = sides.map((side) => {
    const own = sides.length > 1 ? labels.filter(({ tier }) => sideOf(tier) === side) : labels
    return fitSide(own, { before, side, isIsotonic })
  })
  if (above === undefined) return { parameters: simple.parameters, table: simple.table }
  const renamed = Object.entries(above.parameters).map(([name, value]) => [`${name}_above`, value])
  return {
    parameters: { ...simple.parameters, ...Object.fromEntries(renamed) },
    table: simple.table,
    table_above: above.table,
  }
}

interface Siding extends Pick<Fitting, 'before' | 'isIsotonic'> {
  readonly side: Side
}

/** A side without labels keeps its map. */
function fitSide(
  labels: readonly Label[],
  { before, side, isIsotonic }: Siding,
): Pick<ConfidenceMap, 'parameters' | 'table'> {
  if (labels.length === 0)
    return { parameters: {}, table: (side === 'above' ? before.table_above : undefined) ?? before.table }
  if (isIsotonic && labels.length >= manyOfSide) {
    const stairs = fitIsotonic(labels.map(({ raw, right }) => ({ value: raw, label: right })))
    return { parameters: { ...stairs }, table: tableOf((raw) => stepAt(stairs, raw)) }
  }
  return fitLine(labels, (raw) => lookUp(before, raw, side))
}

/**
 * A line around the middle of its labels, near to what the map before says there. With the middle at 0, slope and offset
 * say nearly nothing about each other. The slope between sources, which the map before has, is far too steep within one.
 */
function fitLine(labels: readonly Label[], before: (raw: number) => number) {
  const values = labels.map(({ raw }) => oddsOf(raw))
  const middle = values.reduce((sum, value) => sum + value, 0) / values.length
  const { slope, offset } = fitPlatt(
    labels.map(({ right }, at) => ({ value: (values[at] ?? 0) - middle, label: right })),
    { ...prior, offset: logit(Math.min(0.99, Math.max(0.01, before(logistic(middle))))) },
  )
  return {
    parameters: { slope: rounded(slope), offset: rounded(offset - slope * middle) },
    table: tableOf((raw) => logistic(offset + slope * (oddsOf(raw) - middle))),
  }
}

/** The Brier score of each fifth of the labels by a map that was fitted to the others. */
function crossValidated(labels: readonly Label[], fitting: Fitting): number {
  const sums = Array.from({ length: folds }, (_, fold) => {
    const fitted = fit(
      labels.filter((_label, at) => at % folds !== fold),
      fitting,
    )
    const held = labels.filter((_label, at) => at % folds === fold)
    return brier(held, fitted) * held.length
  })
  return sums.reduce((sum, one) => sum + one, 0) / labels.length
}

/** The logarithm of the odds of a raw confidence. */
function oddsOf(raw: number): number {
  return logit(Math.min(0.95, Math.max(0.05, raw)))
}

function brier(labels: readonly Label[], map: Pick<ConfidenceMap, 'table' | 'table_above'>): number {
  return (
    labels.reduce((sum, { raw, right, tier }) => sum + (lookUp(map, raw, sideOf(tier)) - right) ** 2, 0) / labels.length
  )
}

function rounded(value: number): number {
  return Number(value.toFixed(6))
}
