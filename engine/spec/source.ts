/** Where the bytes of a source go. After `end` or `fail`, which come once, nothing more arrives. */
export interface Sink {
  data(chunk: Uint8Array): void
  end(): void
  fail(error: Error): void
}

/** The reader's hand on an open source. */
export interface Flow {
  /** Stop delivering until `resume`; a chunk already under way may still arrive. */
  pause(): void
  resume(): void
  /** Close what feeds the source at once. The sink hears nothing more. */
  cancel(reason: Error): void
}

/**
 * Bytes that arrive over time, for exactly one reader.
 * `open` returns before it delivers anything to the sink.
 */
export interface Source {
  open(sink: Sink): Flow
}

/**
 * Bytes of known length that may be read as often as is wanted. A reader that is done with a chunk may give it back
 * (`giveBack`): a large body is then read without leaving garbage.
 */
export interface Body {
  /** In bytes. */
  readonly size: number
  /** All of them, where they are in memory. */
  readonly bytes?: Buffer
  /** The bytes from `from` up to, but not including, `to`; by default all of them. */
  open(from?: number, to?: number): Source
}

/** A body that is in memory. */
export interface HeldBody extends Body {
  readonly bytes: Buffer
}

/** Reads a body while it arrives, so that not all of it has to be held. */
export interface BodyReader {
  /** Most bytes of the body that are held in memory: a larger one goes to a file that is gone with the exchange. */
  readonly memory: number
  /** The next bytes, which are not its own: it copies what it keeps. What it throws refuses the body. */
  push(chunk: Buffer): void
  /** Bytes that it has kept so far. */
  readonly kept: number
}

/** One server-sent event (WHATWG HTML, section 9.2): the event name when there is one, and the joined data lines. */
export interface Frame {
  readonly event?: string
  readonly data: string
}

/** Bytes that all exchanges of this process may have in hand at once, of clients and of upstreams. */
export interface ByteBudget {
  /** False: too much is in hand already. */
  take(bytes: number): boolean
  give(bytes: number): void
}
