import { sql } from 'kysely'
import type { RawBuilder } from 'kysely'
import type { TableQueries } from '../../engine/index.ts'
import { Latency, blockOf, bounded, kinds, placeOf, places } from './latency.ts'
import type { Kind } from './latency.ts'
import { DAY, dimensions, grouped, measures } from './sums.ts'
import type { Dimension, Measure } from './sums.ts'
import { partsOf } from './window.ts'
import type { Part } from './window.ts'

/** Which rows are added up, and what for. */
export interface SumsQuestion {
  /** The start of the rows, in milliseconds since 1970; `until` is excluded. */
  readonly since: number
  readonly until: number
  /** Length of the times to tell apart, in milliseconds: that of a minute or a multiple; undefined: none. */
  readonly interval?: number
  /** What else to tell apart. */
  readonly by: readonly Dimension[]
  /** Only rows with one of these values. */
  readonly only: Only
  /** Only rows for which this holds. The sums do not know them, so that all rows of the window are read. */
  readonly where?: RawBuilder<unknown>
  /** Most cells. */
  readonly most: number
}

export type Only = { readonly [D in Dimension]?: readonly string[] }

/** Rows of one time and one group, added up. The requests of a judge count as tokens and money only. */
export interface Cell extends Readonly<Record<Measure, number>> {
  /** Start of its time. Undefined if times are not told apart. */
  readonly at: number | undefined
  /** Undefined: the rows have no such value. */
  readonly group: { readonly [D in Dimension]?: string | undefined }
  readonly latency: Readonly<Record<Kind, Latency>>
}

/** Adds up rows, in the order of time and group. Resolves to undefined if there would be more cells than `most`. */
export async function addedUp(queries: TableQueries, question: SumsQuestion): Promise<Cell[] | undefined> {
  const { most, by, since, until } = question
  if (since >= until) return []
  const { rows } = await sql<Record<string, unknown>>`${measured(question)} limit ${most + 1}`.execute(queries)
  if (rows.length > most) return undefined
  const cells = new Map<string, Cell>()
  for (const row of rows) {
    const numbers = Object.fromEntries(names.map((name) => [name, Number(row[name])])) as Record<Measure, number>
    const latency = { duration: new Latency(), first_byte: new Latency() }
    cells.set(keyOf(row, by), { ...numbers, ...placeIn(row, question), latency })
  }
  const { rows: blocks } = await sql<Record<string, unknown>>`${timed(question)}`.execute(queries)
  for (const row of blocks) {
    const kind = Number(row['kind']) === kinds.duration ? 'duration' : 'first_byte'
    const counts = places.map((name) => Number(row[name]))
    cells.get(keyOf(row, by))?.latency[kind].add(Number(row['block']), counts)
  }
  return [...cells.values()]
}

const names = Object.keys(measures) as Measure[]

/** Measures of requests, which those of a judge are not. */
const ofRequests = /^(requests|completed|client_closed|refused|failed|status_.xx)$/

function measured(question: SumsQuestion): RawBuilder<unknown> {
  const own = sql.raw(names.map((name) => `s.${name}`).join())
  const ofRows = sql.raw(names.map((name) => `${measures[name]} as ${name}`).join())
  const facts = partsOfQuestion(question).map((part) =>
    part.length === undefined
      ? sql`select at, ${textsOfRows}, ${ofRows} from requests where ${rowsOf(part, question)}`
      : sql`select s.at, ${textsOfGroups}, ${own} from requests_sums as s cross join requests_groups as g
          where ${sumsOf(part, question)}`,
  )
  const totals = names.map((name) =>
    ofRequests.test(name)
      ? `sum(case type when 'judge' then 0 else ${name} end) as ${name}`
      : `sum(${name}) as ${name}`,
  )
  return sql`select ${told(question)}, ${sql.raw(totals.join())} from (${all(facts)}) as facts ${ordered(question)}`
}

function timed(question: SumsQuestion): RawBuilder<unknown> {
  const own = sql.raw(places.map((name) => `s.${name}`).join())
  const texts = sql.raw(Object.values(dimensions).join())
  const counted = sql.raw(places.map((name, place) => `case place when ${place} then 1 else 0 end as ${name}`).join())
  const facts = partsOfQuestion(question).map((part) => {
    if (part.length !== undefined)
      return sql`select s.at, ${textsOfGroups}, s.kind, s.block, ${own}
        from requests_latencies as s cross join requests_groups as g
        where ${sumsOf(part, question)} and g.type <> 'judge'`
    const times = Object.entries(kinds).map(
      ([column, kind]) => sql`select at, ${textsOfRows}, ${sql.lit(kind)} as kind, ${sql.raw(bounded(column))} as ms
        from requests where ${rowsOf(part, question)} and type <> 'judge' and ${sql.raw(column)} is not null`,
    )
    return sql`select at, ${texts}, kind, block, ${counted} from (
      select at, ${texts}, kind, block, ${sql.raw(placeOf)} as place from (
        select at, ${texts}, kind, ms, ${sql.raw(blockOf)} as block from (${all(times)}) as times
      ) as blocks
    ) as counted`
  })
  const totals = sql.raw(places.map((name) => `sum(${name}) as ${name}`).join())
  return sql`select ${told(question)}, kind, block, ${totals} from (${all(facts)}) as facts
    ${ordered(question, ['kind', 'block'])}`
}

/** Times that are told apart hold whole sums. */
function partsOfQuestion({ since, until, interval = DAY, where }: SumsQuestion): Part[] {
  return where === undefined ? partsOf(since, until, interval, Date.now()) : [{ since, until }]
}

const textsOfRows = sql.raw(
  Object.values(dimensions)
    .map((column) => `${grouped(column)} as ${column}`)
    .join(),
)
const textsOfGroups = sql.raw(
  Object.values(dimensions)
    .map((column) => `g.${column}`)
    .join(),
)

function all(parts: readonly RawBuilder<unknown>[]): RawBuilder<unknown> {
  return sql.join(parts, sql` union all `)
}

/** `cross join` has SQLite read the sums of the window first, and then their groups. */
function sumsOf({ length, since, until }: Part, { only }: SumsQuestion): RawBuilder<unknown> {
  return sql`g.id = s.group_id and s.grain = ${length} and s.at >= ${since} and s.at < ${until} ${among(only, 'g.')}`
}

function rowsOf({ since, until }: Part, { only, where }: SumsQuestion): RawBuilder<unknown> {
  return sql`at >= ${since} and at < ${until} ${among(only)} ${where ? sql`and (${where})` : sql``}`
}

function among(only: Only, table = ''): RawBuilder<unknown> {
  const conditions = Object.entries(only).map(([name, values]) => {
    const column = sql.raw(`${table}${dimensions[name as Dimension]}`)
    return values.length === 0 ? sql`and 1 = 0` : sql`and ${column} in (${sql.join(values)})`
  })
  return conditions.length === 0 ? sql`` : sql.join(conditions, sql` `)
}

function told({ interval, by }: SumsQuestion): RawBuilder<unknown> {
  const time = interval === undefined ? sql`0` : sql`at - at % ${sql.lit(interval)}`
  return sql.join([sql`${time} as time`, ...by.map((name) => sql.raw(dimensions[name]))])
}

function ordered({ by }: SumsQuestion, more: readonly string[] = []): RawBuilder<unknown> {
  const numbers = sql.raw(Array.from({ length: 1 + by.length + more.length }, (_, index) => index + 1).join())
  return sql`group by ${numbers} order by ${numbers}`
}

function keyOf(row: Record<string, unknown>, by: readonly Dimension[]): string {
  return JSON.stringify([Number(row['time']), ...by.map((name) => row[dimensions[name]])])
}

function placeIn(row: Record<string, unknown>, { interval, by }: SumsQuestion): Pick<Cell, 'at' | 'group'> {
  const group = by.map((name) => [name, (row[dimensions[name]] as string) || undefined])
  return {
    at: interval === undefined ? undefined : Number(row['time']),
    group: Object.fromEntries(group) as Cell['group'],
  }
}
