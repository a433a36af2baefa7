import { defineService } from '../../engine/index.ts'
import { lookUp, tableOf } from './confidence-map.ts'
import type { ConfidenceMap } from './confidence-map.ts'

/** What the confidence of a decision means here. */
export interface Calibration {
  /** Version of the map in use. */
  readonly version: string
  /** The probability that the tier is right, for a raw confidence. */
  map(raw: number): number
}

declare module '../../engine/index.ts' {
  interface Services {
    calibration: Calibration
  }
}

const identity: ConfidenceMap = {
  version: 'identity',
  kind: 'temperature',
  parameters: { temperature: 1 },
  labels: 0,
  brier_before: 0.25,
  brier_after: 0.25,
  table: tableOf((raw) => raw),
}

/** Holds the map from raw confidences to probabilities. */
export default defineService({
  name: 'calibration',
  summary: 'The probability that a tier is right, by the confidence of the signals.',
  open: () => ({
    configure: () => ({ view: { version: identity.version, map: (raw) => lookUp(identity.table, raw) } }),
  }),
})
