import { tierRanges } from '../../engine/kit.ts'

/** A label: the raw confidence of a decision, and whether its tier was right. */
export interface Label {
  readonly raw: number
  readonly right: 0 | 1
}

/** Turns a raw confidence into the probability that the tier is right. */
export interface ConfidenceMap {
  readonly version: string
  readonly kind: 'temperature' | 'platt' | 'isotonic'
  readonly parameters: Readonly<Record<string, number | readonly number[]>>
  /** How many labels it was fitted to. */
  readonly labels: number
  /** Brier score of the map before, and of this one for labels that it was not fitted to. */
  readonly brier_before: number
  readonly brier_after: number
  /** What it gives for 0, 0.01, … 1. */
  readonly table: readonly number[]
}

/** Steps of a table. */
export const steps = 100

/** How sure a complexity is of its tier, before any map. */
export function rawConfidence(complexity: number): number {
  const raw = complexity < tierRanges.MEDIUM.from ? 1 - complexity : complexity
  return Math.min(0.95, Math.max(0.05, raw))
}

/** The value of a table at a raw confidence, between two of its steps by interpolation. */
export function lookUp(table: readonly number[], raw: number): number {
  const at = Math.min(1, Math.max(0, raw)) * steps
  const below = Math.floor(at)
  const [one = 0, next = one] = [table[below], table[below + 1]]
  return one + (at - below) * (next - one)
}

/** The table of a function. */
export function tableOf(map: (raw: number) => number): readonly number[] {
  return Array.from({ length: steps + 1 }, (_, at) => Number(map(at / steps).toFixed(4)))
}
