import type { Logger } from 'pino'
import { wordsOfThrown } from '../config/plugin-error.ts'
import { within } from '../config/within.ts'
import type { TableQueries } from '../spec/database.ts'
import type { RecordChanged } from '../spec/record.ts'
import type { Principal } from '../spec/slots.ts'
import type { AnyService, OpenService, ServiceHost } from '../spec/service.ts'

type Open = OpenService<unknown, unknown, unknown>

/** An open service and the configurations that use it. */
interface Held {
  readonly service: AnyService
  readonly open: Open
  users: number
}

/** Milliseconds that a service may take to open, and to be configured. */
const openDeadline = 60_000

/** Milliseconds that the closing of one thing is waited for. */
const closeDeadline = 10_000

/** Milliseconds that one service may take to witness a change: meanwhile SQLite answers nobody else. */
const witnessDeadline = 5_000

/** What services are opened with. */
export interface Opening {
  readonly log: Logger
  /** Brings the tables of a service up to date, and gives what it is opened with. */
  prepare(service: AnyService): Promise<ServiceHost>
}

/**
 * The open services of a process: each declaration is opened once, with the first configuration that has it, and closed
 * when none has it any more. A changed plugin declares its services anew: they open beside the old ones.
 */
export class OpenServices {
  readonly #opening: Opening
  readonly #held = new Map<AnyService, Held>()
  readonly #closing = new Map<AnyService, Promise<void>>()
  #told: ReadonlyMap<string, string> = new Map()

  constructor(opening: Opening) {
    this.#opening = opening
  }

  /** The service, opened if it is not yet, and counted. Give each back with `release`. */
  async take(service: AnyService): Promise<Open> {
    // Opened again, it would have two states at the same time.
    await this.#closing.get(service)
    const held = this.#held.get(service) ?? { service, open: await this.#open(service), users: 0 }
    this.#held.set(service, held)
    held.users += 1
    return held.open
  }

  /** Closes the service when this was the last that used it. Never rejects. */
  async release(service: AnyService): Promise<void> {
    const held = this.#held.get(service)
    if (held === undefined || --held.users > 0) return
    await this.#close(held)
  }

  /**
   * Lets those of these services that are open witness the change of a record. Rejects with the first one's error, and
   * when one takes too long.
   */
  async witness(
    services: Iterable<AnyService>,
    transaction: TableQueries,
    change: RecordChanged,
    by: Principal | undefined,
  ): Promise<void> {
    for (const service of services) {
      const witnessed = this.#held.get(service)?.open.witness?.(transaction, change, by)
      const late = `the service "${service.name}" had not witnessed a change after ${witnessDeadline / 1_000} seconds`
      if (witnessed !== undefined) await within(Promise.resolve(witnessed), witnessDeadline, late)
    }
  }

  /** What is degraded, by the names of services: what each says of it. */
  get degraded(): ReadonlyMap<string, string> {
    const told = [...this.#held.values()].map(({ service, open }) => [service.name, statusOf(open)] as const)
    return new Map(told.flatMap(([name, reason]) => (reason === undefined ? [] : [[name, reason]])))
  }

  /** Logs what is degraded since this was asked last, and what works again. */
  tell(): void {
    const { log } = this.#opening
    const now = this.degraded
    for (const [service, reason] of now)
      if (this.#told.get(service) !== reason) log.warn({ service, reason }, 'a service is degraded')
    for (const service of this.#told.keys()) if (!now.has(service)) log.info({ service }, 'a service works again')
    this.#told = now
  }

  /** Closes all that are open, the last first. Never rejects. */
  async close(): Promise<void> {
    for (const held of [...this.#held.values()].reverse()) await this.#close(held)
    await Promise.all(this.#closing.values())
  }

  async #open(service: AnyService): Promise<Open> {
    // A service that is not opened is its settings.
    if (service.open === undefined) return { configure: (settings) => ({ view: settings }) }
    const host = await this.#opening.prepare(service)
    return inTime(service.open(host), 'it was not open', (open) => this.#end(service, open))
  }

  async #close({ service, open }: Held): Promise<void> {
    this.#held.delete(service)
    const closing = this.#end(service, open).finally(() => this.#closing.delete(service))
    this.#closing.set(service, closing)
    await closing
  }

  #end({ name }: AnyService, open: Open): Promise<void> {
    return closeInTime(
      () => open.close?.(),
      (error) => this.#opening.log.error({ err: error, service: name }, 'a service could not be closed'),
    )
  }
}

/** What `work` resolves to. When it takes too long it is not waited for, and what comes of it after all is undone. */
export async function inTime<T>(work: T | Promise<T>, late: string, undo: (made: T) => unknown): Promise<T> {
  const working = Promise.resolve(work)
  try {
    return await within(working, openDeadline, `${late} after ${openDeadline / 1_000} seconds`)
  } catch (error) {
    // The failure of the work itself is told by this one.
    working.then(undo, () => undefined)
    throw error
  }
}

/** Closes something. Its failure, and that it takes too long, is told, and then it is not waited for any more. Never rejects. */
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
