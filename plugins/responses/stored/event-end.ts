import { parsedObject } from '../../../engine/kit.ts'
import type { JsonObject } from '../../../engine/index.ts'
import { object, text } from '../values.ts'

/** What an event that ends a response is called. */
const terminal = new Set(['response.completed', 'response.incomplete', 'response.failed'])
const mention = new RegExp([...terminal].map((name) => RegExp.escape(name)).join('|'))

/** Most bytes that a name, or the end of an event, may have in a chunk before the one it ends in. */
export const overlap = Math.max(...[...terminal].map((name) => name.length)) - 1

/** Empty lines, by any of the line endings of server-sent events (WHATWG HTML, section 9.2.6). */
const gaps = ['\n\n', '\n\r\n', '\r\r']

/** Where the name of a terminal event stands first; it may be no more than talk of it. -1: nowhere. */
export function mentionOf(bytes: Buffer): number {
  return nearest(bytes, (window) => window.toString('latin1').search(mention))
}

/** Behind the empty line that ends the first event; -1: it has not ended. */
export function firstEnd(bytes: Buffer): number {
  return nearest(bytes, (window) => least(gaps.map((gap) => after(window.indexOf(gap), gap))))
}

/** Behind the last empty line; -1: there is none. */
export function lastEnd(bytes: Buffer): number {
  return Math.max(...gaps.map((gap) => after(bytes.lastIndexOf(gap), gap)))
}

/** What `find` finds first. It looks at a little, then at more: finding all there is, one by one, takes no longer. */
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

/** The response of an event that ends one; undefined for any other event. */
export function endedBy(event: Buffer): JsonObject | undefined {
  let named: string | undefined
  const data: string[] = []
  for (const line of event.toString().split(/\r\n|\n|\r/)) {
    const [, field, value = ''] = /^([a-z]+)(?:: ?(.*))?$/s.exec(line) ?? []
    if (field === 'event') named = value
    else if (field === 'data') data.push(value)
  }
  const value = parsedObject(data.join('\n'))
  return terminal.has(text(value?.['type']) ?? named ?? '') ? object(value?.['response']) : undefined
}
