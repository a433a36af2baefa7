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

/** The value if it is a text, otherwise the empty text. */
export function asText(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

/** Whether it is a number that prints as it was written. Node implements `isRawJSON`; its types do not declare it. */
export const isRawNumber = (JSON as unknown as { isRawJSON(this: void, value: unknown): boolean }).isRawJSON

/**
 * A JSON value with `map` applied to every text in it, member names included, and `number` to its numbers. Values
 * nested deeper than `depth` become null, because the value may come from an untrusted client. Unchanged parts are
 * not copied. If several members get the same name, all are kept; the later ones get a numeric suffix.
 */
export function mapTexts(
  value: Json,
  map: (text: string) => string,
  depth = 32,
  number: (value: Json) => Json = same,
): Json {
  if (typeof value === 'string') return map(value)
  // A number that prints as it was written is an object.
  if (typeof value === 'number' || isRawNumber(value)) return number(value)
  if (typeof value !== 'object' || value === null) return value
  if (depth === 0) return null
  if (Array.isArray(value)) return mapItems(value as readonly Json[], map, depth, number)
  return mapMembers(value as JsonObject, map, depth, number)
}

function same(value: Json): Json {
  return value
}

/** Like `mapTexts`, for an object. */
export function mapMembers(
  object: JsonObject,
  map: (text: string) => string,
  depth = 32,
  number: (value: Json) => Json = same,
): JsonObject {
  let at = 0
  for (const name in object) {
    const member = object[name]
    const value = member === undefined ? undefined : mapTexts(member, map, depth - 1, number)
    const called = map(name)
    if (value !== member || called !== name) return changedFrom(at, [called, value], object, { map, depth, number })
    at++
  }
  return object
}

interface Mapping {
  readonly map: (text: string) => string
  readonly depth: number
  readonly number: (value: Json) => Json
}

/** The members of an object from the first one that changes on. What was mapped is not mapped again. */
function changedFrom(
  first: number,
  changed: readonly [string, Json | undefined],
  object: JsonObject,
  { map, depth, number }: Mapping,
): JsonObject {
  const names = Object.keys(object)
  const members = names.map((name, at): readonly [string, Json | undefined] => {
    const member = object[name]
    if (at < first) return [name, member]
    if (at === first) return changed
    return [map(name), member === undefined ? undefined : mapTexts(member, map, depth - 1, number)]
  })
  return orderedObject(distinct(members, names))
}

/** Makes the new names unique. A name that did not change is kept. */
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

/** Like `Object.fromEntries`, but the keys print in the order of the entries, even keys that look like an index. */
export function orderedObject(entries: readonly (readonly [string, Json | undefined])[]): JsonObject {
  return ordered(Object.fromEntries(entries), new Set(entries.map(([key]) => key)))
}

/** An object whose keys, all of `keys`, print in that order: JavaScript prints keys that look like an index first. */
export function ordered(object: JsonObject, keys: ReadonlySet<string>): JsonObject {
  const order = [...keys]
  if (Object.keys(object).every((key, index) => key === order[index])) return object
  return new Proxy(object, { ownKeys: () => order })
}

/** `T` with every field that may be undefined made optional instead. */
export type Defined<T> = { [K in keyof T as undefined extends T[K] ? never : K]: T[K] } & {
  [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>
}

/** A copy of `object` without the fields that are undefined. */
export function defined<T extends object>(object: T): Defined<T> {
  const kept: Record<string, unknown> = {}
  for (const name of Object.keys(object)) {
    const value = object[name as keyof T]
    if (value === undefined) continue
    // An assignment would set the prototype.
    if (name === '__proto__')
      Object.defineProperty(kept, name, { value, enumerable: true, configurable: true, writable: true })
    else kept[name] = value
  }
  return kept as Defined<T>
}

/** The value of a field, with dots in `path` where it stands in others. */
export function valueAt(body: JsonObject, path: string): Json | undefined {
  if (!path.includes('.')) return body[path]
  return path.split('.').reduce((value: Json | undefined, name) => (isObject(value) ? value[name] : undefined), body)
}
