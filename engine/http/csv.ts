import { isObject } from '../spec/json.ts'
import type { Json, JsonObject } from '../spec/json.ts'

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
