import type { JsonObject } from '../../engine/index.ts'
import { typeOf } from './parse-item-events.ts'
import type { OpenItem } from './parse-item-events.ts'
import { text } from './values.ts'

/**
 * Matches each item of the final output to a streamed item (a map by `output_index`): by its id; if an upstream changed
 * the ids, by type and index, otherwise to the next item of its type. Undefined: the item was not streamed.
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
