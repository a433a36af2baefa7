import { GatewayError } from '../../engine/index.ts'
import { BytesBody, isObject } from '../../engine/kit.ts'
import type { Answer, Json, JsonObject } from '../../engine/index.ts'
import { rpcError } from './codec.ts'
import type { Connection } from './connection.ts'
import { EventLog } from './event-log.ts'
import type { EventStream } from './event-log.ts'
import { madeMessage } from './message.ts'
import type { Message, RequestId, RequestMessage } from './message.ts'
import type { Sending } from './upstream.ts'

/** The program behind a session, as the session sees it. */
export interface Peer {
  /** Passes a message on. Returns false if too many wait to be read. */
  send(message: Message): boolean
  /** Stops reading its output until the holder is released. */
  hold(holder: object): void
  release(holder: object): void
}

/** A request that the program has not answered yet. */
interface InFlight {
  readonly id: RequestId
  /** Absent: its answer is not a stream. */
  readonly stream?: EventStream
  readonly token?: string
  readonly over: PromiseWithResolvers<void>
  readonly answer?: (text: string, value: JsonObject) => void
  readonly fail?: (error: Error) => void
}

/** The first revision whose clients accept an event without data. */
const primedFrom = '2025-11-25'

/**
 * One session of a client with a program: which message of the program belongs to which stream of the client (MCP
 * 2025-11-25, basic/transports), and what a client gets that comes back to a stream.
 */
export class StdioSession {
  readonly #name: string
  readonly #peer: Peer
  readonly #log: EventLog
  /** What belongs to no request. It waits for a stream that the client opens for it. */
  readonly #others: EventStream
  readonly #inFlight = new Map<Key, InFlight>()
  readonly #byToken = new Map<Key, Key>()
  #isPrimed = false
  readonly #over = Promise.withResolvers<void>()
  #end: GatewayError | undefined

  /** @param name of the server */
  constructor(name: string, peer: Peer) {
    this.#name = name
    this.#peer = peer
    this.#log = new EventLog({ slow: (one) => peer.hold(one), caughtUp: (one) => peer.release(one) })
    this.#others = this.#log.stream()
  }

  /** Resolves when the session has ended. */
  get over(): Promise<void> {
    return this.#over.promise
  }

  /** Whether requests wait for their answers. */
  get isBusy(): boolean {
    return this.#inFlight.size > 0
  }

  /**
   * Sends `initialize`, and resolves to its answer. Rejects if the program ends before, or is silent for too long.
   * @param silence in milliseconds
   */
  async initialize(
    message: RequestMessage,
    silence: number,
  ): Promise<{ readonly text: string; readonly value: JsonObject }> {
    const { promise, resolve, reject } = Promise.withResolvers<{ text: string; value: JsonObject }>()
    const late = setTimeout(() => reject(this.#timeout()), silence)
    try {
      this.#begin(message, { answer: (text, value) => resolve({ text, value }), fail: reject })
      const { text, value } = await promise
      const version = isObject(value['result']) ? value['result']['protocolVersion'] : undefined
      this.#isPrimed = typeof version === 'string' && version >= primedFrom
      return { text, value }
    } finally {
      clearTimeout(late)
      this.#inFlight.delete(keyOf(message.id))
    }
  }

  /** Passes a message on. A request is answered by a stream. */
  post(message: Message, sending: Sending): Answer {
    if (message.kind === 'request') return this.#ask(message, sending)
    this.#send(message)
    if (message.kind === 'notification' && message.method === 'notifications/cancelled')
      this.#forget(message.params['requestId'])
    return { status: 202, headers: {}, body: new BytesBody(Buffer.alloc(0)).open() }
  }

  /** Resolves when a request is answered, given up or cancelled, or the session has ended; at once if it is not known. */
  async worked(id: RequestId): Promise<void> {
    await this.#inFlight.get(keyOf(id))?.over.promise
  }

  /** Opens the stream of what belongs to no request, or resumes one. Throws `invalid_request`. */
  listen(sending: Sending): Answer {
    const last = sending.headers['last-event-id']
    if (last === undefined) {
      if (this.#others.isConnected) throw new GatewayError('invalid_request', { reason: isOpen }, { status: 409 })
      return this.#connected(this.#others, sending, { primed: this.#isPrimed })
    }
    const found = this.#log.find(String(last))
    if (found === undefined) throw new GatewayError('invalid_request', { reason: isLost })
    return this.#connected(found.stream, sending, { after: found.number, primed: false })
  }

  /** Takes a message of the program. */
  receive(text: string, value: JsonObject): void {
    const { id, method, params } = value
    if (method === undefined) this.#answered(keyOf(id), text, value)
    else if (id !== undefined) this.#newest().push(text)
    else if (method === 'notifications/progress' && isObject(params)) this.#ofToken(params['progressToken']).push(text)
    else this.#others.push(text)
  }

  /** The program is gone: answers every request with the error, and ends all streams. */
  close(error: GatewayError): void {
    this.#end ??= error
    for (const asked of this.#inFlight.values()) {
      asked.fail?.(error)
      refuse(asked, error)
      asked.over.resolve()
    }
    this.#inFlight.clear()
    this.#byToken.clear()
    this.#others.end()
    this.#over.resolve()
  }

  #ask(message: RequestMessage, sending: Sending): Answer {
    const { id } = message
    const stream = this.#log.stream({ limit: sending.silence, over: () => this.#giveUp(id) })
    this.#begin(message, { stream })
    return this.#connected(stream, sending, { primed: this.#isPrimed })
  }

  /** The answer to a request would come too late for anybody. */
  #giveUp(id: RequestId): void {
    const error = this.#timeout()
    const asked = this.#inFlight.get(keyOf(id))
    if (asked) refuse(asked, error)
    this.#forget(id)
    const params = { requestId: id, reason: error.message }
    // A program that does not read gets nothing more.
    this.#peer.send(madeMessage({ jsonrpc: '2.0', method: 'notifications/cancelled', params }))
  }

  #begin(message: RequestMessage, to: Pick<InFlight, 'stream' | 'answer' | 'fail'>): void {
    const key = keyOf(message.id)
    if (this.#inFlight.has(key)) throw new GatewayError('invalid_request', { reason: isInFlight })
    this.#send(message)
    const { _meta: meta } = message.params
    const token = isObject(meta) && meta['progressToken'] !== undefined ? keyOf(meta['progressToken']) : undefined
    const over = Promise.withResolvers<void>()
    this.#inFlight.set(key, { id: message.id, over, ...to, ...(token === undefined ? {} : { token }) })
    if (token !== undefined) this.#byToken.set(token, key)
  }

  #send(message: Message): void {
    if (this.#end) throw this.#end
    if (!this.#peer.send(message)) throw new GatewayError('overloaded')
  }

  #connected(
    stream: EventStream,
    { scope }: Sending,
    how: { readonly after?: number; readonly primed: boolean },
  ): Answer {
    const body: Connection = stream.connect(how)
    scope.onAbort(() => body.cancel())
    return { status: 200, headers: { 'content-type': 'text/event-stream' }, body }
  }

  #answered(key: Key, text: string, value: JsonObject): void {
    const asked = this.#inFlight.get(key)
    if (asked === undefined) return
    this.#drop(key, asked)
    asked.answer?.(text, value)
    asked.stream?.push(text)
    asked.stream?.end()
  }

  /** Nobody waits for the answer to a request any more. */
  #forget(id: Json | undefined): void {
    const key = keyOf(id)
    const asked = this.#inFlight.get(key)
    if (asked?.stream === undefined) return
    this.#drop(key, asked)
    asked.stream.end()
  }

  #drop(key: Key, { token, over }: InFlight): void {
    this.#inFlight.delete(key)
    over.resolve()
    if (token !== undefined && this.#byToken.get(token) === key) this.#byToken.delete(token)
  }

  /** The stream for a request of the program: of the newest request in flight, if possible one that somebody reads. */
  #newest(): EventStream {
    const streams = [...this.#inFlight.values()].flatMap(({ stream }) => stream ?? [])
    return streams.findLast(({ isConnected }) => isConnected) ?? streams.at(-1) ?? this.#others
  }

  #ofToken(token: Json | undefined): EventStream {
    const key = this.#byToken.get(keyOf(token))
    return (key === undefined ? undefined : this.#inFlight.get(key)?.stream) ?? this.#others
  }

  #timeout(): GatewayError {
    return new GatewayError(
      'upstream_timeout',
      {},
      { message: `The MCP server "${this.#name}" did not answer in time.` },
    )
  }
}

/** Answers a request with an error. */
function refuse({ id, stream }: InFlight, { failure }: GatewayError): void {
  stream?.push(JSON.stringify(rpcError(id, failure)))
  stream?.end()
}

const isOpen = 'The session has its stream already.'
const isLost = 'The events after the one that last-event-id names are not kept any more.'
const isInFlight = 'A request with this id is still in flight in this session.'

/** An id or token as a key of a map: the text "1" is another one than the number 1. */
type Key = string

export function keyOf(id: Json | undefined): Key {
  return JSON.stringify(id ?? null)
}
