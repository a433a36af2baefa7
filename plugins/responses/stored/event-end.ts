import { parsedObject } from '../../../engine/kit.ts'
import type { JsonObject } from '../../../engine/index.ts'
import { object, text } from '../values.ts'

/** The names of events that end a response. */
const terminal = new Set(['response.completed', 'response.incomplete', 'response.failed'])
const mention = new RegExp([...terminal].map((name) => RegExp.escape(name)).join('|'))

/** Most bytes of a name, or of the end of an event, in the chunk before the one in which it ends. */
export const overlap = Math.max(...[...terminal].map((name) => name.length)) - 1

/** Empty lines, by any of the line endings of server-sent events (WHATWG HTML, section 9.2.6). */
const gaps = ['\n\n', '\n\r\n', '\r\r']

/** Index of the first name of a terminal event, which may be plain text of the answer; -1 if there is none. */
export function mentionOf(bytes: Buffer): number {
  return nearest(bytes, (window) => window.toString('latin1').search(mention))
}

/** Index after the empty line that ends the first event; -1 if the event has not ended. */
export function firstEnd(bytes: Buffer): number {
  return nearest(bytes, (window) => least(gaps.map((gap) => after(window.indexOf(gap), gap))))
}

/** Index after the last empty line; -1 if there is none. */
export function lastEnd(bytes: Buffer): number {
  return Math.max(...gaps.map((gap) => after(bytes.lastIndexOf(gap), gap)))
}

/** The first match of `find`, searched in growing windows, so that finding all matches takes linear time. */
function nearest(bytes: Buffer, find: (window: Buffer) => number): number {
  for (let size = 1024; size < bytes.length; size *= 4) {
    const at = find(bytes.subarray(0, size))
    if (at >= 0) return at
  }
  return find(bytes)
}

function after(at: number, gap: string): number {
  return at < 0 ? -1 : at + gap.length
}

function least(places: readonly number[]): number {
  return places.reduce((best, at) => (at >= 0 && (best < 0 || at < best) ? at : best), -1)
}

/** The response in a terminal event; undefined for any other event. */
export function endedBy(event: Buffer): JsonObject | undefined {
  const { named, value } = read(event)
  return terminal.has(text(value?.['type']) ?? named ?? '') ? object(value?.['response']) : undefined
}

/** A terminal event whose response says that it is not stored. */
export function unstored(event: Buffer): Buffer {
  const { named, value } = read(event)
  const data = JSON.stringify({ ...value, response: { ...object(value?.['response']), store: false } })
  return Buffer.from(`${named === undefined ? '' : `event: ${named}\n`}data: ${data}\n\n`)
}

function read(event: Buffer): { readonly named: string | undefined; readonly value: JsonObject | undefined } {
  let named: string | undefined
  const data: string[] = []
  for (const line of event.toString().split(/\r\n|\n|\r/)) {
    const [, field, value = ''] = /^([a-z]+)(?:: ?(.*))?$/s.exec(line) ?? []
    if (field === 'event') named = value
    else if (field === 'data') data.push(value)
  }
  return { named, value: parsedObject(data.join('\n')) }
}
