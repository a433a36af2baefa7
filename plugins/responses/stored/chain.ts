import { parseJson } from '../../../engine/kit.ts'
import type { Json, KeyValue } from '../../../engine/index.ts'
import { isList } from '../values.ts'
import { answerOf } from './conversation.ts'
import { idOf, isPresent, lifetime, readTurn, responseKey, sizeOf, withBefore, writeResponse } from './record.ts'
import type { Earlier, FoundResponse, StoredResponse, WholeResponse } from './record.ts'

/** Most earlier responses that are read for one response. The next response of the conversation is stored whole. */
export const longestChain = 256

/** Most tracked responses that continue the same one. With more, it stays for its lifetime even if all are deleted. */
const mostChildren = 256

/** Time by which continued responses are extended, so that not every turn has to extend all earlier ones. */
export const longestLife = 2 * lifetime

/** The link of a response to the earlier ones that it continues. */
export function earlierOf(previous: WholeResponse): Earlier {
  const { ids = [], until = Infinity } = previous.earlier ?? {}
  return { ids: [...ids, idOf(previous)], bytes: sizeOf(previous), until }
}

/** A response with all earlier turns; undefined if one is lost. Rejects with `store_unavailable`. */
export async function readWhole(keyValue: KeyValue, record: StoredResponse): Promise<WholeResponse | undefined> {
  if (!record.earlier) return withBefore(record, [])
  const found = await Promise.all(record.earlier.ids.map((id) => readTurn(keyValue, id)))
  const turns = found.map((one) => one?.record)
  // A response that was stored whole contains the earlier turns.
  const first = turns.findLastIndex((turn) => turn && !turn.earlier)
  const needed = turns.slice(first)
  if (first < 0 || !needed.every((turn) => turn?.keyId === record.keyId)) return undefined
  return withBefore(
    record,
    needed.flatMap((turn) => (turn ? [...turn.input, ...answerOf(turn)] : [])),
  )
}

/**
 * The record to write: linked to the response that it continues, whose lifetime is extended; or with the whole
 * conversation if that is not certain. Rejects with `store_unavailable`.
 */
export async function linked(keyValue: KeyValue, record: WholeResponse): Promise<StoredResponse> {
  const { earlier } = record
  const until = earlier && (await hold(keyValue, earlier, idOf(record)))
  if (!earlier || until === undefined) return unlinked(record)
  // A socket continues from this record, so it must have the link, too.
  earlier.until = until
  return record
}

/** The record with its whole conversation. */
export function unlinked(record: WholeResponse): StoredResponse {
  const { earlier, before, input, ...rest } = record
  if (!earlier && before.length === 0) return record
  return { ...rest, input: [...before, ...input] }
}

/** Extends the lifetime of the earlier responses; returns until when, or undefined if one is gone. */
async function hold(keyValue: KeyValue, { ids, until }: Earlier, child: string): Promise<number | undefined> {
  const parent = ids.at(-1)
  if (parent === undefined || ids.length > longestChain || ids.includes(child)) return undefined
  if (!(await addChild(keyValue, parent, child))) return undefined
  const now = Date.now()
  const all = until < now + lifetime || until === Infinity
  const extended = await Promise.all((all ? ids : [parent]).map((id) => extend(keyValue, id)))
  if (extended.includes(false)) return undefined
  return Math.min(all ? Infinity : until, now + longestLife)
}

async function extend(keyValue: KeyValue, id: string): Promise<boolean> {
  const [extended] = await Promise.all([
    keyValue.extend(responseKey(id) ?? '', longestLife),
    keyValue.extend(childrenKey(id), longestLife),
  ])
  return extended
}

/**
 * Deletes a response that was read; returns false if it has changed since. Its turn stays while other responses
 * continue it. If its provider has stored the response, too, a mark stays.
 */
export async function deleteResponse(keyValue: KeyValue, { record, version }: FoundResponse): Promise<boolean> {
  if (!(await close(keyValue, idOf(record)))) {
    const { id, output = [] } = record.response
    // Those that continue it have the tokens of all turns before them.
    const turn: StoredResponse = { ...record, tokens: undefined, response: { id: id ?? '', output }, deleted: true }
    return (await writeResponse(keyValue, turn, { version, ttl: longestLife })) === undefined
  }
  if (!(await erase(keyValue, { record, version }))) return false
  await release(keyValue, record)
  return true
}

async function erase(keyValue: KeyValue, { record, version }: FoundResponse): Promise<boolean> {
  const id = idOf(record)
  if (!record.held) {
    const erased = await keyValue.delete(responseKey(id) ?? '')
    // A response that would still continue it finds nothing.
    await keyValue.delete(childrenKey(id))
    return erased
  }
  const { keyId, background, held, partial } = record
  const mark = { keyId, background, held, partial, response: { id }, input: [], deleted: true } as const
  return (await writeResponse(keyValue, mark, { version })) === undefined
}

/** Deletes earlier responses that only this response still needed. */
async function release(keyValue: KeyValue, record: StoredResponse): Promise<void> {
  for (let child = record; ;) {
    const parent = child.earlier?.ids.at(-1)
    if (parent === undefined || !(await removeChild(keyValue, parent, idOf(child)))) return
    const found = await readTurn(keyValue, parent)
    if (!found || (isPresent(found.record) && !found.record.deleted)) return
    if (!(await close(keyValue, parent)) || !(await erase(keyValue, found))) return
    child = found.record
  }
}

/** The ids of responses that continue one; or a mark for too many, or for none any more and none to come. */
type Children = readonly string[] | 'many' | 'closed'

function childrenKey(id: string): string {
  return `children:${id}`
}

/** Returns false if the response is being deleted. */
async function addChild(keyValue: KeyValue, parent: string, child: string): Promise<boolean> {
  const after = await changed(keyValue, parent, (children) => {
    if (children === 'many' || children === 'closed') return children
    return children.length < mostChildren ? [...children.filter((id) => id !== child), child] : 'many'
  })
  return after !== 'closed'
}

/** Returns whether it was the last one. */
async function removeChild(keyValue: KeyValue, parent: string, child: string): Promise<boolean> {
  const after = await changed(keyValue, parent, (children) =>
    children === 'many' || children === 'closed' ? children : children.filter((id) => id !== child),
  )
  return after.length === 0
}

/** Prevents that a response is continued; returns false if one continues it already. */
async function close(keyValue: KeyValue, id: string): Promise<boolean> {
  return (await changed(keyValue, id, (children) => (children.length === 0 ? 'closed' : children))) === 'closed'
}

/** Updates the children of a response, with retries on concurrent updates; returns the new ones. */
async function changed(keyValue: KeyValue, id: string, change: (children: Children) => Children): Promise<Children> {
  const key = childrenKey(id)
  let before: Children = []
  let version: string | null = null
  for (;;) {
    const after = change(before)
    if (after === before) return after
    const value = Buffer.from(JSON.stringify(after))
    if (await keyValue.set(key, value, { ttl: longestLife, version })) return after
    const held = await keyValue.get(key)
    before = held ? childrenIn(held.value) : []
    version = held?.version ?? null
  }
}

function childrenIn(value: Buffer): Children {
  const children = parseJson(value.toString()) as Json
  if (children === 'many' || children === 'closed') return children
  return isList(children) ? children.filter((id) => typeof id === 'string') : []
}
