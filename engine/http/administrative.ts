import type { IncomingMessage } from 'node:http'
import { isObject } from '../spec/json.ts'
import type { Reply } from '../spec/slots.ts'
import type { Json, JsonObject } from '../spec/json.ts'

/**
 * Whether a path belongs to the interface of operators and members, and not to that of clients of models. Misspelled
 * paths belong to it, too, so that nobody keeps their errors.
 */
export function isAdministrative(path: string): boolean {
  return /^\/+api(?:\/|$)/.test(path)
}

/** The type of a list as CSV (RFC 4180, RFC 7111). */
const csv = 'text/csv; charset=utf-8; header=present'

/**
 * Adds the headers of every answer of that interface, errors included: nobody keeps it, and browsers take it as it is
 * called. Returns the reply, with a list as CSV if the client prefers that: the same rows, and the cursor of the next
 * page in the header `x-next-cursor`.
 */
export function administer(headers: Record<string, string>, reply: Reply, request: IncomingMessage): Reply {
  headers['cache-control'] ??= 'no-store'
  headers['x-content-type-options'] ??= 'nosniff'
  const { body, status } = reply
  if (body.kind !== 'json') return reply
  const { data, next_cursor: next } = isObject(body.value) ? body.value : {}
  const { method, headers: given } = request
  if (status === 200 && method !== 'POST' && Array.isArray(data) && prefersCsv(given.accept)) {
    if (typeof next === 'string') headers['x-next-cursor'] = next
    return { ...reply, body: { kind: 'bytes', type: csv, bytes: Buffer.from(csvOf(data)) } }
  }
  headers['content-type'] ??= 'application/json; charset=utf-8'
  return reply
}

/** Whether a client names CSV, and no other type that it would rather have (RFC 9110, section 12.5.1). */
function prefersCsv(accept = ''): boolean {
  if (!/text\/csv/i.test(accept)) return false
  const given = accept.split(',', 20).map((range) => {
    const [type = '', ...parameters] = range
      .toLowerCase()
      .split(';')
      .map((part) => part.trim())
    const weight = parameters.find((parameter) => parameter.startsWith('q='))
    return { type, weight: weight === undefined ? 1 : Number(weight.slice(2)) }
  })
  const [best] = given.filter(({ weight }) => weight > 0).toSorted((one, other) => other.weight - one.weight)
  return best?.type === 'text/csv'
}

/** A value of a row as a cell; a text that a spreadsheet would run as a formula begins with `'`. */
function cellOf(value: Json | undefined): string {
  if (value === null || value === undefined) return ''
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  const harmless = /^[=+\-@\t\r\n＝＋－＠]/.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless
}

/**
 * Objects as CSV (RFC 4180) with a line of names, in the order of their first appearance. The members of objects within
 * them are columns of their own, such as `key.name`; lists are JSON. Empty without rows.
 */
export function csvOf(rows: readonly Json[]): string {
  const flat = rows.map((row) => new Map(isObject(row) ? leavesOf(row) : [['value', row]]))
  const names = new Set(flat.flatMap((row) => [...row.keys()]))
  const inner = new Set([...names].flatMap(outerNames))
  // An object that is null in some rows has no column beside those of its members.
  const columns = [...names].filter((name) => !inner.has(name) || flat.some((row) => (row.get(name) ?? null) !== null))
  if (columns.length === 0) return ''
  const lines = [columns.map(cellOf), ...flat.map((row) => columns.map((name) => cellOf(row.get(name))))]
  return lines.map((line) => `${line.join(',')}\r\n`).join('')
}

function leavesOf(value: JsonObject, before = ''): [string, Json][] {
  return Object.entries(value).flatMap(([name, given = null]): [string, Json][] =>
    isObject(given) && Object.keys(given).length > 0
      ? leavesOf(given, `${before}${name}.`)
      : [[before + name, isObject(given) ? null : given]],
  )
}

/** `usage` and `usage.cost` for `usage.cost.usd`. */
function outerNames(name: string): string[] {
  return [...name.matchAll(/\./g)].map(({ index }) => name.slice(0, index))
}
