import { randomBytes } from 'node:crypto'
import { GatewayError } from '../../engine/index.ts'
import { parsedObject } from '../../engine/kit.ts'
import type { ServiceHost } from '../../engine/index.ts'
import { Flights } from './flights.ts'
import { OpenStreams } from './open-streams.ts'

/** A session of a client with one server. */
export interface Session {
  /** The id that the client knows. */
  readonly id: string
  readonly server: string
  /** What the session depends on in the record of the server: with another one it is unknown. */
  readonly identity: string
  /** Id of the API key that has opened it. */
  readonly key: string
  /** The server's own name of the session; absent: it keeps none. */
  readonly upstream?: string
}

/** The part of a session that lives in this process. */
export interface LiveSession extends Session {
  readonly flights: Flights
  /** Streams without a request that are open in this process. */
  readonly streams: OpenStreams
}

interface Known extends LiveSession {
  /** Time of the last request (milliseconds, monotonic), and of the last renewal in the store. */
  used: number
  renewed: number
  /** When to look whether it has expired. */
  due: number
}

/** What sessions depend on elsewhere. */
interface SessionRules {
  /** Ends a session at its server. */
  expired(session: Session): Promise<void>
  /** Whether the API key of a session may still use its server. */
  admits(session: Session): boolean
}

/** A session ends after this time without a request and without an open stream. */
const life = 60 * 60_000
/** Its life in the store is renewed at most this often; sessions without use are looked for as often. */
const renewal = 60_000
/** Milliseconds between two looks at whether clients may still use their servers. */
const looks = 5_000
/** Most sessions of one API key at a time. */
const mostSessions = 10_000

const idForm = /^[\w-]{43}$/

/**
 * The sessions of clients with servers. They are kept in the key-value store, or in the database, so that every process
 * serves them and a restart keeps them. The names that servers give to sessions are sealed there.
 */
export class Sessions {
  readonly #host: Pick<ServiceHost, 'keyValue' | 'seal' | 'unseal' | 'log'>
  readonly #known = new Map<string, Known>()
  readonly #timers: readonly NodeJS.Timeout[]
  readonly #rules: SessionRules

  constructor(host: Pick<ServiceHost, 'keyValue' | 'seal' | 'unseal' | 'log'>, rules: SessionRules) {
    this.#host = host
    this.#rules = rules
    const [sweep, look] = [() => void this.sweep(), () => void this.endForbidden()]
    this.#timers = [setInterval(sweep, renewal).unref(), setInterval(look, looks).unref()]
  }

  /** The number of sessions with a server that this process knows. */
  count({ server, identity }: Pick<Session, 'server' | 'identity'>): number {
    let count = 0
    for (const session of this.#known.values()) if (session.server === server && session.identity === identity) count++
    return count
  }

  /** Throws `rate_limit_exceeded` if the API key has too many sessions. */
  async requireRoom(key: string): Promise<void> {
    const { count } = await this.#host.keyValue.used(accountOf(key))
    if (count < mostSessions) return
    const message = `This API key has ${mostSessions} open MCP sessions; end some of them.`
    throw new GatewayError('rate_limit_exceeded', {}, { message })
  }

  async create(facts: Omit<Session, 'id'>): Promise<LiveSession> {
    const id = randomBytes(32).toString('base64url')
    const value = this.#host.seal(Buffer.from(JSON.stringify(facts)), contextOf(id))
    await this.#host.keyValue.set(keyOf(id), value, { ttl: life, version: null, account: accountOf(facts.key) })
    return this.#keep({ ...facts, id })
  }

  /**
   * The session with this id, of this key with this server. Throws `session_not_found` for every other one, in the same
   * words.
   */
  async find(id: string, expected: Pick<Session, 'server' | 'identity' | 'key'>): Promise<LiveSession> {
    const session = idForm.test(id) ? await this.#read(id) : undefined
    if (
      !session ||
      session.server !== expected.server ||
      session.identity !== expected.identity ||
      session.key !== expected.key
    )
      throw new GatewayError('session_not_found')
    use(session)
    await this.#renew(session)
    return session
  }

  /** Forgets a session, in every process. */
  async forget({ id }: Pick<Session, 'id'>): Promise<void> {
    this.#known.get(id)?.streams.close()
    this.#known.delete(id)
    await this.#host.keyValue.delete(keyOf(id))
  }

  /** Renews sessions that have open streams, and ends those that were unused for long. */
  async sweep(): Promise<void> {
    for (const session of this.#known.values())
      try {
        await this.#check(session)
      } catch (error) {
        this.#host.log.warn({ err: error }, 'an MCP session could not be checked; trying again')
      }
  }

  /** Ends the sessions of clients that may not use their server any more, with their open streams. */
  async endForbidden(): Promise<void> {
    for (const session of this.#known.values())
      if (!this.#rules.admits(session))
        try {
          session.streams.close()
          await this.forget(session)
          await this.#rules.expired(session)
        } catch (error) {
          this.#host.log.warn({ err: error }, 'an MCP session could not be ended; its server ends it in its own time')
        }
  }

  close(): void {
    for (const timer of this.#timers) clearInterval(timer)
  }

  async #check(session: Known): Promise<void> {
    if (session.streams.any) use(session)
    if (performance.now() < session.due) return this.#renew(session)
    // Another process may have served it meanwhile.
    if ((await this.#host.keyValue.get(keyOf(session.id))) !== undefined) {
      session.due = performance.now() + renewal
      return
    }
    this.#known.delete(session.id)
    await this.#rules.expired(session)
  }

  async #renew(session: Known): Promise<void> {
    const now = performance.now()
    if (session.used <= session.renewed || now - session.renewed < renewal) return
    session.renewed = now
    await this.#host.keyValue.extend(keyOf(session.id), life)
  }

  /** The store is always asked: another process may have ended the session. */
  async #read(id: string): Promise<Known | undefined> {
    const held = await this.#host.keyValue.get(keyOf(id))
    const known = this.#known.get(id)
    if (!held) {
      known?.streams.close()
      this.#known.delete(id)
      return undefined
    }
    if (known) return known
    const bytes = this.#host.unseal(held.value, contextOf(id))
    const facts = bytes && parsedObject(bytes.toString())
    return facts && this.#keep({ ...(facts as unknown as Omit<Session, 'id'>), id })
  }

  #keep(session: Session): Known {
    const now = performance.now()
    const known = this.#known.get(session.id) ?? {
      ...session,
      flights: new Flights(),
      streams: new OpenStreams(),
      used: now,
      renewed: now,
      due: now + life,
    }
    this.#known.set(session.id, known)
    return known
  }
}

function use(session: Known): void {
  session.used = performance.now()
  session.due = session.used + life
}

const keyOf = (id: string) => `mcp.session.${id}`
const contextOf = (id: string) => `mcp session ${id}`
const accountOf = (key: string) => `mcp.sessions.${key}`
