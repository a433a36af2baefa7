import { isDeepStrictEqual } from 'node:util'
import type { Json, JsonObject } from '../../engine/index.ts'
import { isObject } from '../../engine/kit.ts'

/** Changed fields by dotted path; null where the field was or is absent. Secrets are never quoted. */
export type Changes = Readonly<Record<string, { readonly from: Json; readonly to: Json }>>

/** The fields of an object by dotted path. Lists count as one field; a field that is null counts as absent. */
export type Fields = ReadonlyMap<string, Field>

/** How a field is shown, and what makes it differ from another one. */
interface Field {
  readonly shown: Json
  readonly differs: unknown
}

/**
 * The fields of an object and of the secrets beside it, which are never shown.
 * @param secrets what is known of each secret, by dotted path
 */
export function fieldsOf(value: JsonObject = {}, secrets: Readonly<Record<string, unknown>> = {}): Fields {
  const fields = new Map<string, Field>()
  const add = (object: JsonObject, path: readonly string[]) => {
    for (const [name, member] of Object.entries(object)) {
      const place = [...path, name]
      if (isObject(member)) add(member, place)
      else if (member !== undefined && member !== null) fields.set(place.join('.'), { shown: member, differs: member })
    }
  }
  add(value, [])
  for (const [path, secret] of Object.entries(secrets)) fields.set(path, { shown: '[secret]', differs: secret })
  return fields
}

/** The fields that differ. */
export function changesBetween(before: Fields, after: Fields): Changes {
  const paths = [...new Set([...before.keys(), ...after.keys()])]
  const differing = paths.filter((path) => !isDeepStrictEqual(before.get(path)?.differs, after.get(path)?.differs))
  return Object.fromEntries(
    differing.map((path) => [path, { from: before.get(path)?.shown ?? null, to: after.get(path)?.shown ?? null }]),
  )
}
