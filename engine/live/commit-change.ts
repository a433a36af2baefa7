import { setTimeout as wait } from 'node:timers/promises'
import { printPath } from '../config/diagnostics.ts'
import { variableIn } from '../config/interpolate.ts'
import { GatewayError } from '../spec/error.ts'
import type { TableQueries } from '../spec/database.ts'
import type { RecordChange, RecordChanged, RecordView } from '../spec/record.ts'
import type { Requester } from '../spec/principal.ts'
import type { StoredRecords } from '../store/records.ts'
import { withStored } from './configuration.ts'
import type { Configuration } from './configuration.ts'
import type { GatewayHost } from './gateway-host.ts'
import { bodyOf, nameOf, planChange, refusalOf } from './record-change.ts'
import { viewsOf } from './section-views.ts'
import type { Loading, Snapshot } from './snapshot.ts'

/** The running state that a change applies to. */
export interface Running {
  readonly gateway: GatewayHost
  readonly snapshot: Snapshot
  /** The loaded files. */
  readonly files: Configuration
  /** Builds the next configuration next to the running one. */
  readonly open: (stored: StoredRecords) => Promise<Loading>
  /** Makes a configuration the running one. */
  readonly goLive: (snapshot: Snapshot, stored: StoredRecords) => Promise<unknown>
}

/** Maximum attempts to build a change when other processes write first; longest pause between two, in milliseconds. */
const mostTries = 10
const longestPause = 50

/**
 * Changes a stored record: builds the configuration, writes the change, goes live. Rejects with a `GatewayError`, and
 * then nothing has changed.
 */
export async function commitChange(
  change: RecordChange,
  by: Requester | undefined,
  running: Running,
): Promise<RecordView | undefined> {
  // Only files have variables: stored values are taken literally.
  const place = variableIn(bodyOf(change))
  if (place !== undefined) {
    const reason = 'cannot contain "${": only the configuration file has variables'
    throw new GatewayError('invalid_field', { param: printPath(place), reason })
  }
  for (let tries = 1; ; tries++) {
    const done = await tryChange(change, by, running)
    if (done) return done.view
    if (tries === mostTries) break
    // Random, so that processes with many changes do not stay in step.
    await wait(Math.random() * longestPause)
  }
  const message = 'Other processes are changing records; try again shortly.'
  throw new GatewayError('store_unavailable', {}, { message })
}

/** One attempt; undefined: another change was written first. */
async function tryChange(
  change: RecordChange,
  by: Requester | undefined,
  { gateway, snapshot, files, open, goLive }: Running,
): Promise<{ readonly view: RecordView | undefined } | undefined> {
  const { records, services } = gateway
  if (records === undefined) throw new Error('there is no store of records')
  const [type, name] = [change.type, nameOf(change)]
  const stored = await records.read().catch((error: unknown) => unavailable(error))
  const planned = planChange(change, stored, files)
  const base = stored.revision === snapshot.revision ? snapshot : withStored(files, stored)
  const before = viewsOf(base).find(type, name)
  if (planned === undefined) return { view: before }
  const loading = await open(planned.next)
  if ('diagnostics' in loading) throw refusalOf(change, loading.diagnostics)
  const after = viewsOf(loading.snapshot).find(type, name)
  const changed: RecordChanged = { kind: change.kind, type, name, ...(before && { before }), ...(after && { after }) }
  try {
    const isDone = await records.commit(planned.write, stored.revision, async (transaction) =>
      services?.witness(snapshot.registry.services.values(), transaction as unknown as TableQueries, changed, by),
    )
    if (!isDone) {
      await loading.snapshot.close()
      return undefined
    }
  } catch (error) {
    await loading.snapshot.close()
    return unavailable(error)
  }
  await goLive(loading.snapshot, planned.next)
  return { view: after }
}

function unavailable(error: unknown): never {
  throw new GatewayError('store_unavailable', {}, { cause: error })
}
