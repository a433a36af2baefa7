/** Any JSON value. */
export type Json = null | boolean | number | string | readonly Json[] | JsonObject

/** A JSON object. A key that holds `undefined` is left out when printed. */
export interface JsonObject {
  readonly [key: string]: Json | undefined
}

/** Whether a JSON value is an object, and neither null nor a list. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** A text as it is, and of anything else the empty one. */
export function asText(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

/** Node has it; its types do not. */
const isRawNumber = (JSON as unknown as { isRawJSON(this: void, value: unknown): boolean }).isRawJSON

/**
 * A JSON value with every text in it put through `map`, names of members too, and its numbers through `number`. What is
 * nested deeper than `depth` becomes null: it may come from a stranger, and nobody reads it. What stays the same is not
 * copied. Members whose names become the same are all kept: the later ones get a number behind their name.
 */
export function mapTexts(
  value: Json,
  map: (text: string) => string,
  depth = 32,
  number: (value: Json) => Json = same,
): Json {
  if (typeof value === 'string') return map(value)
  // A number that prints as it stood is an object.
  if (typeof value === 'number' || isRawNumber(value)) return number(value)
  if (typeof value !== 'object' || value === null) return value
  if (depth === 0) return null
  if (Array.isArray(value)) return mapItems(value as readonly Json[], map, depth, number)
  return mapMembers(value as JsonObject, map, depth, number)
}

function same(value: Json): Json {
  return value
}

/** The same for an object. */
export function mapMembers(
  object: JsonObject,
  map: (text: string) => string,
  depth = 32,
  number: (value: Json) => Json = same,
): JsonObject {
  let changed: [string, Json | undefined][] | undefined
  const names = Object.keys(object)
  for (let index = 0; index < names.length; index++) {
    const name = names[index] as string
    const member = object[name]
    const value = member === undefined ? undefined : mapTexts(member, map, depth - 1, number)
    const called = map(name)
    if (changed === undefined && value === member && called === name) continue
    changed ??= names.slice(0, index).map((before) => [before, object[before]])
    changed.push([called, value])
  }
  return changed ? orderedObject(distinct(changed, names)) : object
}

/** Members that had these names, none of which was another's: a name that stayed is kept as it is. */
function distinct(
  members: readonly (readonly [string, Json | undefined])[],
  names: readonly string[],
): readonly (readonly [string, Json | undefined])[] {
  const taken = new Set(members.map(([called]) => called))
  if (taken.size === members.length) return members
  const used = new Set(names.filter((name, index) => members[index]?.[0] === name))
  const counts = new Map<string, number>()
  return members.map(([called, value], index) => {
    if (called === names[index]) return [called, value]
    if (!used.has(called)) {
      used.add(called)
      return [called, value]
    }
    let count = counts.get(called) ?? 2
    while (taken.has(`${called}_${count}`)) count++
    counts.set(called, count + 1)
    return [`${called}_${count}`, value]
  })
}

function mapItems(
  items: readonly Json[],
  map: (text: string) => string,
  depth: number,
  number: (value: Json) => Json,
): readonly Json[] {
  let changed: Json[] | undefined
  for (let index = 0; index < items.length; index++) {
    const item = items[index] as Json
    const value = mapTexts(item, map, depth - 1, number)
    if (changed === undefined && value === item) continue
    changed ??= items.slice(0, index)
    changed.push(value)
  }
  return changed ?? items
}

/** Like `Object.fromEntries`; its keys print in the order of the entries, even those that look like an index. */
export function orderedObject(entries: readonly (readonly [string, Json | undefined])[]): JsonObject {
  return ordered(Object.fromEntries(entries), new Set(entries.map(([key]) => key)))
}

/** An object whose keys, all of `keys`, print in their order: JavaScript puts those first that look like an index. */
export function ordered(object: JsonObject, keys: ReadonlySet<string>): JsonObject {
  const order = [...keys]
  if (Object.keys(object).every((key, index) => key === order[index])) return object
  return new Proxy(object, { ownKeys: () => order })
}
