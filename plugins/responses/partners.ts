import type { JsonObject } from '../../engine/index.ts'
import { typeOf } from './parse-item-events.ts'
import type { OpenItem } from './parse-item-events.ts'
import { text } from './values.ts'

/**
 * Which streamed item (they come by their `output_index`) each item of the final output is: the one of its id; where
 * an upstream gave ids anew, the one of its type at its place, or else the next of its type. None: it was not streamed.
 */
export function partners(
  output: readonly JsonObject[],
  streamed: ReadonlyMap<number, OpenItem>,
): readonly (OpenItem | undefined)[] {
  const byId = new Map(
    [...streamed.values()].flatMap((open) => (open.id === undefined ? [] : [[open.id, open] as const])),
  )
  const same = output.map((item) => byId.get(text(item['id']) ?? ''))
  const left = new Set(streamed.values()).difference(new Set(same))
  const placed = output.map((item, at) => {
    const open = streamed.get(at)
    if (same[at] || !open || open.type !== typeOf(item) || !left.delete(open)) return same[at]
    return open
  })
  const next = new Map(
    Array.from(
      Map.groupBy(left, ({ type }) => type),
      ([type, open]) => [type, open.values()],
    ),
  )
  return placed.map((open, at) => open ?? next.get(typeOf(output[at] ?? {}))?.next().value)
}
