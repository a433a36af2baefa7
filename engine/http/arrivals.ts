import type { ByteBudget } from '../spec/source.ts'
import type { SocketLimits } from './limits.ts'
import { MessageBytes } from './socket-bytes.ts'

/** Counts the unfinished message of one socket against the byte budget. */
export class Arrivals {
  readonly #budget: ByteBudget
  readonly #share: ByteBudget
  readonly #limits: Pick<SocketLimits, 'arrival' | 'uncounted'>
  readonly #late: () => void
  readonly #messages = new MessageBytes({ part: (bytes) => this.#part(bytes), end: () => this.#end() })
  /** Bytes reserved in the budget. */
  #bytes = 0
  /** Bytes of the last chunk that count against the budget. */
  #due = 0
  /** Bytes of the unfinished message so far. */
  #size = 0
  #deadline: NodeJS.Timeout | undefined

  /**
   * @param budget shared by all clients
   * @param share this client's own limit for unfinished messages
   * @param late called when a message does not end in time
   */
  constructor(
    budget: ByteBudget,
    share: ByteBudget,
    limits: Pick<SocketLimits, 'arrival' | 'uncounted'>,
    late: () => void,
  ) {
    this.#budget = budget
    this.#share = share
    this.#limits = limits
    this.#late = late
  }

  /** Counts a chunk. Returns false when the budget or the share is exhausted. */
  take(chunk: Buffer): boolean {
    this.#due = 0
    this.#messages.push(chunk)
    if (!this.#share.take(this.#due)) return false
    if (!this.#budget.take(this.#due)) {
      this.#share.give(this.#due)
      return false
    }
    this.#bytes += this.#due
    return true
  }

  /** A message of `size` bytes is complete. Returns how many of its bytes the caller must return to the budget. */
  complete(size: number): number {
    const held = Math.min(this.#counted(size), this.#bytes)
    this.#bytes -= held
    this.#share.give(held)
    return held
  }

  /** Discards everything that has arrived, and returns its bytes to the budget. */
  forget(): void {
    this.#budget.give(this.complete(Infinity))
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

/** One byte budget per client. */
export class Shares {
  readonly #limit: number
  readonly #used = new Map<string, number>()

  constructor(limit: number) {
    this.#limit = limit
  }

  /** The share of `name`. */
  of(name: string): ByteBudget {
    const used = () => this.#used.get(name) ?? 0
    return {
      take: (bytes) => {
        if (used() + bytes > this.#limit) return false
        if (bytes > 0) this.#used.set(name, used() + bytes)
        return true
      },
      give: (bytes) => {
        const left = used() - bytes
        if (left > 0) this.#used.set(name, left)
        else this.#used.delete(name)
      },
    }
  }
}
