import type { ByteBudget } from '../spec/source.ts'
import type { SocketLimits } from './limits.ts'
import { MessageBytes } from './socket-bytes.ts'

/** What one socket has taken from the budget for the messages that are arriving. */
export class Arrivals {
  readonly #budget: ByteBudget
  readonly #share: ByteBudget
  readonly #limits: Pick<SocketLimits, 'arrival' | 'uncounted'>
  readonly #late: () => void
  readonly #messages = new MessageBytes({ part: (bytes) => this.#part(bytes), end: () => this.#end() })
  /** Bytes that were taken. */
  #bytes = 0
  /** Of the last chunk, those that count. */
  #due = 0
  /** Of the message that has not ended. */
  #size = 0
  #deadline: NodeJS.Timeout | undefined

  /**
   * @param budget of all clients
   * @param share of this one, for what has not arrived whole
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

  /** Counts what came. False: too much is in hand already. */
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

  /** A message of `size` bytes is there: how many of them the budget has still to get back. */
  complete(size: number): number {
    const held = Math.min(this.#counted(size), this.#bytes)
    this.#bytes -= held
    this.#share.give(held)
    return held
  }

  /** Nothing of what has arrived is kept any more. */
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

/** What each client may have at once: so many bytes of its own. */
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
