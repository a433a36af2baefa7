import { isObject } from '../../engine/kit.ts'
import type { Json, JsonObject } from '../../engine/index.ts'

/** The protocol's name, which marks its native parts. */
export const protocol = 'responses'

/** The reason for the loss of a field that only other protocols have. */
export const noSuchField = 'the responses protocol has no such field'

/** A JSON object without some of its keys. */
export function without(value: JsonObject, keys: ReadonlySet<string>): JsonObject {
  return Object.fromEntries(Object.entries(value).filter(([key]) => !keys.has(key)))
}

/** The fields of an object as separate fields `name.field`, so that each can be a loss of its own. */
export function dotted(name: string, fields: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(fields).map(([field, value]) => [`${name}.${field}`, value]))
}

/** The reverse of `dotted`: the fields of the object `name`, and the other ones. */
export function undotted(name: string, fields: JsonObject): { readonly inner: JsonObject; readonly outer: JsonObject } {
  const isInner = ([field]: [string, unknown]) => field.startsWith(`${name}.`)
  const entries = Object.entries(fields)
  const inner = entries.filter(isInner).map(([field, value]) => [field.slice(name.length + 1), value])
  return {
    inner: Object.fromEntries(inner),
    outer: Object.fromEntries(entries.filter((entry) => !isInner(entry))),
  }
}

export function text(value: Json | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined
}

export function number(value: Json | undefined): number | undefined {
  return typeof value === 'number' ? value : undefined
}

export function boolean(value: Json | undefined): boolean | undefined {
  return typeof value === 'boolean' ? value : undefined
}

export function object(value: Json | undefined): JsonObject | undefined {
  return isObject(value) ? value : undefined
}

/** The objects of a list; anything else is an empty list. */
export function objects(value: Json | undefined): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : []
}

/** A JSON list. (`Array.isArray` does not narrow read-only lists.) */
export function isList(value: Json | undefined): value is readonly Json[] {
  return Array.isArray(value)
}
