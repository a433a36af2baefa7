import type { ByteBudget } from '../spec/source.ts'
import type { SocketLimits } from '../config/limits.ts'
import { MessageBytes } from './socket-bytes.ts'

/** Counts the unfinished message of one socket against the share of its client. */
export class Arrivals {
  readonly #share: ByteBudget
  readonly #limits: Pick<SocketLimits, 'arrival' | 'uncounted'>
  readonly #late: () => void
  readonly #messages = new MessageBytes({ part: (bytes) => this.#part(bytes), end: () => this.#end() })
  /** Bytes reserved in the share. */
  #bytes = 0
  /** Bytes of the last chunk that count against the share. */
  #due = 0
  /** Bytes of the unfinished message so far. */
  #size = 0
  #deadline: NodeJS.Timeout | undefined

  /**
   * @param share of the client
   * @param late called when a message does not end in time
   */
  constructor(share: ByteBudget, limits: Pick<SocketLimits, 'arrival' | 'uncounted'>, late: () => void) {
    this.#share = share
    this.#limits = limits
    this.#late = late
  }

  /** Counts a chunk. Returns false when the share is exhausted. */
  take(chunk: Buffer): boolean {
    this.#due = 0
    this.#messages.push(chunk)
    if (!this.#share.take(this.#due)) return false
    this.#bytes += this.#due
    return true
  }

  /** A message of `size` bytes is complete. Returns how many of its bytes the caller must return to the share. */
  complete(size: number): number {
    const held = Math.min(this.#counted(size), this.#bytes)
    this.#bytes -= held
    return held
  }

  /** Discards everything that has arrived, and returns its bytes to the share. */
  forget(): void {
    this.#share.give(this.complete(Infinity))
    clearTimeout(this.#deadline)
  }

  #part(bytes: number): void {
    this.#due += this.#counted(this.#size + bytes) - this.#counted(this.#size)
    this.#size += bytes
    this.#deadline ??= setTimeout(this.#late, this.#limits.arrival).unref()
  }

  #end(): void {
    this.#size = 0
    clearTimeout(this.#deadline)
    this.#deadline = undefined
  }

  #counted(size: number): number {
    return Math.max(0, size - this.#limits.uncounted)
  }
}
