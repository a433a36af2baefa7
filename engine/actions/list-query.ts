import { hash } from 'node:crypto'
import { parsedJson } from '../json/parse.ts'
import { GatewayError } from '../spec/error.ts'
import type { Json } from '../spec/json.ts'
import { momentIn } from '../json/moment.ts'
import type { ListKey, ListQuery, ListSchema, Page, ParameterSchema, Query, QuerySchema } from '../spec/query.ts'

/**
 * What a query parameter accepts, as JSON Schema or in a word: any text, `true` or `false`, a number, a whole number, a
 * date and time with offset, or one of some words. Numbers and times may stand once; the others may be repeated, which
 * means any of them.
 */
export type QueryField = 'text' | 'boolean' | 'number' | 'integer' | 'time' | readonly string[] | ParameterSchema

export type QueryFields = Readonly<Record<string, QueryField>>

/** The parameter that leaves the values of a field out. */
export const negation = (name: string): string => `not_${name}`

/** Fields that leave out what others ask for: `not_model` for `model`. Repeated, none of their values is wanted. */
export function negated<F extends QueryField>(fields: Readonly<Record<string, F>>): Readonly<Record<string, F>> {
  return Object.fromEntries(Object.entries(fields).map(([name, field]) => [negation(name), told(field, name)]))
}

function told<F extends QueryField>(field: F, name: string): F {
  if (typeof field === 'string' || isWords(field)) return field
  // Its default would leave out what the other one asks for.
  const { default: _default, ...schema }: ParameterSchema = field
  return { ...schema, description: `Leaves out what "${name}" asks for.` } as F
}

/** Describes the parameters of a list, in `query` of an action, which then gets them as a `ListQuery`. */
export function listOf({
  filters = {},
  sorts,
  usual,
}: Partial<ListSchema> & Omit<ListSchema, 'filters' | 'list'>): ListSchema {
  return { list: true, filters, sorts, usual }
}

/** Reads the query of an action as its declaration describes it. Throws as `readQuery` and `readList` do. */
export function queryReader(schema: QuerySchema | ListSchema = {}): (query: URLSearchParams) => Query {
  if (!isList(schema)) return (query) => readQuery(query, schema)
  const { filters, sorts, usual: usualSort } = schema
  return (query) => readList(query, { filters, sorts, usualSort })
}

/** Every parameter that the query of an action may have. */
export function parametersOf(schema: QuerySchema | ListSchema = {}): QuerySchema {
  if (!isList(schema)) return schema
  const { filters, sorts, usual: order } = schema
  const orders = sorts.flatMap((field) => [field, `-${field}`])
  return {
    ...filters,
    limit: { type: 'integer', default: usual, description: `Most entries of the page: 1 to ${most}.` },
    cursor: { type: 'string', description: 'Where the page begins: next_cursor of the page before it.' },
    sort: { enum: orders, default: order, description: 'Field to sort by; with - for descending.' },
  }
}

function isList(schema: QuerySchema | ListSchema): schema is ListSchema {
  return schema['list'] === true
}

function isWords(field: QueryField): field is readonly string[] {
  return Array.isArray(field)
}

/** What a parameter accepts, by its schema. */
function acceptedBy(field: QueryField): Exclude<QueryField, ParameterSchema> {
  if (typeof field === 'string' || isWords(field)) return field
  const { type, format, enum: words } = field
  if (words !== undefined) return words
  if (format === 'date-time') return 'time'
  return type === 'string' ? 'text' : (type ?? 'number')
}

const usual = 50
const most = 200
const ofLists = ['limit', 'cursor', 'sort']

/** Checks the parameters of a query, and fills in defaults. Throws `unknown_field` and `invalid_field`. */
export function readQuery(sent: URLSearchParams, fields: QueryFields = {}): Query {
  const query = withDefaults(sent, fields)
  for (const name of new Set(query.keys())) {
    const field = Object.hasOwn(fields, name) ? fields[name] : undefined
    if (field === undefined) throw new GatewayError('unknown_field', { param: shown(name) })
    check(name, acceptedBy(field), query.getAll(name))
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

function withDefaults(sent: URLSearchParams, fields: QueryFields): URLSearchParams {
  const query = new URLSearchParams(sent)
  for (const [name, field] of Object.entries(fields)) {
    const { default: value = null } = typeof field === 'string' || isWords(field) ? {} : field
    if (value !== null && !query.has(name)) query.set(name, String(value))
  }
  return query
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

function check(name: string, field: Exclude<QueryField, ParameterSchema>, given: readonly string[]): void {
  const [first = ''] = given
  const refuse = (reason: string): never => {
    throw new GatewayError('invalid_field', { param: shown(name), reason })
  }
  if (field === 'text') {
    // No text of the database holds it, and PostgreSQL rejects it.
    if (given.some((one) => one.includes('\0'))) refuse('must not hold a null character')
    return
  }
  if (field === 'number' || field === 'integer' || field === 'time') {
    if (given.length > 1) refuse('must not be repeated')
    if (field === 'integer' && !/^\d{1,15}$/.test(first)) refuse('must be a whole number')
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
