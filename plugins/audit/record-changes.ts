import { isDeepStrictEqual } from 'node:util'
import type { Json, JsonObject, RecordChanged, RecordView, Requester } from '../../engine/index.ts'
import { isObject } from '../../engine/kit.ts'
import type { AuditEntry, Changes } from './row.ts'

const verbs = { create: 'create', change: 'update', delete: 'delete' } as const

/**
 * The entry for the change of a stored record or section; undefined for a record that a service holds, which appends
 * an entry of its own.
 */
export function entryOf(change: RecordChanged, by: Requester | undefined): AuditEntry | undefined {
  const { kind, type, name, before, after } = change
  if (before?.stored === undefined && after?.stored === undefined) return undefined
  const isSection = type === 'section'
  const action = isSection ? `settings.${kind === 'delete' ? 'reset' : 'update'}` : `${type}.${verbs[kind]}`
  const target = { type: isSection ? 'settings' : type, id: name, name }
  return { action, ...(by && { by }), target, changes: changesBetween(before, after) }
}

function changesBetween(before: RecordView | undefined, after: RecordView | undefined): Changes {
  const [from, to] = [fieldsOf(before), fieldsOf(after)]
  const paths = [...new Set([...from.keys(), ...to.keys()])]
  const differing = paths.filter((path) => !isDeepStrictEqual(from.get(path)?.differs, to.get(path)?.differs))
  return Object.fromEntries(
    differing.map((path) => [path, { from: from.get(path)?.shown ?? null, to: to.get(path)?.shown ?? null }]),
  )
}

/** How a field is shown, and what makes it differ from another one. */
interface Field {
  readonly shown: Json
  readonly differs: unknown
}

/** The fields of a record by dotted path. Lists count as one field; an absent field is the same as null. */
function fieldsOf(view: RecordView | undefined): ReadonlyMap<string, Field> {
  const fields = new Map<string, Field>()
  const add = (value: JsonObject, path: readonly string[]) => {
    for (const [name, member] of Object.entries(value)) {
      const place = [...path, name]
      if (isObject(member)) add(member, place)
      else if (member !== undefined && member !== null) fields.set(place.join('.'), { shown: member, differs: member })
    }
  }
  add(view?.value ?? {}, [])
  for (const [path, secret] of Object.entries(view?.secrets ?? {}))
    fields.set(path, { shown: '[secret]', differs: secret })
  return fields
}
