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

/**
 * A JSON value with every text in it put through `map`, names of members too. What is nested deeper than `depth` becomes
 * null: it may come from a stranger, and nobody reads it.
 */
export function mapTexts(value: Json, map: (text: string) => string, depth = 32): Json {
  if (typeof value === 'string') return map(value)
  if (typeof value !== 'object' || value === null) return value
  if (depth === 0) return null
  if (Array.isArray(value)) return value.map((item) => mapTexts(item as Json, map, depth - 1))
  return mapMembers(value as JsonObject, map, depth)
}

/** The same for an object. */
export function mapMembers(object: JsonObject, map: (text: string) => string, depth = 32): JsonObject {
  const mapped: Record<string, Json | undefined> = {}
  for (const name of Object.keys(object)) {
    const member = object[name]
    const value = member === undefined ? undefined : mapTexts(member, map, depth - 1)
    // Assigned, this one name would change the prototype.
    if (name === '__proto__') Object.defineProperty(mapped, name, { value, enumerable: true })
    else mapped[map(name)] = value
  }
  return mapped
}
