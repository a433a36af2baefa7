import type { GenerateEvent } from '../../engine/index.ts'
import type { PlacedEvent, Segment } from './segments.ts'

/** What may be given now. */
interface Release {
  /** What may be given of each text. */
  readonly outputs: ReadonlyMap<Segment, string>
  /** Whether some of a text may not be given yet. */
  readonly isHeld: (segment: Segment) => boolean
}

/**
 * The events with other texts: each text stands at its first event, and what belongs to the old text goes. What ends a
 * text that is held waits with it, and all that follows in its item.
 */
export function released(
  placed: readonly PlacedEvent[],
  { outputs, isHeld }: Release,
): { readonly given: readonly GenerateEvent[]; readonly queue: readonly PlacedEvent[] } {
  const waiting = new Map(outputs)
  const given: GenerateEvent[] = []
  const queue: PlacedEvent[] = []
  const held = new Set<number>()
  const give = (segment: Segment) => {
    const text = waiting.get(segment) ?? ''
    waiting.delete(segment)
    if (text !== '') given.push({ type: 'delta', index: segment.index, text })
  }
  for (const one of placed) {
    const { event, segment } = one
    if (event.type === 'finish' || event.type === 'failure') for (const rest of waiting.keys()) give(rest)
    const isOwn = segment !== undefined && outputs.has(segment)
    if (isOwn && segment.call) {
      // The call opens with its own input.
      if (event.type === 'item-end') give(segment)
      if (event.type !== 'delta') given.push(event)
      continue
    }
    if (isOwn) give(segment)
    if (isOwn && event.type === 'delta') continue
    if ('index' in event && (held.has(event.index) || (isOwn && isHeld(segment)))) {
      held.add(event.index)
      queue.push(one)
      continue
    }
    if (isOwn && event.type === 'seal' && segment.item.isChanged) continue
    const kept = isOwn && event.type === 'annotation' && segment.isChanged ? annotationWithout(event) : event
    if (kept) given.push(kept)
  }
  return { given, queue }
}

/** An annotation of a text that was changed: its place is not known any more. */
function annotationWithout(event: Extract<GenerateEvent, { type: 'annotation' }>): GenerateEvent | undefined {
  const { annotation } = event
  if (annotation.type === 'opaque') return undefined
  const { url, title } = annotation
  return { ...event, annotation: { type: 'url', url, title, start: 0, end: 0 } }
}
