import type { WebSocket } from 'ws'

/** Whether the other end of a socket is still there. */
export class Pulse {
  readonly #socket: WebSocket
  #unanswered = 0

  constructor(socket: WebSocket) {
    this.#socket = socket
  }

  /** Something came of it, were it a part of a message. */
  heard(): void {
    this.#unanswered = 0
  }

  /** Asks. One from whom nothing came twice is gone. */
  beat(): void {
    // What it says is not read any more.
    if (this.#socket.isPaused) return
    if (this.#unanswered >= 2) return this.#socket.terminate()
    this.#unanswered++
    if (this.#socket.readyState === this.#socket.OPEN) this.#socket.ping()
  }
}
