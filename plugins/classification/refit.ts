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
 * Fits a map to labels: one part for SIMPLE and one for what is above, or one part for both if most labels do not name
 * their tier. Where most do, those that do not are left out: nobody knows of which part they speak. `brier_after` is that
 * of labels in the fold that the map was not fitted to; `labels` are those that count.
 */
export function refit(labels: readonly Label[], before: ConfidenceMap): FittedMap {
  const named = labels.filter(({ tier }) => tier !== undefined)
  const hasSides = named.length >= Math.max(fewest, labels.length / 2)
  const counted = hasSides ? named : labels
  const isIsotonic = counted.length >= many
  const fitting: Fitting = { before, sides: sidesOf(counted, { hasSides, isIsotonic }) }
  const { parameters, table, table_above } = fit(counted, fitting)
  return {
    kind: isIsotonic ? 'isotonic' : hasSides ? 'platt2' : 'platt',
    parameters,
    labels: counted.length,
    brier_before: rounded(brier(counted, before)),
    brier_after: rounded(crossValidated(counted, fitting)),
    table,
    ...(table_above && { table_above }),
  }
}

/** A part of a map, and whether it may have any shape. That is decided by all labels, for each fold alike. */
interface Part {
  readonly side: Side
  readonly isIsotonic: boolean
}

interface Fitting {
  readonly before: ConfidenceMap
  /** A single one is for both sides. */
  readonly sides: readonly Part[]
}

type Fitted = Pick<ConfidenceMap, 'parameters' | 'table' | 'table_above'>

function sidesOf(
  labels: readonly Label[],
  { hasSides, isIsotonic }: { readonly hasSides: boolean; readonly isIsotonic: boolean },
): readonly Part[] {
  if (!hasSides) return [{ side: 'simple', isIsotonic }]
  return (['simple', 'above'] as const).map((side) => ({
    side,
    isIsotonic: isIsotonic && labels.filter(({ tier }) => sideOf(tier) === side).length >= manyOfSide,
  }))
}

function fit(labels: readonly Label[], { before, sides }: Fitting): Fitted {
  const [simple = before, above] = sides.map((part) => {
    const own = sides.length > 1 ? labels.filter(({ tier }) => sideOf(tier) === part.side) : labels
    return fitPart(own, part, before)
  })
  if (above === undefined) return { parameters: simple.parameters, table: simple.table }
  const renamed = Object.entries(above.parameters).map(([name, value]) => [`${name}_above`, value])
  return {
    parameters: { ...simple.parameters, ...Object.fromEntries(renamed) },
    table: simple.table,
    table_above: above.table,
  }
}

/** A side without labels keeps its map. */
function fitPart(
  labels: readonly Label[],
  { side, isIsotonic }: Part,
  before: ConfidenceMap,
): Pick<ConfidenceMap, 'parameters' | 'table'> {
  if (labels.length === 0)
    return { parameters: {}, table: (side === 'above' ? before.table_above : undefined) ?? before.table }
  if (isIsotonic) {
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
