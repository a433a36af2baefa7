import { GatewayError, defineStage } from '../../engine/index.ts'
import type { AnyRecord, Ingress, JsonObject, RecordView } from '../../engine/index.ts'
import { parsedJson } from '../../engine/kit.ts'
import { jsonReply, ofType, wireOf } from './record-reply.ts'

const usual = 50
const most = 200

/** Returns the records of a type that match the query, page by page, sorted by name or age. */
export default defineStage({
  name: 'list-record',
  summary: 'Return the records of a type.',
  config: ofType,
  needs: ['ingress'],
  provides: ['reply'],
  build:
    ({ of }, { records }) =>
    ({ ingress }) => {
      const { limit, sort, after, binding, fits } = queryOf(ingress, records.types.get(of))
      const key = keyOf(sort)
      const sorted = records
        .of(of)
        .filter(fits)
        .map((record) => ({ record, key: key(record) }))
        .sort((left, right) => compare(left.key, right.key, sort))
      const rest = after ? sorted.filter((one) => compare(one.key, after, sort) > 0) : sorted
      const page = rest.slice(0, limit)
      const last = rest.length > limit ? page.at(-1)?.key : undefined
      return {
        reply: jsonReply({
          data: page.map((one) => wireOf(one.record)),
          next_cursor: last ? Buffer.from(JSON.stringify([binding, ...last])).toString('base64url') : null,
        }),
      }
    },
})

/** Query parameters that are no fields of the record. */
const ofLists = ['limit', 'cursor', 'sort', 'search']

/** The sort key. Equal values are sorted by name. */
type Key = readonly [value: number, name: string]

interface Query {
  readonly limit: number
  readonly sort: string
  readonly after: Key | undefined
  /** Sort and filters. A cursor is valid only for the same ones. */
  readonly binding: string
  readonly fits: (record: RecordView) => boolean
}

function queryOf({ query }: Ingress, type: AnyRecord | undefined): Query {
  const { properties = {} } = (type?.schema ?? {}) as { readonly properties?: object }
  const fields = ['source', ...Object.keys(properties)].filter((name) => !ofLists.includes(name))
  for (const name of query.keys())
    if (![...ofLists, ...fields].includes(name)) throw new GatewayError('unknown_field', { param: name.slice(0, 64) })
  const sort = query.get('sort') ?? 'name'
  if (!['name', '-name', 'created_at', '-created_at'].includes(sort))
    throw new GatewayError('invalid_field', { param: 'sort', reason: 'must be name or created_at, with or without -' })
  const search = query.get('search')?.toLowerCase() ?? ''
  const wanted = fields.flatMap((name) => (query.has(name) ? [[name, query.getAll(name)] as const] : []))
  const binding = JSON.stringify([sort, search, wanted])
  return {
    limit: limitIn(query),
    sort,
    binding,
    after: cursorIn(query, binding),
    fits: (record) =>
      record.name.toLowerCase().includes(search) &&
      wanted.every(([name, values]) => values.includes(name === 'source' ? record.source : textOf(record.value, name))),
  }
}

function textOf(value: JsonObject, name: string): string {
  const field = value[name]
  return typeof field === 'object' ? '' : String(field)
}

function limitIn(query: URLSearchParams): number {
  const text = query.get('limit') ?? String(usual)
  const limit = /^\d{1,4}$/.test(text) ? Number(text) : 0
  if (limit < 1 || limit > most)
    throw new GatewayError('invalid_field', { param: 'limit', reason: `must be 1 to ${most}` })
  return limit
}

function cursorIn(query: URLSearchParams, binding: string): Key | undefined {
  const text = query.get('cursor')
  if (text === null) return undefined
  const cursor = parsedJson(Buffer.from(text, 'base64url').toString())
  if (Array.isArray(cursor) && cursor[0] === binding && typeof cursor[1] === 'number' && typeof cursor[2] === 'string')
    return [cursor[1], cursor[2]]
  const reason = 'is not a cursor of this list with the same sort and filters'
  throw new GatewayError('invalid_field', { param: 'cursor', reason }, { code: 'invalid_cursor' })
}

/** Declared records are older than all others. */
function keyOf(sort: string): (record: RecordView) => Key {
  return sort.endsWith('created_at') ? ({ stored, name }) => [stored?.createdAt ?? 0, name] : ({ name }) => [0, name]
}

function compare([left, first]: Key, [right, second]: Key, sort: string): number {
  const order = left - right || (first < second ? -1 : first > second ? 1 : 0)
  return sort.startsWith('-') ? -order : order
}
