import { GatewayError } from '../spec/error.ts'
import type { Flow, Sink, Source } from '../spec/source.ts'
import { joinedBytes } from './buffer-of.ts'
import { byteBudgetSpent } from './byte-budget.ts'
import type { Hold } from './byte-budget.ts'

/**
 * Collects all bytes of a source. Their reservation in `hold` stays; it is released when the bytes are refused.
 * Rejects, and cancels the source, as soon as there are more than `limit` bytes (`upstream_invalid_response`) or the
 * budget is exhausted (`overloaded`).
 */
export function collect(source: Source, limit: number, hold?: Hold): Promise<Buffer> {
  return new Promise((end, fail) => collecting(source, limit, hold, { end, fail }))
}

/** Like `collect`, without a promise. */
export function collecting(source: Source, limit: number, hold: Hold | undefined, done: Collected): void {
  const collecting = new Collecting(limit, hold, done)
  collecting.flow = source.open(collecting)
}

class Collecting implements Sink {
  flow: Flow | undefined
  readonly #limit: number
  readonly #hold: Hold | undefined
  readonly #done: Collected
  #parts: Uint8Array[] | undefined
  #size = 0

  constructor(limit: number, hold: Hold | undefined, done: Collected) {
    this.#limit = limit
    this.#hold = hold
    this.#done = done
  }

  data(chunk: Uint8Array): void {
    this.#size += chunk.length
    const isTooLarge = this.#size > this.#limit
    if (isTooLarge || this.#hold?.take(chunk.length) === false) {
      const error = isTooLarge ? tooLarge(this.#limit) : byteBudgetSpent()
      this.flow?.cancel(error)
      this.fail(error)
    } else if (this.#parts) this.#parts.push(chunk)
    else this.#parts = [chunk]
  }

  end(): void {
    this.#done.end(joinedBytes(this.#parts ?? []))
  }

  fail(error: Error): void {
    this.#parts = undefined
    this.#hold?.release()
    this.#done.fail(error)
  }
}

/** Receives what was collected, or why it was not; one of both, once. */
export interface Collected {
  end(bytes: Buffer): void
  fail(error: Error): void
}

/** The error for a body beyond the limit. */
export function tooLarge(limit: number): GatewayError {
  return new GatewayError(
    'upstream_invalid_response',
    { reason: `its body is larger than ${limit} bytes` },
    { tags: ['invalid'], retry: 'other' },
  )
}
