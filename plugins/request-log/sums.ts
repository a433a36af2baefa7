import { blockOf, bounded, kinds, placeOf, places } from './latency.ts'

/** What rows are grouped by, and the column that has it. */
export const dimensions = {
  key: 'key_id',
  member: 'member_id',
  model: 'model',
  provider: 'provider',
  protocol: 'protocol',
  type: 'type',
} as const

export type Dimension = keyof typeof dimensions

/** What rows are told apart by: a dimension, or a tag of their API key. No sum knows tags. */
export type Grouping = Dimension | `tag:${string}`

/** The name of the tag in a grouping; undefined: it is a dimension. */
export function tagIn(grouping: string): string | undefined {
  return /^tag:([a-z0-9_.-]{1,64})$/.exec(grouping)?.[1]
}

export const MINUTE = 60_000
export const HOUR = 60 * MINUTE
export const DAY = 24 * HOUR

/** Lengths of the times whose rows are added up, in milliseconds, and how long the sums are kept. */
export const grains = [
  { length: DAY, kept: 400 * DAY },
  { length: HOUR, kept: 400 * DAY },
  // They are many, and asked for in short windows alone.
  { length: MINUTE, kept: 8 * DAY },
] as const

/** What a row adds to its sum, in SQL over the columns of `requests`: exchanges, tokens, micro-USD. */
export const measures = {
  requests: '1',
  completed: ofResult('completed'),
  client_closed: ofResult('client_closed'),
  refused: ofResult('refused'),
  failed: ofResult('failed'),
  status_1xx: ofStatus(1),
  status_2xx: ofStatus(2),
  status_3xx: ofStatus(3),
  status_4xx: ofStatus(4),
  status_5xx: ofStatus(5),
  unknown_cost: 'case when cost_micros is null then 1 else 0 end',
  cost_micros: 'coalesce(cost_micros, 0)',
  with_savings: 'case when savings_micros is null then 0 else 1 end',
  savings_micros: 'coalesce(savings_micros, 0)',
  input_tokens: 'coalesce(input_tokens, 0)',
  cache_read_tokens: 'coalesce(cache_read_tokens, 0)',
  cache_write_tokens: 'coalesce(cache_write_tokens, 0)',
  output_tokens: 'coalesce(output_tokens, 0)',
  reasoning_tokens: 'coalesce(reasoning_tokens, 0)',
} as const

export type Measure = keyof typeof measures

/** Rows added up. */
export type Sum = Record<Measure, number>

/** The sum of no rows. */
export const nothing = Object.fromEntries(Object.keys(measures).map((name) => [name, 0])) as Readonly<Sum>

function ofResult(result: string): string {
  return `case when result = '${result}' then 1 else 0 end`
}

function ofStatus(hundreds: number): string {
  return `case when status >= ${hundreds}00 and status < ${hundreds + 1}00 then 1 else 0 end`
}

/** The column of a row as groups have it: they are unique, so a missing value is an empty text. */
export function grouped(column: string): string {
  return `coalesce(${column}, '')`
}

/** In place of the key and the member in a group of all keys: what asks for neither reads few sums, however many keys. */
export const everyKey = '*'

const texts = Object.values(dimensions)
const own = texts.map((column) => grouped(`added.${column}`))
const whole = texts.map((column, index) =>
  /^(key|member)_id$/.test(column) ? `'${everyKey}'` : (own[index] as string),
)
const same = (values: readonly string[]) => texts.map((column, index) => `g.${column} = ${values[index]}`).join(' and ')
const withGroup = `added join requests_groups as g on ${same(own)}`

const wholeGroups = `
  insert into requests_groups (${texts.join()})
  select distinct ${whole.join()} from added
  where not exists (select 1 from requests_groups as g where ${same(whole)})
  order by ${texts.map((_, index) => index + 1).join()}
  on conflict do nothing`

const groups = `
  insert into requests_groups (${texts.join()}, whole_id)
  select distinct ${own.join()}, (select g.id from requests_groups as g where ${same(whole)}) from added
  where not exists (select 1 from requests_groups as g where ${same(own)})
  order by ${texts.map((_, index) => index + 1).join()}
  on conflict do nothing`

/** Most rows repeat a name that is known, so that nothing is written. */
const names = `
  insert into requests_names (kind, id, name)
  select kind, id, max(name) from (
    select 'key' as kind, key_id as id, key_name as name from added
    union all select 'member', member_id, member_name from added
  ) as named
  where id is not null and name is not null and not exists (
    select 1 from requests_names as n where n.kind = named.kind and n.id = named.id and n.name = named.name
  )
  group by kind, id order by kind, id
  on conflict (kind, id) do update set name = excluded.name`

const minute = `added.at - added.at % ${MINUTE} as at`
const everyGrain = `(${grains.map(({ length }) => `select ${length} as grain, 0 as whole union all select ${length}, 1`).join(' union all ')}) as grains`
const start = 'minutes.at - minutes.at % grain'
const group = 'case whole when 1 then whole_id else group_id end'

const measured = Object.keys(measures)

/** Rows are added up to minutes, and minutes to all grains: most of the work is done once. */
const sums = `
 insert into requests_sums (whole, grain, at, group_id, ${measured.join()})
  select whole, grain, ${start}, ${group}, ${measured.map((name) => `sum(${name})`).join()}
  from (
    select ${minute}, g.id as group_id, g.whole_id, ${Object.entries(measures)
      .map(([name, value]) => `sum(${value}) as ${name}`)
      .join()}
    from ${withGroup} group by 1, 2, 3
  ) as minutes cross join ${everyGrain}
  group by 1, 2, 3, 4 order by 1, 2, 3, 4
  on conflict (whole, grain, at, group_id) do update set ${adding('requests_sums', measured)}`

const timed = Object.entries(kinds).map(
  ([column, kind]) =>
    `select ${minute}, g.id as group_id, g.whole_id, ${kind} as kind, ${bounded(column)} as ms from ${withGroup} where ${column} is not null`,
)
const latencies = `
  insert into requests_latencies (whole, grain, at, group_id, kind, block, ${places.join()})
  select whole, grain, ${start}, ${group}, kind, block,
    ${places.map((_, place) => `sum(case place when ${place} then times else 0 end)`).join()}
  from (
    select at, group_id, whole_id, kind, block, ${placeOf} as place, count(*) as times
    from (select at, group_id, whole_id, kind, ms, ${blockOf} as block from (${timed.join(' union all ')}) as timed) as blocks
    group by 1, 2, 3, 4, 5, 6
  ) as minutes cross join ${everyGrain}
  group by 1, 2, 3, 4, 5, 6 order by 1, 2, 3, 4, 5, 6
  on conflict (whole, grain, at, group_id, kind, block) do update set ${adding('requests_latencies', places)}`

function adding(table: string, columns: readonly string[]): string {
  return columns.map((column) => `${column} = ${table}.${column} + excluded.${column}`).join()
}

/**
 * Statements that add up the rows of the table `added`, which has the columns of `requests`. All of them lock in one
 * order, and so do processes that run them at the same time.
 */
export const addUp = [wholeGroups, groups, names, sums, latencies]

/** Statements that delete the sums that are no longer kept. */
export function expired(now: number): string[] {
  return ['requests_sums', 'requests_latencies'].flatMap((table) =>
    grains.map(
      ({ length, kept }) => `delete from ${table} where whole in (0, 1) and grain = ${length} and at < ${now - kept}`,
    ),
  )
}
