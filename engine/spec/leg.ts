/** One side of a relayed socket, as whoever feeds it holds it. What is sent to one that has closed is dropped. */
export interface Leg {
  /** Sends a message, as text or as bytes. False: so much has not left that who feeds it should wait for `drained`. */
  send(message: Uint8Array, binary: boolean): boolean
  /** Bytes that were sent and have not left. */
  readonly unsent: number
  /** Stop delivering messages until `resume`; one already under way may still arrive. */
  pause(): void
  resume(): void
  /**
   * Closes it. A code that no close frame may hold (RFC 6455, section 7.4.1) becomes none, or 1011.
   * @param error why, where it is a failure: for the log
   */
  close(code?: number, reason?: string, error?: Error): void
}

/** Hears one side of a relayed socket. What it throws closes that side with 1011. */
export interface LegSink {
  message(bytes: Buffer, binary: boolean): void
  /** Of what was sent to it so much has left that there is room for more. */
  drained(): void
  /**
   * It has closed; 1005 without a code, 1006 without a word. The answer: when the other side has closed, too.
   * @param error why, where the gateway closed it for a failure
   */
  closed(code: number, reason: string, error?: Error): void | Promise<void>
  /** The gateway is about to stop, and cuts it at the end of its deadline. Absent: it is closed at once. */
  stopping?(): void
}

/** An open socket to an upstream: it says nothing until somebody hears it. */
export interface Dialed {
  /** The subprotocol that it has chosen; empty: none. */
  readonly protocol: string
  attach(sink: LegSink): Leg
}
