import type { JsonObject, TableQueries } from '../../engine/index.ts'
import { isObject, parsedObject } from '../../engine/kit.ts'
import type { AuditTable } from './table.ts'

/** A filter for rows. An absent field matches every row; a list matches any of its values. */
export interface AuditFilter {
  /** Earliest time, inclusive, and latest time, exclusive; milliseconds since 1970. */
  readonly since?: number | undefined
  readonly until?: number | undefined
  /** Ids of actors. */
  readonly actors?: readonly string[] | undefined
  readonly actions?: readonly string[] | undefined
  /** Ids or names of targets. */
  readonly targets?: readonly string[] | undefined
  readonly outcomes?: readonly string[] | undefined
  /** The one row of this number. */
  readonly sequence?: number | undefined
}

/** Which of the matching rows are wanted. */
export interface AuditPage {
  readonly isDescending: boolean
  /** Only rows beyond this sequence, in the order of the page. */
  readonly after?: number | undefined
  readonly limit: number
}

/** The rows that match a filter, in the order of their sequence. */
export function findRows(
  database: TableQueries,
  { since, until, actors, actions, targets, outcomes, sequence }: AuditFilter,
  { isDescending, after, limit }: AuditPage,
): Promise<AuditTable[]> {
  let rows = database.selectFrom('audit').selectAll()
  if (since !== undefined) rows = rows.where('at', '>=', since)
  if (until !== undefined) rows = rows.where('at', '<', until)
  if (actors) rows = rows.where('actor_id', 'in', actors)
  if (actions) rows = rows.where('action', 'in', actions)
  if (outcomes) rows = rows.where('outcome', 'in', outcomes)
  if (sequence !== undefined) rows = rows.where('sequence', '=', sequence)
  if (targets) {
    const named = database.selectFrom('audit_marks').select('sequence').where('target_name', 'in', targets)
    rows = rows.where((row) => row.or([row('target_id', 'in', targets), row('sequence', 'in', named)]))
  }
  if (after !== undefined) rows = rows.where('sequence', isDescending ? '<' : '>', after)
  return rows
    .orderBy('sequence', isDescending ? 'desc' : 'asc')
    .limit(limit)
    .execute()
}

/** The details of the latest row of an action. */
export async function latestDetails(database: TableQueries, action: string): Promise<JsonObject | undefined> {
  const rows = database.selectFrom('audit').select('body').where('action', '=', action)
  const row = await rows.orderBy('sequence', 'desc').limit(1).executeTakeFirst()
  const details = row && parsedObject(row.body)?.['details']
  return isObject(details) ? details : undefined
}

/** A row for clients: its body, and the hashes that link it. Of a damaged body, only columns are shown. */
export function shownRow({ body, previous, hash, sequence, action, outcome }: AuditTable): JsonObject {
  return { ...(parsedObject(body) ?? { sequence, action, outcome }), previous, hash }
}
