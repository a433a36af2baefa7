import { hash } from 'node:crypto'
import { parsedJson } from '../json/parse.ts'
import { GatewayError } from '../spec/error.ts'
import type { Json } from '../spec/json.ts'
import { momentIn } from '../spec/moment.ts'

/**
 * What a query parameter accepts: any text, `true` or `false`, a number, a date and time with offset, or one of some
 * words. Numbers and times may stand once; the others may be repeated, which means any of them.
 */
export type QueryField = 'text' | 'boolean' | 'number' | 'time' | readonly string[]

export type QueryFields = Readonly<Record<string, QueryField>>

/** The parameter that leaves the values of a field out. */
export const negation = (name: string): string => `not_${name}`

/** Fields that leave out what others ask for: `not_model` for `model`. Repeated, none of their values is wanted. */
export function negated(fields: QueryFields): QueryFields {
  return Object.fromEntries(Object.entries(fields).map(([name, field]) => [negation(name), field]))
}

/** The checked parameters of a query. */
export interface Query {
  /** The values of a parameter; undefined if it was not sent. */
  values(name: string): readonly string[] | undefined
  /** The values that a field must not have; undefined if none was sent. */
  leftOut(name: string): readonly string[] | undefined
  /** Its first value. */
  text(name: string): string | undefined
  number(name: string): number | undefined
  /** Unix time in milliseconds. */
  time(name: string): number | undefined
  flag(name: string): boolean | undefined
}

/** The position of an item in a list: the value of its sort field, and its id, which orders items of equal value. */
export type ListKey = readonly [value: number | string | null, id: string]

/** One page of a list, as clients see it. */
export interface Page<T> {
  readonly data: readonly T[]
  /** The cursor of the next page; null at the end. */
  readonly next_cursor: string | null
}

/** The checked parameters of a list. */
export interface ListQuery extends Query {
  readonly limit: number
  /** The sort field, without its `-`. */
  readonly sort: string
  readonly isDescending: boolean
  /** The key of the last item of the page before; undefined: the first page. */
  readonly after: ListKey | undefined
  /** In lower case; empty if it was not sent. */
  readonly search: string
  /** The page of a list in memory, which this sorts: numbers and texts ascending, null first, then by id. */
  page<T>(items: Iterable<T>, keyOf: (item: T) => ListKey): Page<T>
  /** The page of rows that begin after `after`, in order. There is another page if there are more than `limit`. */
  onePage<T>(rows: readonly T[], keyOf: (row: T) => ListKey): Page<T>
}

const usual = 50
const most = 200
const ofLists = ['limit', 'cursor', 'sort']

/** Checks the parameters of a query. Throws `unknown_field` and `invalid_field`. */
export function readQuery(query: URLSearchParams, fields: QueryFields = {}): Query {
  for (const name of new Set(query.keys())) {
    const field = Object.hasOwn(fields, name) ? fields[name] : undefined
    if (field === undefined) throw new GatewayError('unknown_field', { param: shown(name) })
    check(name, field, query.getAll(name))
  }
  const text = (name: string) => query.get(name) ?? undefined
  const optional = <T>(name: string, read: (given: string) => T) => {
    const given = text(name)
    return given === undefined ? undefined : read(given)
  }
  const values = (name: string) => (query.has(name) ? query.getAll(name) : undefined)
  return {
    values,
    leftOut: (name) => values(negation(name)),
    text,
    number: (name) => optional(name, Number),
    time: (name) => optional(name, momentIn),
    flag: (name) => optional(name, (given) => given === 'true'),
  }
}

/**
 * Checks the parameters of a list: its filters, and `limit`, `cursor` and `sort`. Throws `unknown_field`,
 * `invalid_field`, and `invalid_cursor` for a cursor of other sort or filters.
 * @param sorts fields to sort by
 * @param usualSort the sort without the parameter, with `-` for descending
 */
export function readList(
  query: URLSearchParams,
  {
    filters = {},
    sorts,
    usualSort,
  }: { readonly filters?: QueryFields; readonly sorts: readonly string[]; readonly usualSort: string },
): ListQuery {
  const orders = sorts.flatMap((field) => [field, `-${field}`])
  const read = readQuery(query, { ...filters, limit: 'number', cursor: 'text', sort: orders })
  const order = query.getAll('sort').at(-1) ?? usualSort
  const isDescending = order.startsWith('-')
  const limit = limitOf(read.text('limit'))
  const asked = new URLSearchParams(query)
  for (const name of ofLists) asked.delete(name)
  asked.sort()
  const binding = hash('sha256', `${order}\n${String(asked)}`, 'base64url').slice(0, 12)
  const after = keyIn(query.get('cursor'), binding)
  const compare = (left: ListKey, right: ListKey) =>
    isDescending ? -compareKeys(left, right) : compareKeys(left, right)
  const onePage = <T>(rows: readonly T[], keyOf: (row: T) => ListKey): Page<T> => {
    const data = rows.slice(0, limit)
    const last = rows.length > limit ? data.at(-1) : undefined
    return { data, next_cursor: last === undefined ? null : cursorOf(binding, keyOf(last)) }
  }
  return {
    ...read,
    limit,
    sort: isDescending ? order.slice(1) : order,
    isDescending,
    after,
    search: read.text('search')?.toLowerCase() ?? '',
    onePage,
    page(items, keyOf) {
      const keyed = Array.from(items, (item) => ({ item, key: keyOf(item) }))
      const rest = after ? keyed.filter(({ key }) => compare(key, after) > 0) : keyed
      const { data, next_cursor } = onePage(
        rest.sort((left, right) => compare(left.key, right.key)),
        ({ key }) => key,
      )
      return { data: data.map(({ item }) => item), next_cursor }
    },
  }
}

function check(name: string, field: QueryField, given: readonly string[]): void {
  const [first = ''] = given
  const refuse = (reason: string): never => {
    throw new GatewayError('invalid_field', { param: shown(name), reason })
  }
  if (field === 'text') {
    // No text of the database holds it, and PostgreSQL rejects it.
    if (given.some((one) => one.includes('\0'))) refuse('must not hold a null character')
    return
  }
  if (field === 'number' || field === 'time') {
    if (given.length > 1) refuse('must not be repeated')
    if (field === 'number' && !/^\d{1,15}(\.\d{1,9})?$/.test(first)) refuse('must be a number')
    if (field === 'time' && momentIn(first) === undefined)
      refuse('must be a date and time with its offset, such as 2027-01-31T12:00:00Z')
    return
  }
  const words = field === 'boolean' ? ['true', 'false'] : field
  if (!given.every((one) => words.includes(one))) refuse(`must be one of ${words.join(', ')}`)
}

function limitOf(text: string | undefined): number {
  const limit = text === undefined ? usual : Number(text)
  if (!Number.isInteger(limit) || limit < 1 || limit > most)
    throw new GatewayError('invalid_field', { param: 'limit', reason: `must be a whole number from 1 to ${most}` })
  return limit
}

function cursorOf(binding: string, key: ListKey): string {
  return Buffer.from(JSON.stringify([binding, ...key])).toString('base64url')
}

function keyIn(cursor: string | null, binding: string): ListKey | undefined {
  if (cursor === null) return undefined
  const read = parsedJson(Buffer.from(cursor, 'base64url').toString())
  if (Array.isArray(read) && read.length === 3 && read[0] === binding && isSortable(read[1])) {
    const [, value, id] = read
    if (isText(id)) return [value, id]
  }
  throw new GatewayError('invalid_cursor', { param: 'cursor' })
}

function isSortable(value: Json | undefined): value is number | string | null {
  return value === null || typeof value === 'number' || isText(value)
}

function isText(value: Json | undefined): value is string {
  return typeof value === 'string' && !value.includes('\0')
}

function compareKeys([left, first]: ListKey, [right, second]: ListKey): number {
  return compareValues(left, right) || compareValues(first, second)
}

function compareValues(left: number | string | null, right: number | string | null): number {
  if (left === right) return 0
  if (left === null || right === null) return left === null ? -1 : 1
  return left < right ? -1 : 1
}

/** The name of a parameter, cut so that it can be quoted. */
function shown(name: string): string {
  return name.slice(0, 64)
}
