import type { Logger } from 'pino'
import { wordsOfThrown } from '../config/plugin-error.ts'
import { within } from './within.ts'
import type { RefusedAction } from '../spec/access.ts'
import type { TableQueries } from '../spec/database.ts'
import type { RecordChanged, RecordLookup } from '../spec/record-access.ts'
import type { Requester } from '../spec/principal.ts'
import type { AnyService, OpenService } from '../spec/service.ts'
import type { ServiceHost } from '../spec/service-host.ts'

type Open = OpenService<unknown, unknown, unknown>

/** An open service and the number of configurations that use it. */
interface Held {
  readonly service: AnyService
  readonly open: Open
  users: number
}

/** Timeout in milliseconds for opening a service, and for configuring it. */
const openDeadline = 60_000

/** Timeout in milliseconds for closing one thing. */
const closeDeadline = 10_000

/** Timeout in milliseconds for a service to witness a change, which blocks all other statements on SQLite, or a refusal. */
const witnessDeadline = 5_000

/** What opening services takes. */
export interface Opening {
  readonly log: Logger
  /** Migrates the tables of a service, and returns its host. */
  prepare(service: AnyService): Promise<ServiceHost>
}

/**
 * The open services of a process. Each declaration is opened once, with the first configuration that contains it, and
 * closed after the last one. A changed plugin declares its services anew: they are opened next to the old ones.
 */
export class OpenServices {
  readonly #opening: Opening
  readonly #held = new Map<AnyService, Held>()
  readonly #closing = new Map<AnyService, Promise<void>>()
  #told: ReadonlyMap<string, string> = new Map()
  /** When the last one should be closed, in milliseconds of `performance.now()`. */
  #end = Infinity

  constructor(opening: Opening) {
    this.#opening = opening
  }

  /** Returns the service, opened if necessary, and counts the use. Each use must be released with `release`. */
  async take(service: AnyService): Promise<Open> {
    // Opening it before the old one is closed would give it two states at a time.
    await this.#closing.get(service)
    const held = this.#held.get(service) ?? { service, open: await this.#open(service), users: 0 }
    this.#held.set(service, held)
    held.users += 1
    return held.open
  }

  /** Closes the service after its last use. Never rejects. */
  async release(service: AnyService): Promise<void> {
    const held = this.#held.get(service)
    if (held === undefined || --held.users > 0) return
    await this.#close(held)
  }

  /** Asks those of the services that are open whether the change of a record is allowed. Rejects with the first refusal. */
  async admit(services: Iterable<AnyService>, change: RecordChanged, next: RecordLookup): Promise<void> {
    for (const service of services) await this.#held.get(service)?.open.admit?.(change, next)
  }

  /**
   * Lets those of the services that are open witness the change of a record. Rejects with the first error, or when a
   * service takes too long.
   */
  async witness(
    services: Iterable<AnyService>,
    transaction: TableQueries,
    change: RecordChanged,
    by: Requester | undefined,
  ): Promise<void> {
    for (const service of services) {
      const witnessed = this.#held.get(service)?.open.witness?.(transaction, change, by)
      const late = `the service "${service.name}" had not witnessed a change after ${witnessDeadline / 1_000} seconds`
      if (witnessed !== undefined) await within(Promise.resolve(witnessed), witnessDeadline, late)
    }
  }

  /** Tells those of the services that are open of a refused change. Never rejects. */
  async refused(services: Iterable<AnyService>, refused: RefusedAction): Promise<void> {
    for (const service of services) {
      const late = `the service "${service.name}" had not noted a refusal after ${witnessDeadline / 1_000} seconds`
      try {
        await within(Promise.resolve(this.#held.get(service)?.open.refused?.(refused)), witnessDeadline, late)
      } catch (error) {
        this.#opening.log.error({ err: error, service: service.name }, 'a service could not note a refused request')
      }
    }
  }

  /** The degraded services by name, with the reason that each reports. */
  get degraded(): ReadonlyMap<string, string> {
    const told = [...this.#held.values()].map(({ service, open }) => [service.name, statusOf(open)] as const)
    return new Map(told.flatMap(([name, reason]) => (reason === undefined ? [] : [[name, reason]])))
  }

  /** Logs services that became degraded since the last call, and those that work again. */
  tell(): void {
    const { log } = this.#opening
    const now = this.degraded
    for (const [service, reason] of now)
      if (this.#told.get(service) !== reason) log.warn({ service, reason }, 'a service is degraded')
    for (const service of this.#told.keys()) if (!now.has(service)) log.info({ service }, 'a service works again')
    this.#told = now
  }

  /** The gateway stops: services that have something to send or to write have this many milliseconds for it. */
  endWithin(limit: number): void {
    this.#end = performance.now() + limit
  }

  /** Closes all open services, last opened first. Never rejects. */
  async close(): Promise<void> {
    for (const held of [...this.#held.values()].reverse()) await this.#close(held)
    await Promise.all(this.#closing.values())
  }

  async #open(service: AnyService): Promise<Open> {
    // A service without `open` has its settings as its view.
    if (service.open === undefined) return { configure: (settings) => ({ view: settings }) }
    const host = await this.#opening.prepare(service)
    return inTime(service.open(host), 'it was not open', (open) => this.#endOne(service, open))
  }

  async #close({ service, open }: Held): Promise<void> {
    this.#held.delete(service)
    const closing = this.#endOne(service, open).finally(() => this.#closing.delete(service))
    this.#closing.set(service, closing)
    await closing
  }

  #endOne({ name }: AnyService, open: Open): Promise<void> {
    const limit = Math.min(closeDeadline, Math.max(0, this.#end - performance.now()))
    return closeInTime(
      () => open.close?.(limit),
      (error) => this.#opening.log.error({ err: error, service: name }, 'a service could not be closed'),
    )
  }
}

/** The result of `work`. On timeout, it rejects, and a late result is undone. */
export async function inTime<T>(work: T | Promise<T>, late: string, undo: (made: T) => unknown): Promise<T> {
  const working = Promise.resolve(work)
  try {
    return await within(working, openDeadline, `${late} after ${openDeadline / 1_000} seconds`)
  } catch (error) {
    // A failure of `work` was already reported above.
    working.then(undo, () => undefined)
    throw error
  }
}

/** Closes something. A failure or a timeout is reported through `tell`. Never rejects. */
export async function closeInTime(close: () => unknown, tell: (error: unknown) => void): Promise<void> {
  try {
    await within(Promise.resolve(close()), closeDeadline, `it was not closed after ${closeDeadline / 1_000} seconds`)
  } catch (error) {
    tell(error)
  }
}

function statusOf(open: Open): string | undefined {
  try {
    return open.status?.()
  } catch (error) {
    return `its state cannot be told: ${wordsOfThrown(error)}`
  }
}
