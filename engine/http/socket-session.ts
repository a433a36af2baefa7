import type { Session } from '../spec/slots.ts'

interface Kept {
  readonly value: unknown
  readonly release: (() => void) | undefined
}

/** Values that stages keep for one socket. */
export class SocketSession implements Session {
  readonly #kept = new Map<string, Kept>()
  #ended = false

  get(word: string): unknown {
    return this.#kept.get(word)?.value
  }

  set(word: string, value: unknown, release?: () => void): void {
    this.delete(word)
    // A turn may end after its socket.
    if (this.#ended) release?.()
    else this.#kept.set(word, { value, release })
  }

  delete(word: string): void {
    const kept = this.#kept.get(word)
    this.#kept.delete(word)
    kept?.release?.()
  }

  /** The socket has closed: releases all values. */
  end(): void {
    this.#ended = true
    for (const word of this.#kept.keys()) this.delete(word)
  }
}
