import { setImmediate } from 'node:timers/promises'
import { sql } from 'kysely'
import type { RawBuilder, SqlBool } from 'kysely'
import type { SqlDialect, TableQueries } from '../../engine/index.ts'
import { conditionOf, isDirect } from './condition.ts'
import type { RequestFilter } from './filter.ts'
import { judgedCondition } from './table.ts'
import type { RequestsTable } from './table.ts'

/** The tables, and the dialect of their database. */
export interface Tables {
  readonly database: TableQueries
  readonly dialect: SqlDialect
}

/** The columns of lists. */
const listed = [
  'id',
  'at',
  'type',
  'key_id',
  'key_name',
  'member_id',
  'member_name',
  'requested',
  'model',
  'provider',
  'protocol',
  'upstream_protocol',
  'stream',
  'status',
  'result',
  'error',
  'attempts',
  'input_tokens',
  'cache_read_tokens',
  'cache_write_tokens',
  'output_tokens',
  'reasoning_tokens',
  'cost_micros',
  'first_byte',
  'duration',
  'reference',
  'parent',
  'tier',
  'tags',
] as const satisfies readonly (keyof RequestsTable)[]

/** A row without the columns that only the details of a request show. */
export type ListedRow = Pick<RequestsTable, (typeof listed)[number]>

/** Which rows of a filter, in the order of their start, and of their ids where it is the same. */
export interface Slice {
  readonly limit: number
  readonly isDescending: boolean
  /** Only rows after this one. */
  readonly after?: Position | undefined
}

type Position = readonly [at: number, id: string]

/**
 * A slice of the rows that match a filter. The index `requests_list` has every column that filters compare, so rows are
 * found without reading others. On SQLite, whose queries block the process, a part of the index is read at a time.
 */
export async function sliceOf(
  { database, dialect }: Tables,
  filter: RequestFilter,
  { limit, isDescending, after }: Slice,
): Promise<ListedRow[]> {
  const ids: string[] = []
  let from = after
  for (let more = true; more;) {
    const to =
      dialect === 'sqlite' && !isDirect(filter) ? await partEnd(database, filter, { isDescending, from }) : undefined
    const query = idsBetween(filter, dialect, { from, to, isDescending, limit: limit - ids.length })
    ids.push(...(await query.execute(database)).rows.map(({ id }) => id))
    more = to !== undefined && ids.length < limit
    from = to
    if (more) await setImmediate()
  }
  if (ids.length === 0) return []
  return database
    .selectFrom('requests')
    .select(listed)
    .where('id', 'in', ids)
    .orderBy('at', isDescending ? 'desc' : 'asc')
    .orderBy('id', isDescending ? 'desc' : 'asc')
    .execute()
}

interface Bounds {
  readonly from: Position | undefined
  readonly to: Position | undefined
  readonly isDescending: boolean
  readonly limit: number
}

/** The query for the ids of rows that match a filter, after one row and up to another one. */
export function idsBetween(
  filter: RequestFilter,
  dialect: SqlDialect,
  { from, to, isDescending, limit }: Bounds,
): RawBuilder<{ id: string }> {
  const order = sql.raw(isDescending ? 'at desc, id desc' : 'at, id')
  return sql`select id from requests where ${conditionOf(filter, dialect)} and ${between(from, to, isDescending)}
    order by ${order} limit ${limit}`
}

/** Rows of the index that are read at a time: about two milliseconds. */
const part = 20_000

/** The last row of the next part of the index; undefined: the rest is less. */
async function partEnd(
  database: TableQueries,
  { since, until }: RequestFilter,
  { isDescending, from }: { readonly isDescending: boolean; readonly from: Position | undefined },
): Promise<Position | undefined> {
  const times = conditionOf({ since, until }, 'sqlite')
  const found = await sql<{ at: number; id: string }>`select at, id from requests
    where ${times} and ${between(from, undefined, isDescending)}
    order by ${sql.raw(isDescending ? 'at desc, id desc' : 'at, id')} limit 1 offset ${part - 1}`.execute(database)
  const [row] = found.rows
  return row && [row.at, row.id]
}

/** Rows after one and up to another one. */
function between(from: Position | undefined, to: Position | undefined, isDescending: boolean): RawBuilder<SqlBool> {
  const after = isDescending ? '<' : '>'
  const upTo = isDescending ? '>=' : '<='
  const bounds = [
    ...(from ? [sql<SqlBool>`(at, id) ${sql.raw(after)} (${from[0]}, ${from[1]})`] : []),
    ...(to ? [sql<SqlBool>`(at, id) ${sql.raw(upTo)} (${to[0]}, ${to[1]})`] : []),
  ]
  return bounds.length === 0 ? sql`1 = 1` : sql.join(bounds, sql` and `)
}

/** The latest rows that match a filter, at most `limit`, newest first. */
export async function latestRequests(
  { database, dialect }: Tables,
  filter: RequestFilter,
  limit: number,
): Promise<RequestsTable[]> {
  return database
    .selectFrom('requests')
    .selectAll()
    .where(conditionOf(filter, dialect))
    .orderBy('at', 'desc')
    .orderBy('id', 'desc')
    .limit(limit)
    .execute()
}

/** The rows of the exchanges that are parts of another one, oldest first. */
export function partsOf({ database }: Tables, id: string): Promise<RequestsTable[]> {
  return database.selectFrom('requests').selectAll().where('parent', '=', id).orderBy('at').orderBy('id').execute()
}

/** The row of an exchange, by its id. */
export async function rowOf({ database }: Tables, id: string): Promise<RequestsTable | undefined> {
  // PostgreSQL rejects it in texts.
  if (id.includes('\0')) return undefined
  return database.selectFrom('requests').selectAll().where('id', '=', id).executeTakeFirst()
}

/** The rows of some exchanges, in no order. */
export async function wholeRows({ database }: Tables, ids: readonly string[]): Promise<RequestsTable[]> {
  return ids.length === 0 ? [] : database.selectFrom('requests').selectAll().where('id', 'in', ids).execute()
}

/** Which rows of requests that a judge was asked about, in the order of their start and their ids. */
export interface JudgedSlice {
  readonly limit: number
  /** Only rows after this one. */
  readonly after: Position
}

/** Selects a slice of the rows that a judge was asked about, found by the index `requests_judged`. */
export function judgedOf({ database, dialect }: Tables, { limit, after }: JudgedSlice) {
  return database
    .selectFrom('requests')
    .selectAll()
    .where(sql.raw<SqlBool>(judgedCondition(dialect)))
    .where(between(after, undefined, false))
    .orderBy('at')
    .orderBy('id')
    .limit(limit)
}

/** The row of an exchange, by its id, otherwise by the client's request id; the newest of several. */
export async function requestOf(tables: Tables, id: string): Promise<RequestsTable | undefined> {
  const found = await rowOf(tables, id)
  if (found) return found
  const rows = tables.database.selectFrom('requests').selectAll()
  return rows.where('reference', '=', id).orderBy('at', 'desc').limit(1).executeTakeFirst()
}

/** A row, and when its exchange ended. */
export interface Found {
  readonly id: string
  readonly ended: number
}

/** Most rows of one look for new ones. */
const mostNew = 20_000

/** The rows of the exchanges that have ended since, in the order of their ends. */
export async function endedSince({ database }: Tables, since: number): Promise<Found[]> {
  const { rows } = await sql<Found>`select id, ended from requests where ended >= ${since}
    order by ended desc, id desc limit ${mostNew}`.execute(database)
  return rows.toReversed()
}

/** The rows of some ids that match a filter, in the order of the ids. */
export async function rowsOf(
  { database, dialect }: Tables,
  ids: readonly string[],
  filter: RequestFilter,
): Promise<ListedRow[]> {
  const condition = conditionOf(filter, dialect)
  const rows = await database.selectFrom('requests').select(listed).where('id', 'in', ids).where(condition).execute()
  const byId = new Map(rows.map((row) => [row.id, row]))
  return ids.flatMap((id) => byId.get(id) ?? [])
}

/**
 * The latest rows that match a filter and have ended after the exchange of another row, at most `limit`, in the order of
 * their ends; `more` is how many there are besides. Undefined: there is no such row.
 */
export async function rowsSince(
  tables: Tables,
  id: string,
  filter: RequestFilter,
  limit: number,
): Promise<{ readonly rows: readonly ListedRow[]; readonly more: number } | undefined> {
  const { database, dialect } = tables
  const last = await rowOf(tables, id)
  if (last === undefined || last.ended === null) return undefined
  const later = sql`(ended, id) > (${last.ended}, ${id}) and ${conditionOf(filter, dialect)}`
  const { rows } = await sql<{ id: string }>`select id from requests where ${later}
    order by ended desc, id desc limit ${limit}`.execute(database)
  const ids = rows.map((row) => row.id).toReversed()
  const counted = await sql<{ all: number | string }>`select count(*) as "all" from requests where ${later}`.execute(
    database,
  )
  const all = Number(counted.rows[0]?.all ?? 0)
  return { rows: ids.length === 0 ? [] : await rowsOf(tables, ids, {}), more: Math.max(0, all - ids.length) }
}
