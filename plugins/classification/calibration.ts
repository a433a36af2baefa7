import { defineService } from '../../engine/index.ts'
import first from './confidence.json' with { type: 'json' }
import { lookUp } from './confidence-map.ts'

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

/** Holds the map from raw confidences to probabilities. */
export default defineService({
  name: 'calibration',
  summary: 'The probability that a tier is right, by the confidence of the signals.',
  open: () => ({
    configure: () => ({ view: { version: first.version, map: (raw) => lookUp(first.table, raw) } }),
  }),
})
