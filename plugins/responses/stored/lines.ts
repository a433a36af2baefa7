import { setImmediate as turn } from 'node:timers/promises'
import { isObject, parseJson } from '../../../engine/kit.ts'
import type { Json, JsonObject } from '../../../engine/index.ts'
import { isList } from '../values.ts'

/** Bytes that are printed or parsed at a time: a few milliseconds of work, after which other requests run. */
const atOnce = 512 * 1024

const newline = 10

/** A list of items that is encoded apart from its record. */
export type Items = readonly JsonObject[]

/** Encodes a value as one line of JSON, and each item of `lists` as a line of its own, to avoid one long task. */
export async function encodeLines(head: JsonObject, lists: readonly Items[]): Promise<Buffer> {
  const lines: Buffer[] = [Buffer.from(JSON.stringify({ ...head, lines: lists.map(({ length }) => length) }))]
  let since = lines[0]?.length ?? 0
  for (const list of lists)
    for (const item of list) {
      const line = Buffer.from(`\n${JSON.stringify(item)}`)
      lines.push(line)
      since += line.length
      if (since < atOnce) continue
      since = 0
      await turn()
    }
  return Buffer.concat(lines)
}

/** Decodes what `encodeLines` encoded. A single line without lists is a value of an older version. */
export async function decodeLines(bytes: Buffer): Promise<{ head: JsonObject; lists: readonly Items[] }> {
  const end = lineEnd(bytes, 0)
  const { lines, ...head } = parsed(bytes.subarray(0, end))
  const lists: JsonObject[][] = []
  let at = end + 1
  let since = end
  for (const count of numbers(lines)) {
    const list: JsonObject[] = []
    for (; list.length < count; at = lineEnd(bytes, at) + 1) {
      const line = bytes.subarray(at, lineEnd(bytes, at))
      list.push(parsed(line))
      since += line.length
      if (since < atOnce) continue
      since = 0
      await turn()
    }
    lists.push(list)
  }
  return { head, lists }
}

function lineEnd(bytes: Buffer, from: number): number {
  const at = bytes.indexOf(newline, from)
  return at < 0 ? bytes.length : at
}

function parsed(line: Buffer): JsonObject {
  const value = parseJson(line.toString())
  if (!isObject(value)) throw new Error('a stored value is damaged')
  return value
}

function numbers(value: Json | undefined): readonly number[] {
  return isList(value) ? value.filter((one) => typeof one === 'number') : []
}
