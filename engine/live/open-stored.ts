import type { Diagnostic } from '../config/diagnostics.ts'
import { secretsOfStored } from '../config/secrets.ts'
import { storedName } from '../config/stored-records.ts'
import type { RecordChange } from '../spec/record.ts'
import type { StoredRecord, StoredRecords } from '../store/records.ts'
import { withStored } from './configuration.ts'
import type { Configuration } from './configuration.ts'
import type { HouseHost } from './house-host.ts'
import { nameOf } from './record-change.ts'
import { openSnapshot } from './snapshot.ts'
import type { Loading, Snapshot, SnapshotOptions } from './snapshot.ts'

/** Milliseconds after which a change of a record by another process is looked for: it is followed within a second. */
export const recordPoll = 500

/**
 * What is stored.
 * @param before what was read last, which goes on while nothing can be read
 */
export async function readStored({ records, log }: HouseHost, before?: StoredRecords): Promise<StoredRecords> {
  if (records === undefined) return { revision: 0, records: [] }
  if (before === undefined) return records.read()
  return records.read().catch((error: unknown) => {
    log.warn({ err: error }, 'the stored records cannot be read again')
    return before
  })
}

/**
 * Which stored records may be left out: at the start any; later those that are left out already, unless somebody changes
 * them now.
 */
export function mayLeaveOut(current: Snapshot | undefined, change?: RecordChange): (record: StoredRecord) => boolean {
  if (current === undefined) return () => true
  const out = new Set(current.leftOut.map((one) => storedName(one.stored)))
  if (change) out.delete(storedName({ type: change.type, name: nameOf(change) }))
  return (record) => out.has(storedName(record))
}

/**
 * Builds and opens files that are right together with stored records, or says what contradicts what.
 * @param mayMiss stored records without which it is opened rather than not at all
 */
export async function openWithStored(
  files: Configuration,
  stored: StoredRecords,
  options: SnapshotOptions,
  mayMiss: (record: StoredRecord) => boolean,
): Promise<Loading> {
  options.house.protect(secretsOfStored(stored.records, files.registry))
  const unusable = new Map<string, readonly Diagnostic[]>()
  for (;;) {
    const configuration = withStored(files, stored, unusable)
    const { leftOut = [] } = configuration
    const refused = leftOut.filter((one) => !mayMiss(one.stored))
    if (refused.length > 0) return { diagnostics: refused.flatMap(({ findings }) => findings) }
    const loading = await openSnapshot(configuration, options)
    if ('snapshot' in loading) return loading
    const out = new Set(leftOut.map((one) => one.stored))
    const culprits = culpritsOf(loading.diagnostics, stored.records).filter((one) => mayMiss(one) && !out.has(one))
    if (culprits.length === 0) return loading
    for (const one of culprits) unusable.set(storedName(one), findingsOf(one, loading.diagnostics))
  }
}

/** The stored records that findings are about; all of them where a finding is about none, for any of them may be why. */
function culpritsOf(findings: readonly Diagnostic[], stored: readonly StoredRecord[]): readonly StoredRecord[] {
  const files = new Set(findings.map(({ file }) => file))
  const named = stored.filter((one) => files.has(storedName(one)))
  return named.length > 0 ? named : stored
}

function findingsOf(one: StoredRecord, findings: readonly Diagnostic[]): readonly Diagnostic[] {
  const own = findings.filter(({ file }) => file === storedName(one))
  return own.length > 0 ? own : findings
}
