import type { GatewayError } from '../spec/error.ts'
import type { HostStatus } from '../spec/stage.ts'
import { printDiagnostic } from '../config/diagnostics.ts'
import type { Diagnostic } from '../config/diagnostics.ts'
import { loadConfiguration } from './configuration.ts'
import type { Configuration } from './configuration.ts'
import { openSnapshot } from './snapshot.ts'
import { tellReload } from './told-reload.ts'
import type { Snapshot, SnapshotOptions } from './snapshot.ts'

/** How a configuration is kept live. */
export interface LiveOptions extends Omit<SnapshotOptions, 'configStatus' | 'hold'> {
  /** Hears of each configuration that goes live, the first one too, right before requests see it. */
  readonly onSwap?: (snapshot: Snapshot) => void
}

/**
 * The running configuration. A request lives in one snapshot from start to end; an old one is closed when its last user
 * has left. A broken configuration is refused and the last good one stays.
 */
export class Live {
  readonly #options: LiveOptions
  readonly #users = new Map<Snapshot, number>()
  readonly #retiring = new Set<Promise<void>>()
  /** What ends the exchanges that hold a configuration by themselves. */
  readonly #apart = new Set<(reason: GatewayError) => void>()
  #current: Snapshot | undefined
  #error: string | undefined
  /** What was read last, whether it went live or was refused. */
  #read: Configuration | undefined
  #loading: Promise<unknown> = Promise.resolve()
  /** What opens a configuration that was read; reading opens nothing, and is not waited for at the end. */
  #opening: Promise<unknown> = Promise.resolve()
  #closing: Promise<void> | undefined
  #idle: () => void = () => undefined

  private constructor(options: LiveOptions) {
    this.#options = options
  }

  /** Loads the first configuration; diagnostics when it is refused. */
  static async start(
    options: LiveOptions,
  ): Promise<{ readonly live: Live } | { readonly diagnostics: readonly Diagnostic[] }> {
    const live = new Live(options)
    const diagnostics = await live.reload()
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
    this.#users.set(snapshot, (this.#users.get(snapshot) ?? 0) + 1)
    return snapshot
  }

  /** Gives back what `acquire` gave. */
  release(snapshot: Snapshot): void {
    const held = this.#users.get(snapshot)
    // After the deadline of `close` nothing is held any more.
    if (held === undefined) return
    if (held > 1) {
      this.#users.set(snapshot, held - 1)
      return
    }
    this.#users.delete(snapshot)
    if (snapshot !== this.#current) this.#retire(snapshot)
    if (this.#users.size === 0) this.#idle()
  }

  /** Holds a configuration for an exchange that ends by itself, and that `cut` reaches. Throws where it is closed. */
  readonly hold = (snapshot: Snapshot, cut: (reason: GatewayError) => void): (() => void) => {
    const users = this.#users.get(snapshot)
    if (users === undefined && snapshot !== this.#current) throw new Error('the configuration is closed')
    this.#users.set(snapshot, (users ?? 0) + 1)
    this.#apart.add(cut)
    return () => {
      this.#apart.delete(cut)
      this.release(snapshot)
    }
  }

  /** Ends what still holds a configuration by itself. */
  cut(reason: GatewayError): void {
    for (const end of this.#apart) end(reason)
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
    if (last !== undefined && !this.#users.has(last)) this.#retire(last)
    if (this.#users.size > 0) await Promise.race([new Promise<void>((idle) => (this.#idle = idle)), over])
    if (this.#users.size > 0)
      this.#options.house.log.error('requests still hold a configuration; it closes all the same')
    for (const snapshot of this.#users.keys()) this.#retire(snapshot)
    this.#users.clear()
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

  async #swap(configuration: Configuration): Promise<readonly Diagnostic[]> {
    const { log } = this.#options.house
    const loading = await openSnapshot(configuration, {
      ...this.#options,
      configStatus: () => this.status,
      hold: this.hold,
    })
    if ('diagnostics' in loading) {
      const lines = loading.diagnostics.map(printDiagnostic)
      this.#error = this.scrub(lines[0] ?? 'refused')
      for (const line of lines) log.error(line)
      if (this.#current)
        log.error({ version: this.#current.version }, 'the new configuration is refused; the last good one stays')
      return loading.diagnostics
    }
    if (this.#closing) {
      await loading.snapshot.close()
      return []
    }
    const old = this.#current
    this.#options.onSwap?.(loading.snapshot)
    this.#current = loading.snapshot
    loading.snapshot.live()
    this.#error = undefined
    const { warnings, off, without } = loading.snapshot
    for (const line of warnings.map(printDiagnostic)) log.warn(line)
    // Where nobody wrote a configuration, nobody asked for what is off.
    if (without === undefined) for (const line of off) log.warn(line)
    // The first one serves only once the gateway listens; whoever serves it says so.
    if (old !== undefined) log.info({ version: loading.snapshot.version }, 'the configuration is live')
    if (old !== undefined && !this.#users.has(old)) this.#retire(old)
    return []
  }

  #retire(snapshot: Snapshot): void {
    const closing = snapshot.close().finally(() => this.#retiring.delete(closing))
    this.#retiring.add(closing)
  }
}
