import type { RecordChanged, RecordView, Requester } from '../../engine/index.ts'
import { changesBetween, fieldsOf } from './changes.ts'
import type { AuditEntry } from './row.ts'

const verbs = { create: 'create', change: 'update', delete: 'delete' } as const

/** The entry for the change of a record or section; undefined where its service appends an entry of its own. */
export function entryOf(change: RecordChanged, by: Requester | undefined): AuditEntry | undefined {
  const { kind, type, name, before, after, audited } = change
  if (audited) return undefined
  const isSection = type === 'section'
  const action = isSection ? `settings.${kind === 'delete' ? 'reset' : 'update'}` : `${type}.${verbs[kind]}`
  const target = { type: isSection ? 'settings' : type, id: name, name }
  return { action, ...(by && { by }), target, changes: changesBetween(fieldsIn(before), fieldsIn(after)) }
}

function fieldsIn(view: RecordView | undefined) {
  return fieldsOf(view?.value, view?.secrets)
}
