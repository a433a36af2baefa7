import type { CacheMark, JsonObject, PrintTarget } from '../../../engine/index.ts'
import type { Losses, ToolNames } from '../../../engine/kit.ts'
import type { DocumentNames } from './document-names.ts'
import type { Family } from './family.ts'
import type { ConverseTraits } from './traits.ts'

/** Context for printing a request. */
export interface Printing {
  readonly target: PrintTarget
  readonly traits: ConverseTraits
  readonly family: Family
  readonly names: ToolNames
  readonly documents: DocumentNames
  readonly losses: Losses
}

/** A cache point, which caches all that stands before it. */
export const cachePoint = { cachePoint: { type: 'default' } } as const

/** Whether the model takes cache points. */
export function caches({ traits, family }: Pick<Printing, 'traits' | 'family'>): boolean {
  return traits.cache_points === 'auto' ? family === 'claude' || family === 'nova' : traits.cache_points
}

/** The block after a marked block or tool: a list to spread. */
export function pointAfter(mark: CacheMark | undefined, printing: Printing): readonly JsonObject[] {
  if (!mark) return []
  const { ttl = '5m' } = mark
  if (!caches(printing)) {
    printing.losses.add('cache_control', 'the model takes no cache points')
    return []
  }
  if (ttl === '1h') return [{ cachePoint: { ...cachePoint.cachePoint, ttl } }]
  if (ttl !== '5m') printing.losses.add('cache_control.ttl', 'the upstream does not take this lifetime')
  return [cachePoint]
}
