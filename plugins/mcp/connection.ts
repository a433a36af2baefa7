import type { Flow, Sink, Source } from '../../engine/index.ts'

/** Bytes of a stream that a client may leave unread before its server is not read any more. */
const mostUnread = 1024 * 1024

/** Who is told of the state of a connection. */
export interface Watcher {
  /** The client reads too slowly; later it has caught up, or is gone. */
  slow(connection: object): void
  caughtUp(connection: object): void
}

/** What one connection of a client to a stream begins with. */
export interface ConnectionOptions extends Watcher {
  readonly frames: readonly Buffer[]
  /** Nothing comes after these frames. */
  readonly isDone: boolean
  /** It is over, however that came. */
  closed(connection: Connection): void
}

/** One connection of a client to a stream of server-sent events. */
export class Connection implements Source, Flow {
  readonly #options: ConnectionOptions
  readonly #queue: Buffer[]
  #unread = 0
  #sink: Sink | undefined
  #isPaused = false
  #isSlow = false
  #isDone: boolean
  #isOver = false

  constructor(options: ConnectionOptions) {
    this.#options = options
    this.#queue = [...options.frames]
    this.#isDone = options.isDone
    this.#unread = this.#queue.reduce((sum, { length }) => sum + length, 0)
  }

  /** Whether the client has still to read something. */
  get hasUnread(): boolean {
    return this.#unread > 0
  }

  open(sink: Sink): Flow {
    this.#sink = sink
    queueMicrotask(() => this.#deliver())
    return this
  }

  push(frame: Buffer): void {
    this.#queue.push(frame)
    this.#unread += frame.length
    this.#deliver()
    if (this.#unread <= mostUnread || this.#isSlow || this.#isOver) return
    // Nobody reads it; the events are kept for a client that resumes the stream.
    if (this.#sink === undefined) return this.#close()
    this.#isSlow = true
    this.#options.slow(this)
  }

  /** Ends it after what is still to be read. */
  end(): void {
    this.#isDone = true
    this.#deliver()
  }

  pause(): void {
    this.#isPaused = true
  }

  resume(): void {
    this.#isPaused = false
    this.#deliver()
  }

  cancel(): void {
    this.#close()
  }

  #deliver(): void {
    const sink = this.#sink
    if (sink === undefined || this.#isOver) return
    while (!this.#isPaused) {
      const frame = this.#queue.shift()
      if (frame === undefined) break
      this.#unread -= frame.length
      sink.data(frame)
    }
    if (this.#queue.length > 0) return
    this.#catchUp()
    if (!this.#isDone || this.#isPaused) return
    this.#close()
    sink.end()
  }

  #close(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#queue.length = 0
    this.#catchUp()
    this.#options.closed(this)
  }

  #catchUp(): void {
    if (!this.#isSlow) return
    this.#isSlow = false
    this.#options.caughtUp(this)
  }
}
