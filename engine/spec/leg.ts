/** One side of a relayed socket, as seen by its sender. Messages to a closed leg are dropped. */
export interface Leg {
  /**
   * Sends a message as text or as bytes. Returns false when too much is unsent: the sender should then wait for
   * `drained`.
   */
  send(message: Uint8Array, binary: boolean): boolean
  /** Bytes not sent yet. */
  readonly unsent: number
  /** Stops delivering messages until `resume`; one message may still arrive. */
  pause(): void
  resume(): void
  /**
   * Closes the leg. A code that must not be sent in a close frame (RFC 6455, section 7.4.1) is replaced by no code,
   * or by 1011.
   * @param error the cause if this is a failure, for the log
   */
  close(code?: number, reason?: string, error?: Error): void
}

/** Limits for sockets to upstreams. Times are milliseconds. */
export interface LegLimits {
  /** Maximum bytes of a message. */
  readonly message: number
  /** Bytes written but not sent beyond which the sender has to wait. */
  readonly unsent: number
  /** Time they may stay unsent. */
  readonly stalled: number
  /** Time between two pings. */
  readonly beat: number
  /** Time for the other end to answer a close frame. */
  readonly closeTimeout: number
}

/** Receives the events of one side of a relayed socket. If a method throws, that side is closed with 1011. */
export interface LegSink {
  message(bytes: Buffer, binary: boolean): void
  /** There is room for further messages. */
  drained(): void
  /**
   * The leg has closed; code 1005 without a code, 1006 without a close frame. May return a promise for the close of
   * the other side.
   * @param code for the client's side: the code with which to close the upstream
   * @param error the failure for which the gateway closed it
   * @param own the code with which the gateway closed it for a reason of its own
   */
  closed(code: number, reason: string, error?: Error, own?: number): void | Promise<void>
  /** The gateway is about to stop, and closes the leg at its deadline. Absent: the leg is closed at once. */
  stopping?(): void
}

/** An open socket to an upstream, paused until a sink is attached. */
export interface Dialed {
  /** The negotiated subprotocol; empty: none. */
  readonly protocol: string
  attach(sink: LegSink): Leg
}
