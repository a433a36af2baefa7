import { printDiagnostic } from '../config/diagnostics.ts'
import type { Diagnostic } from '../config/diagnostics.ts'
import { GatewayError } from '../spec/error.ts'
import { serveErrors } from '../spec/error-table.ts'
import type { RecordAccess, RecordChange } from '../spec/record-access.ts'
import type { HostStatus } from '../spec/host.ts'
import type { RunningState } from '../spec/running.ts'
import type { StoredRecords } from '../store/records.ts'
import { commitChanges } from './commit-change.ts'
import { loadConfiguration } from './load-configuration.ts'
import type { Configuration } from '../records/configuration.ts'
import { Following } from './following.ts'
import { RunningStatus } from './running.ts'
import { holdsTheSame, missesOf, openWithStored, readStored } from './open-stored.ts'
import type { Loading, Snapshot, SnapshotOptions } from './snapshot.ts'
import { tellReload } from '../telling/channels.ts'
import { Users } from './users.ts'
import type { Logger } from 'pino'

type Findings = readonly Diagnostic[]

/** Options for keeping a configuration live. */
interface LiveOptions extends Omit<SnapshotOptions, 'configStatus' | 'hold' | 'later'> {
  /** Called with each configuration that goes live, including the first, just before requests see it. */
  readonly onSwap?: (snapshot: Snapshot) => void
}

/**
 * The running configuration. A request uses one snapshot from start to end; an old snapshot is closed when its last
 * user has finished. A broken configuration is refused, and the last good one stays.
 */
export class Live {
  readonly #options: LiveOptions
  readonly #status: RunningStatus
  readonly #users = new Users()
  readonly #following: Following
  #current: Snapshot | undefined
  /** The loaded files of the running configuration. */
  #files: Configuration | undefined
  /** The stored records of the running configuration. */
  #stored: StoredRecords | undefined
  /** The latest loaded files, whether they went live or were refused. */
  #read: Configuration | undefined
  readonly #turns = new Turns()
  #closing: Promise<void> | undefined

  private constructor(options: LiveOptions) {
    this.#options = options
    const { gateway, root = process.cwd() } = options
    this.#status = new RunningStatus(root)
    this.#following = new Following({
      log: gateway.log,
      revision: async () => (await gateway.records?.revision()) ?? 0,
      isLive: (revision) =>
        revision === this.#stored?.revision && this.#current?.leftOut.every(({ unopened }) => !unopened) === true,
      adopt: () => this.#turns.take(() => this.#turns.opens(this.#adopt())),
      refused: (findings) => logRefused(gateway.log, findings, this.#current),
    })
  }

  /** Loads the first configuration; returns diagnostics when it is refused. */
  static async start(
    options: LiveOptions,
  ): Promise<{ readonly live: Live } | { readonly diagnostics: readonly Diagnostic[] }> {
    const live = new Live(options)
    const diagnostics = await live.reload()
    if (diagnostics.length > 0) await live.#users.closed()
    return diagnostics.length > 0 ? { diagnostics } : { live }
  }

  /** The running configuration. Throws after `close`. */
  get current(): Snapshot {
    if (this.#current === undefined || this.#closing) throw new Error('the configuration is closed')
    return this.#current
  }

  /** Version of the running configuration, and the first finding of a newer one that was refused. */
  get status(): HostStatus['config'] {
    return this.#status.config(this.#current, this.scrub)
  }

  get refusal(): RunningState['refused'] {
    return this.#status.refusal
  }

  /** Warns once of a peer that is no trusted proxy, and names its clients in `x-forwarded-for`. */
  noteUntrusted(peer: string): void {
    if (this.#status.hasUntrusted || this.#files === undefined) return
    const message = `x-forwarded-for comes from ${peer}, which is not among them, so that all its clients have its address; name it if it is your proxy`
    const path = ['server_config', 'security', 'trusted_proxies']
    const warning = { ...this.#files.source.report(path, 'untrusted-proxy', message), warning: true as const }
    this.#status.untrusted(peer, warning)
    this.#options.gateway.log.warn(printDiagnostic(warning))
  }

  /** Folders to watch for changes of the configuration. */
  get folders(): readonly string[] {
    return this.#read?.folders ?? []
  }

  /** Returns `text` with all known secrets redacted. */
  readonly scrub = (text: string): string => this.#options.gateway.scrub(text)

  /** The running configuration, held until it is released. */
  acquire(): Snapshot {
    const snapshot = this.current
    this.#users.add(snapshot)
    return snapshot
  }

  /** Releases what `acquire` returned. */
  release(snapshot: Snapshot): void {
    this.#users.remove(snapshot)
  }

  /**
   * Holds a configuration for an exchange that ends on its own, and that `cut` aborts. Throws once the configuration is
   * closed.
   */
  readonly hold = (snapshot: Snapshot, cut: (reason: GatewayError) => void): (() => void) => {
    if (!this.#users.has(snapshot) && snapshot !== this.#current) throw new Error('the configuration is closed')
    return this.#users.addApart(snapshot, cut)
  }

  /** Aborts all exchanges added by `hold`. */
  cut(reason: GatewayError): void {
    this.#users.cut(reason)
  }

  /** Reloads the configuration and makes it live, or returns the findings. Reloads run one after the other. */
  reload(): Promise<readonly Diagnostic[]> {
    return this.#next((configuration) => this.#swap(configuration))
  }

  /** Like `reload`, but does nothing if no file has changed since the last load. */
  reloadIfChanged(): Promise<readonly Diagnostic[]> {
    return this.#next((configuration, before) =>
      configuration.version === before?.version ? [] : this.#swap(configuration),
    )
  }

  /** Changes stored records. Changes and reloads run one after the other. */
  readonly changeAll: RecordAccess['changeAll'] = (...changing) =>
    this.#turns.take(() => {
      const [snapshot, files] = [this.#current, this.#files]
      if (this.#closing || snapshot === undefined || files === undefined) throw new GatewayError('draining')
      const changed = commitChanges(changing, {
        gateway: this.#options.gateway,
        snapshot,
        files,
        open: (stored, changes) => this.#open(files, stored, changes),
        goLive: (next, stored) => this.#goLiveWith(next, files, stored),
      })
      return this.#turns.opens(changed)
    })

  /** Applies changes of stored records by other processes, and retries what could not be opened. Never rejects. */
  follow(): Promise<void> {
    return this.#following.look()
  }

  /**
   * Waits for the users of all configurations, for at most `deadline` milliseconds, and closes them. From then on,
   * `acquire` throws.
   */
  close(deadline = 30_000): Promise<void> {
    return (this.#closing ??= this.#end(deadline))
  }

  async #end(deadline: number): Promise<void> {
    const { promise: over, resolve } = Promise.withResolvers<void>()
    const timer = setTimeout(resolve, deadline)
    await Promise.race([this.#turns.opened, over])
    const last = this.#current
    this.#current = undefined
    if (last !== undefined) this.#users.retire(last)
    await Promise.race([this.#users.idle(), over])
    if (this.#users.evict() > 0)
      this.#options.gateway.log.error('requests still use a configuration; it is closed anyway')
    await Promise.race([this.#users.closed(), over])
    clearTimeout(timer)
  }

  #next(use: (files: Configuration, before?: Configuration) => Findings | Promise<Findings>): Promise<Findings> {
    return this.#turns.take(async () => {
      if (this.#closing) return []
      return tellReload(this.#current?.version, async () => {
        const [before, old] = [this.#read, this.#current]
        const read = (this.#read = await loadConfiguration(this.#options))
        if (this.#closing) return { version: read.version, findings: [], live: false }
        // Loading opens nothing, so `close` does not wait for it.
        const findings = await this.#turns.opens(use(read, before))
        return { version: read.version, findings, live: this.#current !== old }
      })
    })
  }

  /**
   * Opens files with the stored records and makes them live; otherwise keeps the running configuration and returns the
   * findings.
   */
  async #swap(files: Configuration): Promise<readonly Diagnostic[]> {
    if (files.settings === undefined || files.diagnostics.length > 0) return this.#refuse(files.diagnostics)
    if (files.blank && this.#files && !this.#files.blank) return this.#refuse([files.blank])
    const { gateway } = this.#options
    await gateway.open?.(files.settings)
    const stored = await readStored(gateway, this.#stored)
    const loading = await this.#open(files, stored)
    if ('diagnostics' in loading) return this.#refuse(loading.diagnostics)
    const isFirst = this.#current === undefined
    if (!(await this.#goLive(loading.snapshot, files, stored))) return []
    this.#status.accepted()
    logLive(gateway.log, loading.snapshot, isFirst)
    return []
  }

  #refuse(findings: readonly Diagnostic[]): readonly Diagnostic[] {
    this.#status.refused(findings)
    logRefused(this.#options.gateway.log, findings, this.#current)
    return findings
  }

  /** Like `#swap`, with the running files. */
  async #adopt(): Promise<readonly Diagnostic[]> {
    const { records } = this.#options.gateway
    const [files, before] = [this.#files, this.#current]
    if (this.#closing || records === undefined || files === undefined) return []
    const stored = await records.read()
    const loading = await this.#open(files, stored)
    if ('diagnostics' in loading) return loading.diagnostics
    const { snapshot } = loading
    if (before && holdsTheSame(before, snapshot)) await snapshot.close()
    else await this.#goLiveWith(snapshot, files, stored)
    return []
  }

  /** Opens files with stored records. */
  #open(files: Configuration, stored: StoredRecords, changes?: readonly RecordChange[]): Promise<Loading> {
    const options = {
      ...this.#options,
      configStatus: () => this.status,
      recordsStatus: () => (this.#following.isBehind || this.#current?.leftOut.length ? ['records'] : []),
      changeRecords: this.changeAll,
      running: this.#status.shown(this),
      hold: this.hold,
      later: this.#users.closes,
    }
    return openWithStored(files, stored, options, missesOf(this.#current, changes))
  }

  /** Makes a configuration live. Returns false if the gateway is closing; the configuration is then closed. */
  async #goLive(snapshot: Snapshot, files: Configuration, stored: StoredRecords): Promise<boolean> {
    if (this.#closing) {
      await snapshot.close()
      return false
    }
    const old = this.#current
    serveErrors(snapshot.registry.errors)
    this.#options.onSwap?.(snapshot)
    this.#current = snapshot
    this.#status.wentLive()
    this.#files = files
    this.#stored = stored
    this.#following.caughtUp()
    snapshot.views.live()
    if (old !== undefined) this.#users.retire(old)
    return true
  }

  /** Makes a configuration live that differs only in its stored records, and logs it. */
  async #goLiveWith(snapshot: Snapshot, files: Configuration, stored: StoredRecords): Promise<void> {
    const before = this.#current
    if ((await this.#goLive(snapshot, files, stored)) && before)
      logRecordsLive(this.#options.gateway.log, snapshot, before)
  }
}

/** Logs why a configuration does not go live. */
function logRefused(log: Logger, findings: readonly Diagnostic[], current: Snapshot | undefined): void {
  for (const finding of findings) log.error(printDiagnostic(finding))
  if (current) log.error({ version: current.version }, 'the new configuration is refused; the last good one stays')
}

/** Logs that a configuration is live, with its warnings. */
function logLive(log: Logger, snapshot: Snapshot, isFirst: boolean): void {
  for (const line of worthKnowing(snapshot)) log.warn(line)
  // The first configuration serves only once the gateway listens, which is logged elsewhere.
  if (!isFirst) log.info({ version: snapshot.version }, 'the configuration is live')
}

/** Logs that the current stored records are live, with warnings that are new. */
function logRecordsLive(log: Logger, snapshot: Snapshot, before: Snapshot): void {
  const told = new Set(worthKnowing(before))
  for (const line of worthKnowing(snapshot)) if (!told.has(line)) log.warn(line)
  for (const { stored } of before.leftOut)
    if (snapshot.records.get(stored.type)?.some(({ name, given }) => given.stored && name === stored.name))
      log.info(`${stored.type} "${stored.name}" is no longer left out`)
  log.info({ version: snapshot.version }, 'the stored records are live')
}

function worthKnowing({ warnings, off, without }: Snapshot): readonly string[] {
  // Without a configuration file, the providers that are off are of no interest.
  return [...warnings.map(printDiagnostic), ...(without === undefined ? off : [])]
}

/** Runs reloads and changes of a configuration one after the other. */
export class Turns {
  #last: Promise<unknown> = Promise.resolve()
  #opening: Promise<unknown> = Promise.resolve()

  /** Runs `work` after all earlier work has ended. Its failure reaches its caller only. */
  take<T>(work: () => T | Promise<T>): Promise<T> {
    const done = this.#last.then(work)
    this.#last = done.catch(() => undefined)
    return done
  }

  /** Marks the current work as opening something, for which `opened` waits. */
  opens<T>(working: T | Promise<T>): Promise<T> {
    const opening = Promise.resolve(working)
    this.#opening = opening.catch(() => undefined)
    return opening
  }

  /** Resolves when the work marked by `opens` has ended. */
  get opened(): Promise<unknown> {
    return this.#opening
  }
}
