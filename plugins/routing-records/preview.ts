import type { Services } from '../../engine/index.ts'

/**
 * Marks a request that is only routed, to see how it would be. Stages that route read it: they ask no judge, and neither
 * write state nor count what they chose.
 */
export interface Preview {
  /** The settings to decide by, whole; absent: those that run. */
  readonly settings?: Services['smart_routing']['settings']
  /** In place of the seed of the settings. */
  readonly seed?: string
  /** In place of the id of the request. */
  readonly id?: string
}

declare module '../../engine/index.ts' {
  interface Slots {
    preview: Preview
  }
}
