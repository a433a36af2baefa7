import { sql } from 'kysely'
import type { RawBuilder, SqlBool } from 'kysely'
import type { SqlDialect } from '../../engine/index.ts'
import { words } from './filter.ts'
import type { RequestFilter, Statuses, Word } from './filter.ts'

/** The condition of a filter on rows of `requests`. */
export function conditionOf(filter: RequestFilter, dialect: SqlDialect): RawBuilder<SqlBool> {
  const { since, until, endedSince, words: wanted, withoutWords: unwanted, statuses, withoutStatuses } = filter
  const { anyModel, failed, stream, tags, withoutTags, failedProviders, withoutFailedProviders } = filter
  const { minCost, minDuration, search, ownKeys, routed } = filter
  const parts: RawBuilder<SqlBool>[] = []
  const add = <T>(value: T | undefined, condition: (value: T) => RawBuilder<SqlBool>) => {
    if (value !== undefined) parts.push(condition(value))
  }
  const isElsewhere = dialect === 'sqlite' && !isOfOneKey(filter)
  const indexed = (column: string) => (isElsewhere ? sql.raw(`+${column}`) : sql.ref(column))
  add(since, (at) => sql`at >= ${at}`)
  add(until, (at) => sql`at < ${at}`)
  add(endedSince, (at) => sql`ended >= ${at}`)
  for (const [word, name] of Object.entries(words)) {
    const column = word === 'key' || word === 'pipeline' ? indexed(name) : sql.ref(name)
    add(wanted?.[word as Word], (values) => anyOf(column, values))
    add(unwanted?.[word as Word], (values) => sql`(${column} is null or not ${anyOf(column, values)})`)
  }
  add(ownKeys, (ids) => anyOf(indexed('key_id'), ids))
  add(anyModel, (model) => sql`(requested = ${model} or model = ${model})`)
  add(statuses, hasStatus)
  add(withoutStatuses, (ranges) => sql`not ${hasStatus(ranges)}`)
  add(failed || undefined, () => sql`result <> 'completed'`)
  add(routed || undefined, () => sql`tier is not null`)
  add(stream, (wanted) => sql`stream = ${wanted ? 1 : 0}`)
  add(tags, (pairs) => hasTag(pairs, dialect))
  add(withoutTags, (pairs) => sql`(tags is null or not ${hasTag(pairs, dialect)})`)
  add(failedProviders, (names) => sql`(failed_providers is not null and ${wasFailedBy(names, dialect)})`)
  add(withoutFailedProviders, (names) => sql`(failed_providers is null or not ${wasFailedBy(names, dialect)})`)
  add(minCost, (micros) => sql`cost_micros >= ${micros}`)
  add(minDuration, (milliseconds) => sql`duration >= ${milliseconds}`)
  add(search, (text) => sql`(id = ${text} or reference = ${text})`)
  return parts.length === 0 ? sql`1 = 1` : sql.join(parts, sql` and `)
}

/** Whether an index leads to the rows of a filter at once. */
export function isDirect(filter: RequestFilter): boolean {
  const { search, words: { parent, trace_id: trace } = {} } = filter
  return search !== undefined || parent !== undefined || trace !== undefined || isOfOneKey(filter)
}

/**
 * Whether a filter names a key or a pipeline, and no more than times beside it. SQLite has no statistics of its indexes:
 * it would use the one of keys for every filter that names a key, and read every row of a busy key; the same of
 * pipelines.
 */
function isOfOneKey({ words: { key, pipeline, ...others } = {}, ...filter }: RequestFilter): boolean {
  const { since: _since, until: _until, withoutWords = {}, ...further } = filter
  const rest = [others, withoutWords, further].flatMap(Object.values).filter((value) => value !== undefined)
  const [values, ...more] = [key, pipeline].filter((value) => value !== undefined)
  return values?.length === 1 && more.length === 0 && rest.length === 0
}

function either(conditions: readonly RawBuilder<SqlBool>[]): RawBuilder<SqlBool> {
  return sql`(${sql.join(conditions, sql` or `)})`
}

function anyOf(column: RawBuilder<unknown>, values: readonly string[]): RawBuilder<SqlBool> {
  if (values.length === 0) return sql`1 = 0`
  return values.length === 1 ? sql`${column} = ${values[0]}` : sql`${column} in (${sql.join(values)})`
}

function hasStatus(ranges: readonly Statuses[]): RawBuilder<SqlBool> {
  return either(ranges.map(([low, high]) => sql`status between ${low} and ${high}`))
}

/** In JSON, a quotation mark within a text is escaped, so the text of a member stands nowhere else. */
function hasTag(tags: readonly (readonly [string, string])[], dialect: SqlDialect): RawBuilder<SqlBool> {
  const conditions = tags.map(([name, value]): RawBuilder<SqlBool> =>
    dialect === 'postgres'
      ? sql`tags::jsonb @> ${JSON.stringify({ [name]: value })}::jsonb`
      : sql`instr(tags, ${`${JSON.stringify(name)}:${JSON.stringify(value)}`}) > 0`,
  )
  return either(conditions)
}

/** In JSON, a quotation mark within a text is escaped, so a name between two stands nowhere else. */
function wasFailedBy(names: readonly string[], dialect: SqlDialect): RawBuilder<SqlBool> {
  const conditions = names.map((name): RawBuilder<SqlBool> => {
    const text = JSON.stringify(name)
    return dialect === 'postgres'
      ? sql`position(${text} in failed_providers) > 0`
      : sql`instr(failed_providers, ${text}) > 0`
  })
  return either(conditions)
}
