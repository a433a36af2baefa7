import { Connection } from './connection.ts'
import type { Watcher } from './connection.ts'

/** Most events, and bytes of events, that a session keeps for clients that come back. The newest is always kept. */
const [mostEvents, mostBytes] = [1_000, 4 * 1024 * 1024]

/** Milliseconds after which a client that lost its stream should resume it. */
const retry = 1_000

interface Event {
  readonly stream: EventStream
  readonly number: number
  readonly frame: Buffer
}

/** How long the program may be silent before a stream is given up. */
export interface Silence {
  /** In milliseconds; 0: for ever. */
  readonly limit: number
  over(): void
}

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

  stream(silence?: Silence): EventStream {
    const stream = new EventStream(String(this.#made++), { watcher: this.#watcher, log: this, silence })
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

interface StreamOptions {
  readonly watcher: Watcher
  readonly log: EventLog
  readonly silence: Silence | undefined
}

/** One stream of server-sent events. At most one connection reads it at a time; it goes on without one. */
export class EventStream {
  readonly name: string
  readonly #watcher: Watcher
  readonly #log: EventLog
  readonly #silence: Silence | undefined
  #connection: Connection | undefined
  /** Whether the client has resumed it; then it may be silent, like every stream without a request. */
  #isResumed = false
  #timer: NodeJS.Timeout | undefined
  #last = 0
  /** Number of the newest event that was passed to a connection, and of the newest that is not kept any more. */
  #passed = 0
  #lost = 0
  #isDone = false

  constructor(name: string, { watcher, log, silence }: StreamOptions) {
    this.name = name
    this.#watcher = watcher
    this.#log = log
    this.#silence = silence
  }

  get isConnected(): boolean {
    return this.#connection !== undefined
  }

  push(text: string): void {
    this.#listen()
    const number = ++this.#last
    const frame = Buffer.from(`event: message\nid: ${this.name}-${number}\ndata: ${text}\n\n`)
    this.#log.add({ stream: this, number, frame })
    if (this.#connection === undefined) return
    this.#passed = number
    this.#connection.push(frame)
  }

  /** Nothing comes any more. */
  end(): void {
    this.#isDone = true
    clearTimeout(this.#timer)
    this.#connection?.end()
  }

  /**
   * Connects a client, in place of an earlier connection.
   * @param after number of the last event that it has seen; absent: it gets what no connection got
   */
  connect({ after, primed }: { readonly after?: number; readonly primed: boolean }): Connection {
    this.#connection?.end()
    this.#isResumed = after !== undefined
    const kept = this.#log.after(this, after ?? this.#passed)
    const connection = new Connection({
      frames: primed ? [this.#primer(), ...kept] : kept,
      isDone: this.#isDone,
      slow: (one) => this.#watcher.slow(one),
      caughtUp: (one) => this.#watcher.caughtUp(one),
      closed: (one) => {
        if (this.#connection !== one) return
        this.#connection = undefined
        this.#isResumed = false
        this.#listen()
      },
    })
    this.#connection = connection
    this.#passed = this.#last
    this.#listen()
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

  #listen(): void {
    clearTimeout(this.#timer)
    const silence = this.#silence
    if (!silence || silence.limit === 0 || this.#isDone || this.#isResumed) return
    this.#timer = setTimeout(() => {
      // A program that is not read cannot speak.
      if (this.#connection?.hasUnread === true) this.#listen()
      else silence.over()
    }, silence.limit)
  }

  /** An event without data, with which the client can resume a stream before it has brought anything. */
  #primer(): Buffer {
    return Buffer.from(`id: ${this.name}-${this.#passed}\nretry: ${retry}\ndata: \n\n`)
  }
}
