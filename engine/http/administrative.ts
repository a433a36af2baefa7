import type { IncomingMessage } from 'node:http'
import { isObject } from '../spec/json.ts'
import type { Reply } from '../spec/slots.ts'
import { csvOf } from './csv.ts'

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
