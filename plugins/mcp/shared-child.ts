import { isObject } from '../../engine/kit.ts'
import type { Json, JsonObject } from '../../engine/index.ts'
import type { Child } from './child.ts'
import type { Message, RequestMessage } from './message.ts'
import { keyOf } from './stdio-session.ts'
import type { Peer, StdioSession } from './stdio-session.ts'

/** A request on its way, under an id of the gateway's own. */
interface Rewritten {
  readonly session: StdioSession
  readonly id: Json
  readonly token?: Json
}

/**
 * A program that serves many sessions, and keeps nothing of them. Each request gets an id and a progress token that is
 * unique in the program; the answer gets back those of its client. The program is initialized once.
 */
export class SharedChild {
  readonly #child: Child
  readonly #sessions = new Set<StdioSession>()
  readonly #requests = new Map<number, Rewritten>()
  /** The sessions that have to answer requests of the program, by the ids of these. */
  readonly #asked = new Map<string, StdioSession>()
  /** The answer to the first `initialize` that succeeded, and who waits for one. */
  #first: JsonObject | undefined
  readonly #waiting: { readonly session: StdioSession; readonly id: Json }[] = []
  #isInitialized = false
  #ids = 0

  constructor(child: Child) {
    this.#child = child
  }

  get sessions(): Iterable<StdioSession> {
    return this.#sessions
  }

  /** The program as one session sees it. */
  peer(session: () => StdioSession): Peer {
    return {
      send: (message) => this.#send(message, session()),
      hold: (holder) => this.#child.hold(holder),
      release: (holder) => this.#child.release(holder),
    }
  }

  join(session: StdioSession): void {
    this.#sessions.add(session)
  }

  /** Returns whether no session is left. */
  leave(session: StdioSession): boolean {
    this.#sessions.delete(session)
    for (const [id, asked] of this.#asked) if (asked === session) this.#asked.delete(id)
    for (const [own, asked] of this.#requests) if (asked.session === session) this.#cancel(own)
    return this.#sessions.size === 0
  }

  /** Takes a message of the program. */
  receive(text: string, value: JsonObject): void {
    const { id, method, params } = value
    if (method === undefined) this.#answered(value)
    else if (id !== undefined) this.#ask(id, text, value)
    else if (method === 'notifications/progress' && isObject(params)) this.#progressed(value, params)
    else for (const session of this.#concerned(method)) session.receive(text, value)
  }

  #send(message: Message, session: StdioSession): boolean {
    if (message.kind === 'response') return this.#respond(message, session)
    if (message.kind === 'request') {
      return message.method === 'initialize' ? this.#initialize(message, session) : this.#request(message, session)
    }
    const { method, params } = message
    if (method === 'notifications/initialized') {
      if (this.#isInitialized) return true
      this.#isInitialized = true
    }
    if (method !== 'notifications/cancelled') return this.#child.send(message.raw.bytes)
    const cancelled = keyOf(params['requestId'])
    const found = [...this.#requests].find(([, one]) => one.session === session && keyOf(one.id) === cancelled)
    if (found === undefined) return true
    return this.#cancel(found[0], params)
  }

  /** The program may leave a cancelled request without an answer. */
  #cancel(own: number, params: JsonObject = {}): boolean {
    this.#requests.delete(own)
    return this.#write({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { ...params, requestId: own } })
  }

  #request({ id, params, value }: RequestMessage, session: StdioSession): boolean {
    const own = ++this.#ids
    const { _meta: meta } = params
    const token = isObject(meta) ? meta['progressToken'] : undefined
    this.#requests.set(own, { session, id, ...(token === undefined ? {} : { token }) })
    if (token === undefined || !isObject(meta)) return this.#write({ ...value, id: own })
    return this.#write({ ...value, id: own, params: { ...params, _meta: { ...meta, progressToken: own } } })
  }

  /** Asks the program once, and gives every session the same answer. */
  #initialize(message: RequestMessage, session: StdioSession): boolean {
    const { id } = message
    const first = this.#first
    if (first) {
      queueMicrotask(() => give(first, session, id))
      return true
    }
    this.#waiting.push({ session, id })
    return this.#waiting.length > 1 || this.#write({ ...message.value, id: 0 })
  }

  #answered(value: JsonObject): void {
    const { id } = value
    if (id === 0) {
      // A program that refused to begin may be asked again.
      if (value['result'] !== undefined) this.#first = value
      for (const one of this.#waiting.splice(0)) give(value, one.session, one.id)
      return
    }
    const asked = typeof id === 'number' ? this.#requests.get(id) : undefined
    if (asked === undefined) return
    this.#requests.delete(id as number)
    give(value, asked.session, asked.id)
  }

  #progressed(value: JsonObject, params: JsonObject): void {
    const { progressToken: own } = params
    const asked = typeof own === 'number' ? this.#requests.get(own) : undefined
    if (asked?.token === undefined) return
    const told = { ...value, params: { ...params, progressToken: asked.token } }
    asked.session.receive(JSON.stringify(told), told)
  }

  /** Passes a request of the program to the one session that it can be about. */
  #ask(id: Json, text: string, value: JsonObject): void {
    const [session, ...others] = this.#busy()
    if (session === undefined || others.length > 0) {
      const message = 'A server that sessions share cannot ask its clients.'
      this.#write({ jsonrpc: '2.0', id, error: { code: -32_601, message } })
      return
    }
    this.#asked.set(keyOf(id), session)
    session.receive(text, value)
  }

  #respond({ id, raw }: Message & { readonly kind: 'response' }, session: StdioSession): boolean {
    const key = keyOf(id)
    if (this.#asked.get(key) !== session) return true
    this.#asked.delete(key)
    return this.#child.send(raw.bytes)
  }

  /** The sessions that a notification is for: all, if a list has changed; else the only one that waits for an answer. */
  #concerned(method: Json): readonly StdioSession[] {
    if (typeof method === 'string' && method.endsWith('/list_changed')) return [...this.#sessions]
    const busy = this.#busy()
    return busy.length === 1 ? busy : []
  }

  #busy(): readonly StdioSession[] {
    return [...this.#sessions].filter(({ isBusy }) => isBusy)
  }

  #write(value: JsonObject): boolean {
    return this.#child.send(JSON.stringify(value))
  }
}

/** Gives a session an answer under the id of its own request. */
function give(value: JsonObject, session: StdioSession, id: Json): void {
  const answer = { ...value, id }
  session.receive(JSON.stringify(answer), answer)
}
