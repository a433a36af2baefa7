import { Connection } from './connection.ts'
import type { ConnectionOptions, Watcher } from './connection.ts'

/** Most events, and bytes of events, that a session keeps for clients that come back. The newest is always kept. */
const [mostEvents, mostBytes] = [1_000, 4 * 1024 * 1024]

/** Milliseconds after which a client that lost its stream should resume it. */
const retry = 1_000

interface Event {
  readonly stream: EventStream
  readonly number: number
  readonly frame: Buffer
}

/** How a client connects to a stream. */
export type Connecting = Pick<ConnectionOptions, 'silence' | 'silent'>

/**
 * The newest events of one session, over all its streams, so that a client can resume a stream with the last event that
 * it has seen.
 */
export class EventLog {
  readonly #watcher: Watcher
  readonly #events: Event[] = []
  readonly #streams = new Map<string, EventStream>()
  #bytes = 0
  #made = 0

  constructor(watcher: Watcher) {
    this.#watcher = watcher
  }

  stream(): EventStream {
    const stream = new EventStream(String(this.#made++), this.#watcher, this)
    this.#streams.set(stream.name, stream)
    return stream
  }

  /** The stream and the number of an event, if all that came after it is kept. */
  find(id: string): { readonly stream: EventStream; readonly number: number } | undefined {
    const [, name = '', digits] = /^(\d{1,15})-(\d{1,15})$/.exec(id) ?? []
    const stream = this.#streams.get(name)
    const number = Number(digits)
    return stream?.keepsAllAfter(number) ? { stream, number } : undefined
  }

  /** The frames of a stream after an event. */
  after(stream: EventStream, number: number): readonly Buffer[] {
    return this.#events.filter((one) => one.stream === stream && one.number > number).map(({ frame }) => frame)
  }

  add(event: Event): void {
    this.#events.push(event)
    this.#bytes += event.frame.length
    while (this.#events.length > 1 && (this.#events.length > mostEvents || this.#bytes > mostBytes)) {
      const { stream, number, frame } = this.#events.shift() as Event
      this.#bytes -= frame.length
      if (stream.forget(number)) this.#streams.delete(stream.name)
    }
  }
}

/** One stream of server-sent events. At most one connection reads it at a time; it goes on without one. */
export class EventStream {
  readonly name: string
  readonly #watcher: Watcher
  readonly #log: EventLog
  #connection: Connection | undefined
  #last = 0
  /** Number of the newest event that was passed to a connection, and of the newest that is not kept any more. */
  #passed = 0
  #lost = 0
  #isDone = false

  constructor(name: string, watcher: Watcher, log: EventLog) {
    this.name = name
    this.#watcher = watcher
    this.#log = log
  }

  get isConnected(): boolean {
    return this.#connection !== undefined
  }

  push(text: string): void {
    const number = ++this.#last
    const frame = Buffer.from(`event: message\nid: ${this.name}-${number}\ndata: ${text}\n\n`)
    this.#log.add({ stream: this, number, frame })
    if (this.#connection === undefined) return
    this.#passed = number
    this.#connection.push(frame)
  }

  /** Nothing comes any more. */
  end(error?: Error): void {
    this.#isDone = true
    this.#connection?.end(error)
  }

  /**
   * Connects a client, in place of an earlier connection.
   * @param after number of the last event that it has seen; absent: it gets what no connection got
   */
  connect(
    connecting: Connecting,
    { after, primed }: { readonly after?: number; readonly primed: boolean },
  ): Connection {
    this.#connection?.end()
    const kept = this.#log.after(this, after ?? this.#passed)
    const connection = new Connection({
      ...connecting,
      frames: primed ? [this.#primer(), ...kept] : kept,
      isDone: this.#isDone,
      slow: (one) => this.#watcher.slow(one),
      caughtUp: (one) => this.#watcher.caughtUp(one),
      closed: (one) => {
        if (this.#connection === one) this.#connection = undefined
      },
    })
    this.#connection = connection
    this.#passed = this.#last
    return connection
  }

  keepsAllAfter(number: number): boolean {
    return number >= this.#lost && number <= this.#last
  }

  /** An event is not kept any more. Returns true if nothing is left of the stream. */
  forget(number: number): boolean {
    this.#lost = number
    return this.#isDone && number === this.#last
  }

  /** An event without data, with which the client can resume a stream before it has brought anything. */
  #primer(): Buffer {
    return Buffer.from(`id: ${this.name}-${this.#passed}\nretry: ${retry}\ndata: \n\n`)
  }
}
