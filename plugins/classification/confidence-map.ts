import type { Tier } from '../../engine/index.ts'
import { tierRanges } from '../../engine/kit.ts'
import { valueAt } from './structural-model.ts'

/** A label: the raw confidence of a decision, and whether its tier was right. */
export interface Label {
  readonly raw: number
  readonly right: 0 | 1
  /** The tier that the signals saw; absent: unknown. */
  readonly tier?: Tier
}

/** Turns a raw confidence into the probability that the tier is right. */
export interface ConfidenceMap {
  readonly version: string
  /** `platt2`: a line for decisions in SIMPLE, and one for those above. */
  readonly kind: 'temperature' | 'platt' | 'platt2' | 'isotonic'
  readonly parameters: Readonly<Record<string, number | readonly number[]>>
  /** How many labels it was fitted to. */
  readonly labels: number
  /** Brier score of the map before, and of this one for labels that it was not fitted to. */
  readonly brier_before: number
  readonly brier_after: number
  /** What it gives for 0, 0.01, … 1. */
  readonly table: readonly number[]
  /** The same above SIMPLE, where equal raw values mean something else; absent: the same. */
  readonly table_above?: readonly number[]
}

/** The two sides of the border above SIMPLE: far from it, both are sure. */
export type Side = 'simple' | 'above'

/** Without a tier: the side of a map that has but one. */
export function sideOf(tier: Tier | undefined): Side {
  return tier === undefined || tier === 'SIMPLE' ? 'simple' : 'above'
}

/** Steps of a table. */
export const steps = 100

/** How sure a complexity is of its tier, before any map. */
export function rawConfidence(complexity: number): number {
  const raw = complexity < tierRanges.MEDIUM.from ? 1 - complexity : complexity
  return Math.min(0.95, Math.max(0.05, raw))
}

/** The value of a map at a raw confidence, between two steps of its table by interpolation. */
export function lookUp(
  { table, table_above: above = table }: Pick<ConfidenceMap, 'table' | 'table_above'>,
  raw: number,
  side: Side = 'simple',
): number {
  return valueAt(side === 'simple' ? table : above, raw)
}

/** The table of a function. */
export function tableOf(map: (raw: number) => number): readonly number[] {
  return Array.from({ length: steps + 1 }, (_, at) => Number(map(at / steps).toFixed(4)))
}
