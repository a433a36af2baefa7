import { setTimeout as wait } from 'node:timers/promises'
import { printPath } from '../config/diagnostics.ts'
import { variableIn } from '../config/interpolate.ts'
import { storedName } from '../records/stored-records.ts'
import { GatewayError } from '../spec/error.ts'
import type { TableQueries } from '../spec/database.ts'
import type { ShownRecord } from '../spec/record-view.ts'
import type { RecordAccess, RecordChange, RecordChanged } from '../spec/record-access.ts'
import type { StoredRecords } from '../store/records.ts'
import { withStored } from './load-configuration.ts'
import type { Configuration } from '../records/configuration.ts'
import type { GatewayHost } from './gateway-host.ts'
import { refusalOf } from '../records/change-refusal.ts'
import { bodyOf, nameOf, planChanges, possibleNames } from '../records/record-change.ts'
import { viewsOf } from '../records/section-views.ts'
import type { Loading, Snapshot } from './snapshot.ts'
import { isDeepStrictEqual } from 'node:util'
import type { Path } from '../config/diagnostics.ts'
import { isObject } from '../spec/json.ts'
import type { Json } from '../spec/json.ts'
import { refuseBeyond, refuseLinkLocal } from '../config/reach.ts'

/** The running state that a change applies to. */
export interface Running {
  readonly gateway: GatewayHost
  readonly snapshot: Snapshot
  /** The loaded files. */
  readonly files: Configuration
  /** Builds the next configuration next to the running one. */
  readonly open: (stored: StoredRecords, changes: readonly RecordChange[]) => Promise<Loading>
  /** Makes a configuration the running one. */
  readonly goLive: (snapshot: Snapshot, stored: StoredRecords) => Promise<unknown>
}

/** Maximum attempts to build a change when other processes write first; longest pause between two, in milliseconds. */
const mostTries = 10
const longestPause = 50

/** What to change, by whom, and what else to write in the same transaction. */
export type Changing = Parameters<RecordAccess['changeAll']>

type Views = readonly (ShownRecord | undefined)[]

/**
 * Changes stored records: builds the configuration, writes the changes, goes live. Rejects with a `GatewayError`, and
 * then nothing has changed.
 */
export async function commitChanges(changing: Changing, running: Running): Promise<Views> {
  for (let tries = 1; ; tries++) {
    const done = await tryChanges(changing, running)
    if (done) return done
    if (tries === mostTries) break
    // Random, so that processes with many changes do not stay in step.
    await wait(Math.random() * longestPause)
  }
  const message = 'Other processes are changing records; try again shortly.'
  throw new GatewayError('store_unavailable', {}, { message })
}

/** One attempt; undefined: another change was written first. */
async function tryChanges(
  [plan, by, also]: Changing,
  { gateway, snapshot, files, open, goLive }: Running,
): Promise<Views | undefined> {
  const { records, services } = gateway
  if (records === undefined) throw new Error('there is no store of records')
  const stored = await records.read().catch((error: unknown) => unavailable(error))
  const base = viewsOf(stored.revision === snapshot.revision ? snapshot : withStored(files, stored))
  const changes = plan(base)
  changes.forEach(refuseVariables)
  // A change that comes between the two reads makes the commit fail, which is based on the revision of the first.
  const deleted = await records.deleted(possibleNames(changes)).catch((error: unknown) => unavailable(error))
  const planned = planChanges(changes, { ...stored, deleted }, files, by?.principal?.name)
  if (planned === undefined) return changes.map((change) => base.find(change.type, nameOf(change)))
  const loading = await open(planned.next, changes)
  if ('diagnostics' in loading) throw refusalOf(changes.at(-1) as RecordChange, loading.diagnostics)
  const next = viewsOf(loading.snapshot)
  const written = new Set(planned.writes.map(({ type, name }) => storedName({ type, name })))
  const changed = changes.flatMap((change): RecordChanged[] => {
    const { kind, type } = change
    const name = nameOf(change)
    if (!written.has(storedName({ type, name }))) return []
    const [before, after] = [base.find(type, name), next.find(type, name)]
    return [{ kind, type, name, ...(before && { before }), ...(after && { after }) }]
  })
  try {
    if (planned.refusal) throw planned.refusal
    await refusePrivateAddresses(changed, loading.snapshot)
    for (const one of changed) await services?.admit(snapshot.registry.services.values(), one, next)
  } catch (error) {
    await loading.snapshot.close()
    throw error
  }
  try {
    const isDone = await records.commit(planned.writes, stored.revision, async (writes) => {
      const transaction = writes as unknown as TableQueries
      for (const one of changed) await services?.witness(snapshot.registry.services.values(), transaction, one, by)
      await also?.(transaction)
    })
    if (!isDone) {
      await loading.snapshot.close()
      return undefined
    }
  } catch (error) {
    await loading.snapshot.close()
    return unavailable(error)
  }
  await goLive(loading.snapshot, planned.next)
  return changes.map((change) => next.find(change.type, nameOf(change)))
}

/** Only files have variables: stored values are taken literally. */
function refuseVariables(change: RecordChange): void {
  const place = variableIn(bodyOf(change))
  if (place === undefined) return
  const reason = 'cannot contain "${": only the configuration file has variables'
  throw new GatewayError('invalid_field', { param: printPath(place), reason })
}

function unavailable(error: unknown): never {
  throw error instanceof GatewayError ? error : new GatewayError('store_unavailable', {}, { cause: error })
}

/**
 * Throws `private_address` for a changed provider with an address that is, or resolves to, one to which it may not
 * connect. The addresses are checked again when it connects.
 */
async function refusePrivateAddresses(
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
