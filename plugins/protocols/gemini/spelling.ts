import { isObject } from '../../../engine/kit.ts'
import type { Json, JsonObject } from '../../../engine/index.ts'
import { verbatim } from './wire.ts'

/**
 * A body with every field in camel case. The vendor reads `system_instruction` as `systemInstruction`, as its own
 * examples for curl write it (protobuf.dev, ProtoJSON). JSON of the client stays as it is.
 */
export function camelCased(body: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(body).map(([name, value = null]) => {
      const known = name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
      return [known, verbatim.request.has(known) ? value : inner(value)]
    }),
  )
}

function inner(value: Json): Json {
  if (Array.isArray(value)) return value.map((one: Json) => inner(one))
  return isObject(value) ? camelCased(value) : value
}

/** Both spellings of a field, each with the same value. */
export function bothSpellings<T>(fields: Readonly<Record<string, T>>): Record<string, T> {
  return Object.fromEntries(
    Object.entries(fields).flatMap(([name, value]) => [
      [name, value],
      [name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`), value],
    ]),
  )
}
