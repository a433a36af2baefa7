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
  'trace_id',
  'guarded',
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
 * found without reading others. On SQLite, whose queries block the process, a part of the index is read at a time: all
 * rows of some milliseconds.
 */
export async function sliceOf(
  { database, dialect }: Tables,
  filter: RequestFilter,
  { limit, isDescending, after }: Slice,
): Promise<ListedRow[]> {
  const ids: string[] = []
  const inParts = dialect === 'sqlite' && !isDirect(filter)
  let cursor = after
  for (let rest: RequestFilter | undefined = upTo(filter, after, isDescending); rest;) {
    const ends: readonly { readonly at: number }[] = inParts
      ? (await partEnd(rest, isDescending).execute(database)).rows
      : []
    const [part, others]: readonly [RequestFilter, RequestFilter?] = ends[0]
      ? splitAt(rest, ends[0].at, isDescending)
      : [rest]
    const query = idsBetween(part, dialect, { after: cursor, isDescending, limit: limit - ids.length })
    ids.push(...(await query.execute(database)).rows.map(({ id }) => id))
    cursor = undefined
    rest = ids.length < limit ? others : undefined
    if (rest) await setImmediate()
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

/** The query for the ids of the rows of a slice. */
export function idsBetween(
  filter: RequestFilter,
  dialect: SqlDialect,
  { after, isDescending, limit }: Slice,
): RawBuilder<{ id: string }> {
  const order = sql.raw(isDescending ? 'at desc, id desc' : 'at, id')
  return sql`select id from requests where ${conditionOf(filter, dialect)} and ${beyond(after, isDescending)}
    order by ${order} limit ${limit}`
}

/** A filter without the times of a slice that was read before. SQLite begins to read at one of its conditions alone. */
function upTo(filter: RequestFilter, after: Position | undefined, isDescending: boolean): RequestFilter {
  if (after === undefined) return filter
  const { since = -Infinity, until = Infinity } = filter
  return isDescending
    ? { ...filter, until: Math.min(until, after[0] + 1) }
    : { ...filter, since: Math.max(since, after[0]) }
}

/** Rows of the index that are read at a time: about two milliseconds. */
const part = 20_000

/**
 * The query for when the last row of the next part began; no row: the rest is less. The index of the times alone tells
 * it, which is a tenth as large as that of the filters.
 */
export function partEnd({ since, until }: RequestFilter, isDescending: boolean): RawBuilder<{ at: number }> {
  return sql`select at from requests indexed by requests_at where ${conditionOf({ since, until }, 'sqlite')}
    order by at ${sql.raw(isDescending ? 'desc' : 'asc')} limit 1 offset ${part - 1}`
}

/** The rows of a filter up to a time, with all that began then, and those beyond it. */
function splitAt(filter: RequestFilter, at: number, isDescending: boolean): readonly [RequestFilter, RequestFilter] {
  return isDescending
    ? [
        { ...filter, since: at },
        { ...filter, until: at },
      ]
    : [
        { ...filter, until: at + 1 },
        { ...filter, since: at + 1 },
      ]
}

/** Rows after another one. */
function beyond(row: Position | undefined, isDescending: boolean): RawBuilder<SqlBool> {
  return row ? sql`(at, id) ${sql.raw(isDescending ? '<' : '>')} (${row[0]}, ${row[1]})` : sql`1 = 1`
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
    .where(beyond(after, false))
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
