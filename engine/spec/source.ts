/** Receives the bytes of a source. `end` or `fail` is called once; nothing arrives after it. */
export interface Sink {
  data(chunk: Uint8Array): void
  end(): void
  fail(error: Error): void
}

/** The reader's control over an open source. */
export interface Flow {
  /** Stops delivering until `resume`; one chunk may still arrive. */
  pause(): void
  resume(): void
  /** Cancels the origin of the bytes at once. The sink receives no further call. */
  cancel(reason: Error): void
}

/** Bytes that arrive over time, for exactly one reader. `open` returns before the sink receives anything. */
export interface Source {
  open(sink: Sink): Flow
}

/**
 * Bytes of known length that can be read repeatedly. A reader that has finished with a chunk may give it back
 * (`giveBack`), so that reading a large body leaves no garbage.
 */
export interface Body {
  /** In bytes. */
  readonly size: number
  /** All bytes, if they are in memory. */
  readonly bytes?: Buffer
  /** The bytes from `from` up to, but not including, `to`; default: all. */
  open(from?: number, to?: number): Source
}

/** A body in memory. */
export interface HeldBody extends Body {
  readonly bytes: Buffer
}

/** Reads a body while it arrives, so that it need not be in memory as a whole. */
export interface BodyReader {
  /**
   * Maximum bytes of the body in memory: a larger body is spooled to a file that exists until the end of the
   * exchange.
   */
  readonly memory: number
  /**
   * The next bytes, which stay the caller's: the reader must copy what it keeps. An error thrown here refuses the
   * body.
   */
  push(chunk: Buffer): void
  /** Bytes that the reader has kept so far. */
  readonly kept: number
}

/** One server-sent event (WHATWG HTML, section 9.2): the event name, if any, and the joined data lines. */
export interface Frame {
  readonly event?: string
  readonly data: string
}

/** The maximum bytes that all exchanges of this process may hold in memory, of clients and upstreams together. */
export interface ByteBudget {
  /** Reserves bytes. Returns false when the budget is exhausted. */
  take(bytes: number): boolean
  give(bytes: number): void
}
