import type { Json, JsonObject, Requester, Services } from '../../engine/index.ts'
import { isObject } from '../../engine/kit.ts'
import { bodyOfFields } from './key-body.ts'
import type { KeyFields } from './known-key.ts'

/** Who changes a key: whoever sent a request, the command line, or, if undefined, the gateway itself. */
export type Changer = Requester | 'cli' | undefined

/** What happened to a key. */
export type KeyAction = 'create' | 'update' | 'delete' | 'rotate' | 'reset_budget' | 'import'

/** What differs after it. */
export interface KeyEdit {
  readonly before?: KeyFields | undefined
  readonly after?: KeyFields | undefined
  /** The last characters of its texts. */
  readonly hint?: { readonly from: string | null; readonly to: string | null }
}

type AuditEntry = Parameters<Services['audit']['append']>[1]

/** The entry of the audit trail for a change of a key. Commands are called as they are typed. */
export function entryOf(
  action: KeyAction,
  { id, name }: { readonly id: string; readonly name: string },
  by: Changer,
  { before, after, hint }: KeyEdit = {},
): AuditEntry {
  const changes = { ...changesBetween(before, after), ...(hint && { hint }) }
  const target = { type: 'api_key', id, name }
  if (by === 'cli')
    return { action: `key.${action === 'delete' ? 'revoke' : action}`, actor: { type: 'cli' }, target, changes }
  return { action: `api_key.${action}`, ...(by && { by }), target, changes }
}

/** The fields that differ, by dotted path. */
function changesBetween(
  before: KeyFields | undefined,
  after: KeyFields | undefined,
): Readonly<Record<string, { readonly from: Json; readonly to: Json }>> {
  const [from, to] = [flat(before), flat(after)]
  const paths = [...new Set([...from.keys(), ...to.keys()])]
  const differing = paths.filter((path) => JSON.stringify(from.get(path)) !== JSON.stringify(to.get(path)))
  return Object.fromEntries(differing.map((path) => [path, { from: from.get(path) ?? null, to: to.get(path) ?? null }]))
}

function flat(fields: KeyFields | undefined): ReadonlyMap<string, Json> {
  const found = new Map<string, Json>()
  const add = (value: JsonObject, path: string) => {
    for (const [name, member = null] of Object.entries(value))
      if (isObject(member)) add(member, `${path}${name}.`)
      else found.set(path + name, member)
  }
  if (fields) add(bodyOfFields(fields), '')
  return found
}
