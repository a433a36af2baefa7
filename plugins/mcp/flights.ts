import type { RequestId } from './message.ts'

/** Most requests of a session that are remembered although their stream has ended without their answer. */
const mostLeft = 1_000

/**
 * The ids of the requests of one session that are not answered yet. The id 1 is another one than "1". A stream may end
 * before the answer that it should carry; the client then resumes it, and the id stays in flight.
 */
export class Flights {
  readonly #open = new Set<RequestId>()
  readonly #left = new Set<RequestId>()

  /** Whether an exchange of this process waits for an answer. */
  get any(): boolean {
    return this.#open.size > 0
  }

  /** Returns false if the id is in flight already. */
  begin(id: RequestId): boolean {
    if (this.#open.has(id) || this.#left.has(id)) return false
    this.#open.add(id)
    return true
  }

  /** The exchange of a request is over; if its stream has left, its id stays in flight. */
  close(id: RequestId): void {
    this.#open.delete(id)
  }

  /** The request is answered, or was cancelled. */
  end(id: RequestId): void {
    this.#open.delete(id)
    this.#left.delete(id)
  }

  /** The stream of a request has ended, and another one may bring its answer. */
  leave(id: RequestId): void {
    if (!this.#open.delete(id)) return
    this.#left.add(id)
    const [oldest] = this.#left
    if (this.#left.size > mostLeft && oldest !== undefined) this.#left.delete(oldest)
  }

  has(id: RequestId): boolean {
    return this.#open.has(id) || this.#left.has(id)
  }
}
