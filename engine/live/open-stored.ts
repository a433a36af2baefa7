import type { Diagnostic } from '../config/diagnostics.ts'
import { hideSecrets } from '../records/hidden-findings.ts'
import { secretsOfStored } from '../records/secrets.ts'
import { storedName } from '../records/stored-records.ts'
import type { Unopened } from '../records/stored-records.ts'
import type { RecordChange } from '../spec/record-access.ts'
import type { StoredRecord, StoredRecords } from '../store/records.ts'
import { withStored } from './load-configuration.ts'
import type { Configuration } from '../records/configuration.ts'
import type { GatewayHost } from './gateway-host.ts'
import { nameOf } from '../records/record-change.ts'
import { openSnapshot } from './snapshot.ts'
import type { Loading, Snapshot, SnapshotOptions } from './snapshot.ts'

/**
 * Reads the stored records.
 * @param before the records read last, which stay in use while the store is unavailable
 */
export async function readStored({ records, log }: GatewayHost, before?: StoredRecords): Promise<StoredRecords> {
  if (records === undefined) return { revision: 0, records: [] }
  if (before === undefined) return records.read()
  return records.read().catch((error: unknown) => {
    log.warn({ err: error }, 'the stored records cannot be read again')
    return before
  })
}

/** Which stored records may be left out when a configuration is opened. */
export interface Misses {
  /** Records that may be left out so that the rest can be opened. */
  readonly may: (record: StoredRecord) => boolean
  /** Records that are known to fail and are not retried. */
  readonly known: Unopened
}

/**
 * At the start, any stored record may be left out; later, only those that are left out already, unless they are being
 * changed. A change does not retry records that could not be opened; `Following` does.
 */
export function missesOf(current: Snapshot | undefined, changes: readonly RecordChange[] = []): Misses {
  if (current === undefined) return { may: () => true, known: new Map() }
  const changed = new Set(changes.map((change) => storedName({ type: change.type, name: nameOf(change) })))
  const left = current.leftOut.flatMap((one) => {
    const name = storedName(one.stored)
    return changed.has(name) ? [] : [{ ...one, name }]
  })
  const out = new Set(left.map(({ name }) => name))
  const unopened = changes.length > 0 ? left.filter((one) => one.unopened) : []
  return {
    may: (record) => out.has(storedName(record)),
    known: new Map(unopened.map(({ name, findings }) => [name, findings])),
  }
}

/** Whether two configurations of the same files contain the same stored records, and leave out the same ones. */
export function holdsTheSame(one: Snapshot, other: Snapshot): boolean {
  const leftOut = ({ leftOut: left }: Snapshot) => new Set(left.map(({ stored }) => storedName(stored)))
  return one.revision === other.revision && leftOut(one).symmetricDifference(leftOut(other)).size === 0
}

/** Opens valid files together with stored records, or returns the findings about contradictions. */
export function openWithStored(
  files: Configuration,
  stored: StoredRecords,
  options: SnapshotOptions,
  { may, known }: Misses,
): Promise<Loading> {
  options.gateway.protect(secretsOfStored(stored.records, files.registry))
  return new StoredOpening(files, stored, options, may).open(known)
}

/** One opening of files and stored records, which may take several attempts. */
class StoredOpening {
  readonly #files: Configuration
  readonly #stored: StoredRecords
  readonly #options: SnapshotOptions
  readonly #may: Misses['may']

  constructor(files: Configuration, stored: StoredRecords, options: SnapshotOptions, may: Misses['may']) {
    this.#files = files
    this.#stored = stored
    this.#options = options
    this.#may = may
  }

  async open(known: Unopened): Promise<Loading> {
    const unopened = new Map(known)
    const loading = await this.#openWithoutNamed(unopened)
    return 'snapshot' in loading || this.#named(loading.diagnostics).length > 0
      ? loading
      : this.#openWithoutSome(unopened, loading)
  }

  /** Opens the configuration without the records that findings name; they are added to `unopened`. */
  async #openWithoutNamed(unopened: Map<string, readonly Diagnostic[]>): Promise<Loading> {
    for (;;) {
      const configuration = withStored(this.#files, this.#stored, unopened)
      const refused = (configuration.leftOut ?? []).filter((one) => !this.#may(one.stored))
      if (refused.length > 0) return { diagnostics: refused.flatMap(({ findings }) => findings) }
      const loading = await openSnapshot(configuration, this.#options)
      if ('snapshot' in loading) return loading
      const { sources, registry } = this.#files
      const diagnostics = hideSecrets(loading.diagnostics, sources, registry, this.#stored.records)
      const named = this.#named(diagnostics).filter((one) => this.#may(one) && !unopened.has(storedName(one)))
      if (named.length === 0) return { diagnostics }
      for (const one of named) {
        const name = storedName(one)
        const own = diagnostics.filter(({ file }) => file === name)
        unopened.set(name, own)
      }
    }
  }

  #named(findings: readonly Diagnostic[]): readonly StoredRecord[] {
    const files = new Set(findings.map(({ file }) => file))
    return this.#stored.records.filter((one) => files.has(storedName(one)))
  }

  /**
   * Used when no finding names the faulty record: opens the configuration without any optional record and, if that
   * works, finds the faulty ones by halving. A record is kept if the problem has disappeared meanwhile.
   */
  async #openWithoutSome(
    unopened: Unopened,
    failed: { readonly diagnostics: readonly Diagnostic[] },
  ): Promise<Loading> {
    const { leftOut = [] } = withStored(this.#files, this.#stored, unopened)
    const out = new Set(leftOut.map((one) => one.stored))
    // A record that refers to another was usually created later.
    const suspects = this.#stored.records
      .filter((one) => this.#may(one) && !out.has(one))
      .toSorted((left, right) => left.createdAt - right.createdAt)
    if (suspects.length === 0) return failed
    let without = new Map([...unopened, ...suspects.map((one) => [storedName(one), failed.diagnostics] as const)])
    const alone = await this.#openWithoutNamed(without)
    if ('diagnostics' in alone) return alone
    let opened = alone
    const add = async (group: readonly StoredRecord[]): Promise<void> => {
      const names = new Set(group.map(storedName))
      const trial = new Map([...without].filter(([name]) => !names.has(name)))
      const loading = await this.#openWithoutNamed(trial)
      if ('snapshot' in loading) {
        await opened.snapshot.close()
        opened = loading
        without = trial
      } else if (group.length === 1) without.set(storedName(group[0] as StoredRecord), loading.diagnostics)
      else {
        const half = Math.ceil(group.length / 2)
        await add(group.slice(0, half))
        await add(group.slice(half))
      }
    }
    await add(suspects)
    return opened
  }
}
