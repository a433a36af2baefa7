import { isDeepStrictEqual } from 'node:util'
import { printPath } from '../config/diagnostics.ts'
import type { Path } from '../config/diagnostics.ts'
import { isObject } from '../spec/json.ts'
import type { Json } from '../spec/json.ts'
import type { RecordChanged } from '../spec/record-access.ts'
import { refuseBeyond, refuseLinkLocal } from '../upstream/reach.ts'
import type { Snapshot } from './snapshot.ts'

/**
 * Throws `private_address` for a changed provider with an address that is, or resolves to, one to which it may not
 * connect. The addresses are checked again when it connects.
 */
export async function refusePrivateAddresses(
  changes: readonly RecordChanged[],
  { noted }: Pick<Snapshot, 'noted'>,
): Promise<void> {
  for (const { type, name, before, after } of changes) {
    if (type !== 'provider' || after === undefined || isDeepStrictEqual(before?.value, after.value)) continue
    refuseLinkLocal(after.value)
    const reach = after.value['allow_private'] === true ? 'private' : 'public'
    const written = [...addressesIn(after.value['config'] ?? null, ['config'])]
    const places = new Map<string, { readonly url: URL; readonly param: string }>()
    for (const url of noted.get(name) ?? []) places.set(url.hostname, { url, param: 'allow_private' })
    for (const { url, path } of written) places.set(url.hostname, { url, param: printPath(path) })
    for (const { url, param } of places.values()) await refuseBeyond(reach, url, param)
  }
}

/** The addresses in a value, with their paths. */
function* addressesIn(value: Json, path: Path): Generator<{ readonly url: URL; readonly path: Path }> {
  if (typeof value === 'string') {
    const url = value.includes('://') ? URL.parse(value) : null
    if (url !== null && url.hostname !== '') yield { url, path }
  } else if (Array.isArray(value))
    for (const [index, item] of (value as readonly Json[]).entries()) yield* addressesIn(item, [...path, index])
  else if (isObject(value))
    for (const [name, member = null] of Object.entries(value)) yield* addressesIn(member, [...path, name])
}
