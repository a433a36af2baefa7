import { GatewayError } from '../spec/error.ts'
import type { RecordAccess, RecordChange } from '../spec/record.ts'
import type { StoredRecords } from '../store/records.ts'
import { commitChange } from './commit-change.ts'
import { logLive, logRefused } from './live-log.ts'
import { mayLeaveOut, openWithStored, readStored } from './open-stored.ts'
import type { HostStatus } from '../spec/stage.ts'
import { printDiagnostic } from '../config/diagnostics.ts'
import type { Diagnostic } from '../config/diagnostics.ts'
import { loadConfiguration } from './configuration.ts'
import type { Configuration } from './configuration.ts'
import { tellReload } from './told-reload.ts'
import { Users } from './users.ts'
import type { Loading, Snapshot, SnapshotOptions } from './snapshot.ts'

/** How a configuration is kept live. */
export interface LiveOptions extends Omit<SnapshotOptions, 'configStatus' | 'hold' | 'later'> {
  /** Hears of each configuration that goes live, the first one too, right before requests see it. */
  readonly onSwap?: (snapshot: Snapshot) => void
}

/**
 * The running configuration. A request lives in one snapshot from start to end; an old one is closed when its last user
 * has left. A broken configuration is refused and the last good one stays.
 */
export class Live {
  readonly #options: LiveOptions
  readonly #users = new Users((snapshot) => {
    if (snapshot !== this.#current) this.#later(snapshot.close())
  })
  readonly #retiring = new Set<Promise<void>>()
  #current: Snapshot | undefined
  #error: string | undefined
  /** The files that run. */
  #files: Configuration | undefined
  /** The stored records that run, and the revision of later ones that contradict the files. */
  #stored: StoredRecords | undefined
  #refused: number | undefined
  /** What was read last, whether it went live or was refused. */
  #read: Configuration | undefined
  #loading: Promise<unknown> = Promise.resolve()
  /** What opens a configuration that was read; reading opens nothing, and is not waited for at the end. */
  #opening: Promise<unknown> = Promise.resolve()
  #closing: Promise<void> | undefined

  private constructor(options: LiveOptions) {
    this.#options = options
  }

  /** Loads the first configuration; diagnostics when it is refused. */
  static async start(
    options: LiveOptions,
  ): Promise<{ readonly live: Live } | { readonly diagnostics: readonly Diagnostic[] }> {
    const live = new Live(options)
    const diagnostics = await live.reload()
    if (diagnostics.length > 0) await Promise.all(live.#retiring)
    return diagnostics.length > 0 ? { diagnostics } : { live }
  }

  /** The running configuration. Throws after `close`. */
  get current(): Snapshot {
    if (this.#current === undefined || this.#closing) throw new Error('the configuration is closed')
    return this.#current
  }

  /** Version of the running configuration, and the first finding in a newer one that was refused. */
  get status(): HostStatus['config'] {
    return { version: this.#current?.version ?? '', ...(this.#error === undefined ? {} : { error: this.#error }) }
  }

  /** Folders in which a change may change the configuration. */
  get folders(): readonly string[] {
    return this.#read?.folders ?? []
  }

  /** `text` without any secret the house knows of. */
  readonly scrub = (text: string): string => this.#options.house.scrub(text)

  /** The running configuration, held until it is released. */
  acquire(): Snapshot {
    const snapshot = this.current
    this.#users.add(snapshot)
    return snapshot
  }

  /** Gives back what `acquire` gave. */
  release(snapshot: Snapshot): void {
    this.#users.remove(snapshot)
  }

  /** Holds a configuration for an exchange that ends by itself, and that `cut` reaches. Throws where it is closed. */
  readonly hold = (snapshot: Snapshot, cut: (reason: GatewayError) => void): (() => void) => {
    if (!this.#users.has(snapshot) && snapshot !== this.#current) throw new Error('the configuration is closed')
    return this.#users.addApart(snapshot, cut)
  }

  /** Ends what still holds a configuration by itself. */
  cut(reason: GatewayError): void {
    this.#users.cut(reason)
  }

  /** Reads the configuration again and swaps it in, or answers why not. Reloads follow one another. */
  reload(): Promise<readonly Diagnostic[]> {
    return this.#next((configuration) => this.#swap(configuration))
  }

  /** Like `reload`, but leaves everything as it is when no file differs from what was read last. */
  reloadIfChanged(): Promise<readonly Diagnostic[]> {
    return this.#next((configuration, before) =>
      configuration.version === before?.version ? [] : this.#swap(configuration),
    )
  }

  /** Changes a stored record. Changes and reloads follow one another. */
  readonly change: RecordAccess['change'] = (change, by) =>
    this.#queued(() => {
      const [snapshot, files] = [this.#current, this.#files]
      if (this.#closing || snapshot === undefined || files === undefined) throw new GatewayError('draining')
      return commitChange(change, by, {
        house: this.#options.house,
        snapshot,
        files,
        open: (stored) => this.#open(files, stored, change),
        goLive: (next, stored) => this.#goLive(next, files, stored),
      })
    })

  /** Takes over what other processes have changed of the stored records. Never rejects. */
  async follow(): Promise<void> {
    const { records, log } = this.#options.house
    const isKnown = (revision: number) => revision === this.#stored?.revision || revision === this.#refused
    try {
      if (records === undefined || isKnown(await records.revision())) return
      await this.#queued(async () => {
        const [stored, files] = [await records.read(), this.#files]
        if (this.#closing || files === undefined || isKnown(stored.revision)) return
        const loading = await this.#open(files, stored)
        if ('snapshot' in loading) await this.#goLive(loading.snapshot, files, stored)
        else {
          this.#refused = stored.revision
          logRefused(log, loading.diagnostics, this.#current)
        }
      })
    } catch (error) {
      log.warn({ err: error }, 'the stored records cannot be read again')
    }
  }

  /** Does one thing after the other; whoever asks hears of its failure, the next does not. */
  #queued<T>(work: () => T | Promise<T>): Promise<T> {
    const done = this.#loading.then(() => {
      const working = Promise.resolve(work())
      this.#opening = working.catch(() => undefined)
      return working
    })
    this.#loading = done.catch(() => undefined)
    return done
  }

  /**
   * Waits for the users of every configuration, for at most `deadline` milliseconds, and closes them. From now on
   * nothing can be acquired.
   */
  close(deadline = 30_000): Promise<void> {
    return (this.#closing ??= this.#end(deadline))
  }

  async #end(deadline: number): Promise<void> {
    const { promise: over, resolve } = Promise.withResolvers<void>()
    const timer = setTimeout(resolve, deadline)
    await Promise.race([this.#opening, over])
    const last = this.#current
    this.#current = undefined
    if (last !== undefined && !this.#users.has(last)) this.#later(last.close())
    await Promise.race([this.#users.idle(), over])
    const left = this.#users.clear()
    if (left.length > 0) this.#options.house.log.error('requests still hold a configuration; it closes all the same')
    for (const snapshot of left) this.#later(snapshot.close())
    await Promise.race([Promise.all(this.#retiring), over])
    clearTimeout(timer)
  }

  #next(
    use: (
      configuration: Configuration,
      before: Configuration | undefined,
    ) => readonly Diagnostic[] | Promise<readonly Diagnostic[]>,
  ): Promise<readonly Diagnostic[]> {
    const done = this.#loading.then(async () => {
      if (this.#closing) return []
      return tellReload(this.#current?.version, async () => {
        const [before, old] = [this.#read, this.#current]
        const read = (this.#read = await loadConfiguration(this.#options))
        if (this.#closing) return { version: read.version, findings: [], live: false }
        const opening = Promise.resolve(use(read, before))
        this.#opening = opening.catch(() => undefined)
        return { version: read.version, findings: await opening, live: this.#current !== old }
      })
    })
    // The next reload waits for this one, whatever becomes of it; its caller hears of a failure.
    this.#loading = done.catch(() => undefined)
    return done
  }

  /** Builds files and what is stored, and swaps them in; or keeps what runs, and answers why. */
  async #swap(files: Configuration): Promise<readonly Diagnostic[]> {
    if (files.settings === undefined || files.diagnostics.length > 0) return this.#refuse(files.diagnostics)
    const { house } = this.#options
    await house.open?.(files.settings)
    const stored = await readStored(house, this.#stored)
    const loading = await this.#open(files, stored)
    if ('diagnostics' in loading) return this.#refuse(loading.diagnostics)
    const isFirst = this.#current === undefined
    if (!(await this.#goLive(loading.snapshot, files, stored))) return []
    this.#error = undefined
    logLive(house.log, loading.snapshot, isFirst)
    return []
  }

  #refuse(findings: readonly Diagnostic[]): readonly Diagnostic[] {
    this.#error = this.scrub(findings.slice(0, 1).map(printDiagnostic).join() || 'refused')
    logRefused(this.#options.house.log, findings, this.#current)
    return findings
  }

  /** Opens files with what is stored. */
  #open(files: Configuration, stored: StoredRecords, changed?: RecordChange): Promise<Loading> {
    const options = {
      ...this.#options,
      configStatus: () => this.status,
      recordsStatus: () => (this.#refused !== undefined || this.#current?.leftOut.length ? ['records'] : []),
      changeRecord: this.change,
      hold: this.hold,
      later: this.#later,
    }
    return openWithStored(files, stored, options, mayLeaveOut(this.#current, changed))
  }

  /** Swaps a configuration in; false: everything ends, and it was closed. */
  async #goLive(snapshot: Snapshot, files: Configuration, stored: StoredRecords): Promise<boolean> {
    if (this.#closing) {
      await snapshot.close()
      return false
    }
    const old = this.#current
    this.#options.onSwap?.(snapshot)
    this.#current = snapshot
    this.#files = files
    this.#stored = stored
    this.#refused = undefined
    snapshot.live()
    if (old !== undefined && !this.#users.has(old)) this.#later(old.close())
    return true
  }

  readonly #later = (closed: Promise<void>): void => {
    const closing = closed.finally(() => this.#retiring.delete(closing))
    this.#retiring.add(closing)
  }
}
