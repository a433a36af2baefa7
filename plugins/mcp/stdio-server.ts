import { randomUUID } from 'node:crypto'
import { GatewayError } from '../../engine/index.ts'
import { isObject, parsedJson } from '../../engine/kit.ts'
import type { Json, JsonObject, Records, ServiceHost } from '../../engine/index.ts'
import { Child } from './child.ts'
import type { ChildEvents } from './child.ts'
import { SharedChild } from './shared-child.ts'
import { StdioSession } from './stdio-session.ts'

/** Most processes of one server. */
const mostChildren = 256
/** The time for which ends of processes count, in milliseconds. */
const minute = 60_000

interface Held {
  readonly session: StdioSession
  /** Leaves the program, and ends it if nobody else uses it. */
  leave(): Promise<void>
}

/** The process of a server that sessions share. */
interface Shared {
  readonly program: SharedChild
  readonly child: Child
}

/** The processes of one program, and the sessions with them. It outlives configurations that do not change the program. */
export class StdioServer {
  readonly #record: Records['mcp_server']
  readonly #log: ServiceHost['log']
  readonly #failed: (error: GatewayError) => void
  readonly #sessions = new Map<string, Held>()
  readonly #children = new Set<Child>()
  /** When processes ended by themselves (milliseconds, monotonic). */
  #ends: number[] = []
  #shared: Shared | undefined
  #isClosed = false

  /** @param failed told when the program has ended by itself */
  constructor(record: Records['mcp_server'], log: ServiceHost['log'], failed: (error: GatewayError) => void) {
    this.#record = record
    this.#log = log
    this.#failed = failed
  }

  /**
   * Starts a session, with a process of its own unless sessions share one. Throws `upstream_unreachable` while processes
   * end too often, and `overloaded`.
   * @param restarts most processes a minute that may be started after others have ended by themselves
   */
  start(restarts: number): { readonly id: string; readonly session: StdioSession } {
    const id = randomUUID()
    const held = this.#record.shared ? this.#join(restarts) : this.#own(restarts)
    this.#sessions.set(id, held)
    return { id, session: held.session }
  }

  /** The session with this id; undefined: it is over. */
  find(id: string): StdioSession | undefined {
    return this.#sessions.get(id)?.session
  }

  /** Ends a session and its process. Returns false if there is no such session. */
  async end(id: string): Promise<boolean> {
    const held = this.#sessions.get(id)
    if (held === undefined) return false
    this.#sessions.delete(id)
    held.session.close(this.gone('its session was ended'))
    await held.leave()
    return true
  }

  /** Ends all processes, and starts no more. */
  close(): Promise<void> {
    this.#isClosed = true
    return this.endAll('it was stopped')
  }

  /** Ends all sessions and their processes. */
  async endAll(reason: string): Promise<void> {
    this.#shared = undefined
    const error = this.gone(reason)
    for (const { session } of this.#sessions.values()) session.close(error)
    this.#sessions.clear()
    await Promise.all([...this.#children].map((child) => child.end()))
  }

  #own(restarts: number): Held {
    this.#requireStart(restarts)
    const child: Child = this.#start({
      line: (text) => read(text, child, (message, value) => session.receive(message, value)),
      ended: (reason) => this.#close([session], reason),
    })
    const session: StdioSession = new StdioSession(this.#record.name, {
      send: ({ raw }) => child.send(raw.bytes),
      hold: (holder) => child.hold(holder),
      release: (holder) => child.release(holder),
    })
    return { session, leave: () => child.end() }
  }

  #join(restarts: number): Held {
    if (this.#shared === undefined) this.#requireStart(restarts)
    const shared = (this.#shared ??= this.#share())
    const session: StdioSession = new StdioSession(
      this.#record.name,
      shared.program.peer(() => session),
    )
    shared.program.join(session)
    return {
      session,
      leave: async () => {
        if (!shared.program.leave(session)) return
        if (this.#shared === shared) this.#shared = undefined
        await shared.child.end()
      },
    }
  }

  #share(): Shared {
    const child: Child = this.#start({
      line: (text) => read(text, child, (message, value) => program.receive(message, value)),
      ended: (reason) => {
        if (this.#shared?.program === program) this.#shared = undefined
        this.#close([...program.sessions], reason)
      },
    })
    const program = new SharedChild(child)
    return { program, child }
  }

  #start({ line, ended }: ChildEvents): Child {
    const child: Child = new Child(this.#record, this.#log, {
      line,
      ended: (reason) => {
        this.#children.delete(child)
        ended(reason)
      },
    })
    this.#children.add(child)
    return child
  }

  #requireStart(restarts: number): void {
    const { name } = this.#record
    if (this.#isClosed) throw this.gone('it was stopped')
    if (this.#children.size >= mostChildren) throw new GatewayError('overloaded')
    const from = performance.now() - minute
    this.#ends = this.#ends.filter((at) => at > from)
    const [first = 0] = this.#ends
    if (this.#ends.length <= restarts) return
    const message = `The MCP server "${name}" has ended ${this.#ends.length} times in a minute, and is not started for now.`
    throw new GatewayError('upstream_unreachable', {}, { message, retryAfter: Math.ceil((first - from) / 1_000) })
  }

  /** The process of sessions has ended. */
  #close(sessions: readonly StdioSession[], reason: string): void {
    const closed = new Set(sessions)
    const held = [...this.#sessions].filter(([, { session }]) => closed.has(session))
    // Sessions that were ended are not there any more: their process ended because of it.
    if (held.length === 0) return
    this.#ends.push(performance.now())
    this.#log.warn({ mcp_server: this.#record.name, reason }, 'an MCP server has ended')
    const error = this.gone(reason)
    this.#failed(error)
    for (const [id, { session }] of held) {
      this.#sessions.delete(id)
      session.close(error)
    }
  }

  /** @param field of the record of the server, which the file does not allow */
  notAllowed(field: string): GatewayError {
    return this.gone(`mcp.allow_stdio does not allow its ${field}`)
  }

  /** The error for requests while the program does not run. */
  gone(reason: string): GatewayError {
    const message = `The MCP server "${this.#record.name}" is gone: ${reason}.`
    return new GatewayError('upstream_unreachable', {}, { message })
  }
}

/** Reads a line of a program: a message, or several in a list (MCP 2025-03-26). */
function read(text: string, child: Child, receive: (text: string, value: JsonObject) => void): void {
  const value = parsedJson(text)
  if (isObject(value)) return receive(text, value)
  const list = Array.isArray(value) ? (value as readonly Json[]).filter((one) => isObject(one)) : []
  for (const one of list) receive(JSON.stringify(one), one)
  if (list.length === 0) child.noMessage(text)
}
