import type { WebSocket } from 'ws'

/** Pings the other end of a socket, and terminates the socket when it no longer answers. */
export class Pulse {
  readonly #socket: WebSocket
  #unanswered = 0

  constructor(socket: WebSocket) {
    this.#socket = socket
  }

  /** Bytes arrived, even if only part of a message. */
  heard(): void {
    this.#unanswered = 0
  }

  /** Sends a ping. A peer that was silent for two beats counts as gone. */
  beat(): void {
    // A paused socket reads nothing, not even a pong.
    if (this.#socket.isPaused) return
    if (this.#unanswered >= 2) return this.#socket.terminate()
    this.#unanswered++
    if (this.#socket.readyState === this.#socket.OPEN) this.#socket.ping()
  }
}
