import type { Expression, ExpressionBuilder, SqlBool } from 'kysely'
import type { JsonObject, TableQueries, Tables } from '../../engine/index.ts'
import { isObject, parsedObject } from '../../engine/kit.ts'
import type { AuditTable } from './table.ts'

/** Values of rows. An absent field matches every row; a list matches any of its values. */
export interface AuditValues {
  /** Ids of actors. */
  readonly actors?: readonly string[] | undefined
  readonly actions?: readonly string[] | undefined
  /** Ids or names of targets. */
  readonly targets?: readonly string[] | undefined
  readonly outcomes?: readonly string[] | undefined
}

/** A filter for rows. */
export interface AuditFilter {
  /** Earliest time, inclusive, and latest time, exclusive; milliseconds since 1970. */
  readonly since?: number | undefined
  readonly until?: number | undefined
  readonly wanted?: AuditValues
  /** None of their values may stand in a row. */
  readonly unwanted?: AuditValues
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
  { since, until, wanted = {}, unwanted = {}, sequence }: AuditFilter,
  { isDescending, after, limit }: AuditPage,
): Promise<AuditTable[]> {
  let rows = database.selectFrom('audit').selectAll()
  if (since !== undefined) rows = rows.where('at', '>=', since)
  if (until !== undefined) rows = rows.where('at', '<', until)
  if (sequence !== undefined) rows = rows.where('sequence', '=', sequence)
  rows = rows.where((row) => row.and([...anyOf(row, wanted), ...noneOf(row, unwanted)]))
  if (after !== undefined) rows = rows.where('sequence', isDescending ? '<' : '>', after)
  return rows
    .orderBy('sequence', isDescending ? 'desc' : 'asc')
    .limit(limit)
    .execute()
}

type Row = ExpressionBuilder<Tables, 'audit'>

/** The rows about targets of some names. */
const named = (row: Row, names: readonly string[]) =>
  row.selectFrom('audit_marks').select('sequence').where('target_name', 'in', names)

function anyOf(row: Row, { actors, actions, targets, outcomes }: AuditValues): Expression<SqlBool>[] {
  return [
    ...(actors ? [row('actor_id', 'in', actors)] : []),
    ...(actions ? [row('action', 'in', actions)] : []),
    ...(outcomes ? [row('outcome', 'in', outcomes)] : []),
    ...(targets ? [row.or([row('target_id', 'in', targets), row('sequence', 'in', named(row, targets))])] : []),
  ]
}

function noneOf(row: Row, { actors, actions, targets, outcomes }: AuditValues): Expression<SqlBool>[] {
  const without = (column: 'actor_id' | 'target_id', values: readonly string[]) =>
    row.or([row(column, 'is', null), row(column, 'not in', values)])
  return [
    ...(actors ? [without('actor_id', actors)] : []),
    ...(actions ? [row('action', 'not in', actions)] : []),
    ...(outcomes ? [row('outcome', 'not in', outcomes)] : []),
    ...(targets ? [without('target_id', targets), row('sequence', 'not in', named(row, targets))] : []),
  ]
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
