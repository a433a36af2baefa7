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
 * A JSON value with every text in it put through `map`, names of members too. What is nested deeper than `depth` becomes
 * null: it may come from a stranger, and nobody reads it. What stays the same is not copied.
 */
export function mapTexts(value: Json, map: (text: string) => string, depth = 32): Json {
  if (typeof value === 'string') return map(value)
  // A number that prints as it stood is an object.
  if (typeof value !== 'object' || value === null || isRawNumber(value)) return value
  if (depth === 0) return null
  if (Array.isArray(value)) return mapItems(value as readonly Json[], map, depth)
  return mapMembers(value as JsonObject, map, depth)
}

/** The same for an object. */
export function mapMembers(object: JsonObject, map: (text: string) => string, depth = 32): JsonObject {
  let changed: [string, Json | undefined][] | undefined
  const names = Object.keys(object)
  for (let index = 0; index < names.length; index++) {
    const name = names[index] as string
    const member = object[name]
    const value = member === undefined ? undefined : mapTexts(member, map, depth - 1)
    const called = map(name)
    if (changed === undefined && value === member && called === name) continue
    changed ??= names.slice(0, index).map((before) => [before, object[before]])
    changed.push([called, value])
  }
  return changed ? orderedObject(changed) : object
}

function mapItems(items: readonly Json[], map: (text: string) => string, depth: number): readonly Json[] {
  let changed: Json[] | undefined
  for (let index = 0; index < items.length; index++) {
    const item = items[index] as Json
    const value = mapTexts(item, map, depth - 1)
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
