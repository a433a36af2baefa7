import { hash } from 'node:crypto'
import type { JsonObject, Requester } from '../../engine/index.ts'
import { asText, canonical, isObject, mapMembers } from '../../engine/kit.ts'
import { changesBetween, fieldsOf } from './changes.ts'
import type { Changes } from './changes.ts'
import type { AuditTable } from './table.ts'

/** What happened, for a new row of the audit trail. */
export interface AuditEntry {
  /** Such as `provider.update`. */
  readonly action: string
  /** Who did it, by which exchange, from which address. */
  readonly by?: Requester
  /** Default: the principal of `by`; without one, the system. */
  readonly actor?: Actor
  readonly target?: Named
  /** Default: `ok`. */
  readonly outcome?: Outcome
  /** What was changed, before and after; absent: it did not exist. Only fields that differ become `changes`. */
  readonly before?: JsonObject
  readonly after?: JsonObject
  /** Changes that `before` and `after` cannot say, such as those of secrets. */
  readonly changes?: Changes
  readonly details?: JsonObject
}

export interface Actor {
  readonly type: 'member' | 'cli' | 'system' | 'anonymous'
  readonly id?: string | null
  readonly name?: string | null
}

export interface Named {
  readonly type: string
  readonly id?: string | null
  readonly name?: string | null
}

export type Outcome = 'ok' | 'refused'

/** The longest text in a row, in characters: prompts of pipelines and descriptions may be long. */
const longest = 10_000

/** `previous` of the first row. */
export const noHash = '0'.repeat(64)

/**
 * A new row, and the name of its target.
 * @param scrub removes secrets from a text
 */
export function rowOf(
  entry: AuditEntry,
  place: { readonly sequence: number; readonly previous: string; readonly at: Date },
  scrub: (text: string) => string,
): { readonly row: AuditTable; readonly targetName: string | null } {
  const { action, by, target, outcome = 'ok', before, after, changes = {}, details = {} } = entry
  const { sequence, previous, at } = place
  const actor = entry.actor ?? actorOf(by)
  const given = {
    sequence,
    at: at.toISOString(),
    actor: { type: actor.type, ...named(actor) },
    address: by?.address ?? null,
    request_id: by?.id ?? null,
    action,
    target: target ? { type: target.type, ...named(target) } : null,
    outcome,
    changes: { ...changesBetween(fieldsOf(before), fieldsOf(after)), ...changes },
    details,
  }
  const written = mapMembers(given, (text) => scrub(cut(text)).toWellFormed())
  const body = canonical(written)
  const row = { ...repeatedIn(written), body, previous, hash: hashOf(previous, body) }
  return { row, targetName: targetNameIn(written) }
}

/** The columns that repeat a row. */
export function repeatedIn({ sequence, at, actor, action, target, outcome }: JsonObject): Repeated {
  const { id } = isObject(actor) ? actor : {}
  const aim = isObject(target) ? target : {}
  const repeated = {
    sequence,
    at: Date.parse(asText(at)),
    actor_id: id ?? null,
    action,
    target_type: aim['type'] ?? null,
    target_id: aim['id'] ?? null,
    outcome,
  }
  return repeated as Repeated
}

type Repeated = Omit<AuditTable, 'body' | 'previous' | 'hash'>

/** The name of the target of a row. */
export function targetNameIn({ target }: JsonObject): string | null {
  return isObject(target) && typeof target['name'] === 'string' ? target['name'] : null
}

/** Hash of a row, in hex. */
export function hashOf(previous: string, body: string): string {
  return hash('sha256', `sluice-audit-1\n${previous}\n${body}`)
}

/** An API key is no member; its id and its name say which one it was. */
function actorOf(by: Requester | undefined): Actor {
  const { kind, id, name } = by?.principal ?? {}
  if (kind === undefined) return { type: 'system' }
  return { type: kind === 'member' ? 'member' : 'anonymous', id: id ?? null, name: name ?? null }
}

function named({ id = null, name = null }: Omit<Actor, 'type'>) {
  return { id, name }
}

function cut(text: string): string {
  return text.length > longest ? `${text.slice(0, longest)}…` : text
}
