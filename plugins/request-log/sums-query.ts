import { setImmediate } from 'node:timers/promises'
import { sql } from 'kysely'
import type { RawBuilder } from 'kysely'
import type { SqlDialect, TableQueries } from '../../engine/index.ts'
import { conditionOf, isDirect } from './condition.ts'
import type { RequestFilter } from './filter.ts'
import { Latency, blockOf, bounded, kinds, placeOf, places } from './latency.ts'
import type { Kind } from './latency.ts'
import { DAY, dimensions, grains, grouped, measures, nothing, tagIn } from './sums.ts'
import type { Dimension, Grouping, Measure, Sum } from './sums.ts'

/** Which rows are added up, and what is told apart. */
export interface SumsQuestion {
  readonly filter: RequestFilter & { readonly since: number; readonly until: number }
  /** Length of the times to tell apart, in milliseconds: a minute or a multiple of one; undefined: none. */
  readonly interval?: number | undefined
  readonly by: readonly Grouping[]
  /** Most cells. */
  readonly most: number
  /** Leaves the latencies out. */
  readonly untimed?: boolean
}

/** Rows of one time and one group, added up. What a judge did counts as tokens and cost only. */
export interface Cell {
  /** Start of its time; undefined: times are not told apart. */
  readonly at: number | undefined
  /** An empty text: the rows have no such value. */
  readonly group: { readonly [G in Grouping]?: string }
  readonly sum: Readonly<Sum>
  readonly latency: Readonly<Record<Kind, Latency>>
}

/** Adds up rows, in the order of time and group. Resolves to undefined if there are more cells than `most`. */
export async function addedUp(
  { database, dialect }: { readonly database: TableQueries; readonly dialect: SqlDialect },
  question: SumsQuestion,
): Promise<Cell[] | undefined> {
  const { by, most, interval, untimed } = question
  const cells = new Map<string, OpenCell>()
  const cellOf = (row: Row): OpenCell => {
    const texts = columnsOf(by).map((column) => String(row[column]))
    const at = interval === undefined ? undefined : Number(row['time'])
    const key = JSON.stringify([at, ...texts])
    const known = cells.get(key)
    if (known) return known
    const group = Object.fromEntries(by.map((name, index) => [name, texts[index]])) as Cell['group']
    const made = { at, group, sum: { ...nothing }, latency: { duration: new Latency(), first_byte: new Latency() } }
    cells.set(key, made)
    return made
  }
  for await (const part of allParts(database, dialect, question)) {
    const measured = await measuredIn(part, dialect, question).execute(database)
    for (const row of measured.rows) {
      const { sum } = cellOf(row)
      for (const name of names) sum[name] += Number(row[name])
    }
    if (cells.size > most) return undefined
    if (untimed) continue
    const timed = await timedIn(part, dialect, question).execute(database)
    for (const row of timed.rows) {
      const kind = Number(row['kind']) === kinds.duration ? 'duration' : 'first_byte'
      const counts = places.map((name) => Number(row[name]))
      cellOf(row).latency[kind].add(Number(row['block']), counts)
    }
  }
  return [...cells.values()].toSorted((one, other) => compare(one, other, by))
}

type OpenCell = Cell & { readonly sum: Sum }
type Row = Readonly<Record<string, unknown>>

const names = Object.keys(measures) as Measure[]

/** The column of each group in a query. */
function columnsOf(by: readonly Grouping[]): readonly string[] {
  return by.map((name, index) => (isTag(name) ? `tag_${index}` : dimensions[name]))
}

function isTag(name: Grouping): name is Exclude<Grouping, Dimension> {
  return !(name in dimensions)
}

function compare(one: Cell, other: Cell, by: readonly Grouping[]): number {
  const time = (one.at ?? 0) - (other.at ?? 0)
  const name = time === 0 ? by.find((word) => one.group[word] !== other.group[word]) : undefined
  if (name === undefined) return time
  return (one.group[name] as string) < (other.group[name] as string) ? -1 : 1
}

/** Whether sums know the groups of a question, and the words of its filter. */
function isSummed({ filter: whole, by }: SumsQuestion): boolean {
  if (by.some(isTag)) return false
  const { since: _since, until: _until, ownKeys: _ownKeys, ...filter }: RequestFilter = whole
  const { words = {}, withoutWords = {}, ...others } = filter
  const unknown = [words, withoutWords].flatMap(Object.entries).filter(([word]) => !(word in dimensions))
  return [...unknown.map(([, values]) => values), ...Object.values(others)].every((value) => value === undefined)
}

/** Rows that are read at a time on SQLite, whose queries block the process: about 20 milliseconds. */
const step = 10_000

/** The parts of a question's window. What sums do not know is answered from the rows alone. */
async function* allParts(database: TableQueries, dialect: SqlDialect, question: SumsQuestion): AsyncGenerator<Part> {
  const { filter, interval = DAY } = question
  const { since, until } = filter
  const parts = isSummed(question) ? partsOf(since, until, interval, Date.now()) : [{ since, until }]
  for (const part of parts) {
    if (dialect !== 'sqlite') yield part
    else if (part.length === undefined) yield* stepsOf(database, part)
    else yield* timesIn(part.length, part)
  }
}

/** Milliseconds that sums may be read at a time on SQLite. */
const budget = 40

/** As many sums at a time as the last ones let expect, at least those of one minute, hour or day. */
async function* timesIn(length: number, { since, until }: Part): AsyncGenerator<Part> {
  let count = 1
  for (let from = since; from < until;) {
    const to = Math.min(from + count * length, until)
    const began = performance.now()
    yield { length, since: from, until: to }
    const spent = performance.now() - began
    count = Math.max(1, Math.min(4 * count, Math.floor((count * budget) / spent)))
    from = to
    await setImmediate()
  }
}

async function* stepsOf(database: TableQueries, { since, until }: Part): AsyncGenerator<Part> {
  for (let from = since; from < until;) {
    const rows = database.selectFrom('requests').select('at').where('at', '>=', from).where('at', '<', until)
    const next = await rows.orderBy('at').limit(1).offset(step).executeTakeFirst()
    const to = next ? Math.max(next.at, from + 1) : until
    yield { since: from, until: to }
    from = to
    await setImmediate()
  }
}

/** Measures of requests, which what a judge did is none of. */
const ofRequests = /^(requests|completed|client_closed|refused|failed|status_.xx)$/

function measuredIn(part: Part, dialect: SqlDialect, question: SumsQuestion): RawBuilder<Row> {
  const totals = names.map((name) =>
    ofRequests.test(name)
      ? `sum(case type when 'judge' then 0 else ${name} end) as ${name}`
      : `sum(${name}) as ${name}`,
  )
  const own = sql.raw(names.map((name) => `s.${name}`).join())
  const ofRows = sql.raw(names.map((name) => `${measures[name]} as ${name}`).join())
  const facts =
    part.length === undefined
      ? sql`select at, ${textsOfRows(question, dialect)}, ${ofRows} from ${rowsOf(part, dialect, question)}`
      : sql`select s.at, ${textsOfGroups}, ${own} from requests_sums as s cross join requests_groups as g
          where ${sumsOf(part, question)}`
  return sql<Row>`select ${toldApart(question)}, ${sql.raw(totals.join())} from (${facts}) as facts
    ${inGroups(question)} limit ${question.most + 1}`
}

function timedIn(part: Part, dialect: SqlDialect, question: SumsQuestion): RawBuilder<Row> {
  const own = sql.raw(places.map((name) => `s.${name}`).join())
  const facts =
    part.length === undefined
      ? timesOf(rowsOf(part, dialect, question), question, dialect)
      : sql`select s.at, ${textsOfGroups}, s.kind, s.block, ${own}
          from requests_latencies as s cross join requests_groups as g
          where ${sumsOf(part, question)} and g.type <> 'judge'`
  const totals = sql.raw(places.map((name) => `sum(${name}) as ${name}`).join())
  return sql<Row>`select ${toldApart(question)}, kind, block, ${totals} from (${facts}) as facts
    ${inGroups(question, ['kind', 'block'])}`
}

/** The latencies of rows, one by one. */
function timesOf(rows: RawBuilder<unknown>, question: SumsQuestion, dialect: SqlDialect): RawBuilder<unknown> {
  const tags = columnsOf(question.by).filter((_, index) => isTag(question.by[index] as Grouping))
  const texts = sql.raw([...Object.values(dimensions), ...tags].join())
  const counted = sql.raw(places.map((name, place) => `case place when ${place} then 1 else 0 end as ${name}`).join())
  const times = Object.entries(kinds).map(
    ([
      column,
      kind,
    ]) => sql`select at, ${textsOfRows(question, dialect)}, ${sql.lit(kind)} as kind, ${sql.raw(bounded(column))} as ms
      from ${rows} and type <> 'judge' and ${sql.raw(column)} is not null`,
  )
  return sql`select at, ${texts}, kind, block, ${counted} from (
    select at, ${texts}, kind, block, ${sql.raw(placeOf)} as place from (
      select at, ${texts}, kind, ms, ${sql.raw(blockOf)} as block
      from (${sql.join(times, sql` union all `)}) as times
    ) as blocks
  ) as counted`
}

function textsOfRows({ by }: SumsQuestion, dialect: SqlDialect): RawBuilder<unknown> {
  const columns = columnsOf(by)
  const tags = by.flatMap((name, index) =>
    isTag(name) ? sql`${tagOfRow(tagIn(name) ?? '', dialect)} as ${sql.raw(columns[index] as string)}` : [],
  )
  const own = Object.values(dimensions).map((column) => sql.raw(`${grouped(column)} as ${column}`))
  return sql.join([...own, ...tags])
}

/** The value of a tag; an empty text: the row has no such tag. */
function tagOfRow(name: string, dialect: SqlDialect): RawBuilder<unknown> {
  return dialect === 'postgres'
    ? sql`coalesce(tags::jsonb ->> ${name}::text, '')`
    : sql`coalesce((select value from json_each(tags) where json_valid(tags) and key = ${name}), '')`
}

const textsOfGroups = sql.raw(
  Object.values(dimensions)
    .map((column) => `g.${column}`)
    .join(),
)

/**
 * The table and the condition of rows. SQLite would find them by their times alone, and read each of them for the rest
 * of the condition, so it is told of the index that has all columns of filters.
 */
function rowsOf({ since, until }: Part, dialect: SqlDialect, { filter }: SumsQuestion): RawBuilder<unknown> {
  const isElsewhere = isDirect(filter) || filter.failedProviders !== undefined
  const index = dialect === 'sqlite' && !isElsewhere ? sql`indexed by requests_list` : sql``
  return sql`requests ${index} where ${conditionOf({ ...filter, since, until }, dialect)}`
}

/** `cross join` has SQLite read the sums of the window first, and then their groups. */
function sumsOf({ length, since, until }: Part, { filter, by }: SumsQuestion): RawBuilder<unknown> {
  const { words = {}, withoutWords: without = {}, ownKeys } = filter
  const conditions: RawBuilder<unknown>[] = []
  const add = (name: Dimension, values: readonly string[] | undefined, isWanted: boolean) => {
    const among = values?.length === 0 ? sql`1 = 0` : sql`g.${sql.raw(dimensions[name])} in (${sql.join(values ?? [])})`
    if (values) conditions.push(isWanted ? among : sql`not ${among}`)
  }
  for (const name of Object.keys(dimensions) as Dimension[]) {
    add(name, words[name], true)
    // No row has an empty text there, and groups have one for no value.
    add(
      name,
      without[name]?.filter((value) => value !== ''),
      false,
    )
  }
  add('key', ownKeys, true)
  const asked = [words.key, words.member, without.key, without.member, ownKeys]
  const ofKeys = by.includes('key') || by.includes('member') || asked.some(Array.isArray)
  const whole = sql.lit(ofKeys ? 0 : 1)
  const times = sql`g.id = s.group_id and s.whole = ${whole} and s.grain = ${length} and s.at >= ${since} and s.at < ${until}`
  return sql.join([times, ...conditions], sql` and `)
}

function toldApart({ interval, by }: SumsQuestion): RawBuilder<unknown> {
  const time = interval === undefined ? sql`0` : sql`at - at % ${sql.lit(interval)}`
  return sql.join([sql`${time} as time`, ...columnsOf(by).map((column) => sql.raw(column))])
}

function inGroups({ by }: SumsQuestion, more: readonly string[] = []): RawBuilder<unknown> {
  return sql`group by ${sql.raw(Array.from({ length: 1 + by.length + more.length }, (_, index) => index + 1).join())}`
}

/** The last known names of keys or members. */
export async function namesOf(
  { database }: { readonly database: TableQueries },
  kind: 'key' | 'member',
  ids: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  if (ids.length === 0) return new Map()
  const rows = await database
    .selectFrom('requests_names')
    .select(['id', 'name'])
    .where('kind', '=', kind)
    .where('id', 'in', ids)
    .execute()
  return new Map(rows.map(({ id, name }) => [id, name]))
}

/** A part of a window, and the length of the sums that have its rows; no length: the rows themselves. */
interface Part {
  readonly length?: number
  readonly since: number
  readonly until: number
}

/**
 * The parts of a window, each in the longest sums that fit into it and whose length is at most `longest`. Where the
 * shortest sums are no longer kept, the rows may be. Times in milliseconds, `until` is excluded.
 */
function partsOf(since: number, until: number, longest: number, now: number, left = [...grains]): Part[] {
  if (since >= until) return []
  const [grain, ...shorter] = left
  if (grain === undefined) return [{ since, until }]
  const { length, kept } = grain
  const first = Math.ceil(since / length) * length
  const last = Math.floor(until / length) * length
  const isGone = shorter.length === 0 && first < now - kept
  const usable = length <= longest && first < last && !isGone
  const within = (from: number, to: number) => partsOf(from, to, longest, now, shorter)
  if (!usable) return within(since, until)
  return [...within(since, first), { length, since: first, until: last }, ...within(last, until)]
}
