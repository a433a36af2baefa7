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
  readonly place: Place
}

/** One of the places of an API key at a server, which its session takes. It is free again when its life is over. */
export interface Place {
  readonly name: string
  /** A session ends after this time without a request and without an open stream, in milliseconds. */
  readonly life: number
}

/** What sessions with a server may take. */
export interface SessionLimits {
  /** Most sessions of one API key at a time. */
  readonly most: number
  /** In milliseconds, as that of a place. */
  readonly life: number
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

/** Its life in the store is renewed at most this often; sessions without use are looked for as often. */
const renewal = 60_000
/** Milliseconds between two looks at whether clients may still use their servers. */
const looks = 5_000

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
  /** Sessions that their servers have ended, and that are about to be forgotten. */
  readonly #ending = new Set<Promise<void>>()

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

  /**
   * Takes a place of an API key at a server, over all processes. A server whose record has changed has new places.
   * Throws `rate_limit_exceeded` if all are taken.
   */
  async reserve(
    { server, identity, key }: Pick<Session, 'server' | 'identity' | 'key'>,
    { most, life }: SessionLimits,
  ): Promise<Place> {
    const account = `mcp.places.${key} ${server} ${identity}`
    const { keyValue } = this.#host
    const { count } = await keyValue.used(account)
    // Of those who come at the same time, one alone gets the place with a number.
    const numbers = count < most ? Array.from({ length: most }, (_, index) => (count + index) % most) : []
    for (const number of numbers) {
      const name = `${account} ${number}`
      if (await keyValue.set(name, taken, { ttl: life, version: null, account })) return { name, life }
    }
    const message = `This API key has ${most} open sessions with the MCP server "${server}". End one with DELETE, or wait until an unused one has ended.`
    throw new GatewayError('rate_limit_exceeded', {}, { message })
  }

  /** Gives back a place that no session has taken. */
  async release({ name }: Place): Promise<void> {
    const failed = (error: unknown) =>
      this.#host.log.warn({ err: error }, 'the place of an MCP session could not be given back; it is free in time')
    await this.#host.keyValue.delete(name).catch(failed)
  }

  /** @param over resolves when the server has ended the session; absent: only a request tells */
  async create(facts: Omit<Session, 'id'>, over?: Promise<void>): Promise<LiveSession> {
    const id = randomBytes(32).toString('base64url')
    const { name, life } = facts.place
    const value = this.#host.seal(Buffer.from(JSON.stringify(facts)), contextOf(id))
    // The place outlives its session, however long the server took to open it.
    if (!(await this.#host.keyValue.extend(name, life)))
      throw new GatewayError('upstream_timeout', {}, { message: late })
    await this.#host.keyValue.set(keyOf(id), value, { ttl: life, version: null })
    const session = this.#keep({ ...facts, id })
    void over?.then(() => this.#ended(session))
    return session
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
  async forget({ id, place }: Pick<Session, 'id' | 'place'>): Promise<void> {
    this.#known.get(id)?.streams.close()
    this.#known.delete(id)
    // Who comes second must not give back the place of another session.
    if (await this.#host.keyValue.delete(keyOf(id))) await this.#host.keyValue.delete(place.name)
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

  /** Resolves once the sessions that their servers have ended are forgotten. */
  async close(): Promise<void> {
    for (const timer of this.#timers) clearInterval(timer)
    await Promise.all(this.#ending)
  }

  #ended(session: Session): void {
    const failed = (error: unknown) =>
      this.#host.log.warn({ err: error }, 'an MCP session that has ended could not be forgotten; it is in time')
    const ending = this.forget(session)
      .catch(failed)
      .finally(() => this.#ending.delete(ending))
    this.#ending.add(ending)
  }

  async #check(session: Known): Promise<void> {
    if (session.streams.any || session.flights.any) use(session)
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
    const { name, life } = session.place
    await Promise.all([name, keyOf(session.id)].map((stored) => this.#host.keyValue.extend(stored, life)))
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
    // One of an earlier version of the gateway has no place: its client opens another one.
    if (facts?.['place'] === undefined) return undefined
    return this.#keep({ ...(facts as unknown as Omit<Session, 'id'>), id })
  }

  #keep(session: Session): Known {
    const now = performance.now()
    const known = this.#known.get(session.id) ?? {
      ...session,
      flights: new Flights(),
      streams: new OpenStreams(),
      used: now,
      renewed: now,
      due: now + session.place.life,
    }
    this.#known.set(session.id, known)
    return known
  }
}

function use(session: Known): void {
  session.used = performance.now()
  session.due = session.used + session.place.life
}

const keyOf = (id: string) => `mcp.session.${id}`
const contextOf = (id: string) => `mcp session ${id}`
/** What is stored of a place: only that it is taken counts. */
const taken = Buffer.from('taken')
const late = 'The MCP server took too long to open the session.'
