import { isObject } from '../spec/json.ts'
import type { Json, JsonObject } from '../spec/json.ts'

/** Applies a JSON Merge Patch (RFC 7396) to a value: `null` removes a member. */
export function mergePatch(value: Json | undefined, patch: Json): Json {
  if (!isObject(patch)) return patch
  const result = new Map(Object.entries(isObject(value) ? value : {}))
  for (const [name, change = null] of Object.entries(patch)) {
    if (change === null) result.delete(name)
    else result.set(name, mergePatch(result.get(name), change))
  }
  return Object.fromEntries(result)
}

/**
 * The JSON Schema of a merge patch for values of a schema: no member is required or filled in, and every member that is
 * not required may be null. What the patch leaves out is known only after it was applied, so the result must be
 * checked, too.
 */
export function patchSchema(schema: JsonObject): JsonObject {
  const { required = [], default: _default, anyOf: _anyOf, maxProperties: _most, ...rest } = schema
  const { properties, additionalProperties: others } = rest
  const members = Object.entries(isObject(properties) ? properties : {}).map(([name, member]) => {
    const patched = patchSchema(isObject(member) ? member : {})
    return [name, (required as readonly string[]).includes(name) ? patched : nullable(patched)]
  })
  return {
    ...rest,
    ...(members.length > 0 && { properties: Object.fromEntries(members) as JsonObject }),
    ...(isObject(others) && { additionalProperties: nullable(patchSchema(others)) }),
  }
}

function nullable(schema: JsonObject): JsonObject {
  const { type, enum: words } = schema
  const types = [type ?? []].flat() as readonly string[]
  return {
    ...schema,
    ...(type === undefined || types.includes('null') ? {} : { type: [...types, 'null'] }),
    ...(Array.isArray(words) && !words.includes(null) ? { enum: [...(words as readonly Json[]), null] } : {}),
  }
}
