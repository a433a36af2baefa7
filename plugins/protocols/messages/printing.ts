import type { CacheMark, PrintTarget } from '../../../engine/index.ts'
import type { Losses, ToolNames } from '../../../engine/kit.ts'
import type { MessagesTraits } from './traits.ts'
import type { CacheControl } from './wire.ts'

/** Context for printing a request. */
export interface Printing {
  readonly target: PrintTarget
  readonly traits: MessagesTraits
  readonly names: ToolNames
  readonly losses: Losses
}

/** The cache mark of a block or tool, as a field to spread. */
export function cacheControl(
  mark: CacheMark | undefined,
  { traits, losses }: Printing,
): { cache_control?: CacheControl } {
  if (!mark) return {}
  if (traits.cache_control === false) {
    losses.add('cache_control', 'the upstream takes no cache marks')
    return {}
  }
  const { ttl } = mark
  if (ttl === undefined) return { cache_control: { type: 'ephemeral' } }
  if (traits.cache_control === true && (ttl === '5m' || ttl === '1h'))
    return { cache_control: { type: 'ephemeral', ttl } }
  losses.add('cache_control.ttl', 'the upstream does not take this lifetime')
  return { cache_control: { type: 'ephemeral' } }
}
