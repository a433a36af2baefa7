/** The end of something that has begun. Every promise is one; a listener is called once, and its result is ignored. */
export interface Eventual<T> {
  then(ended: (value: T) => void, failed: (error: unknown) => void): unknown
}

/** The end of steps, which leave what they give in the slots. */
export type Pending = Eventual<void>

/**
 * An `Eventual` that costs one object: a promise for each wait of each step would cost more than most steps. It has one
 * listener, which is called at once, not in a later microtask.
 */
export class Later<T = void> implements Eventual<T> {
  #ended: ((value: T) => void) | undefined
  #failed: ((error: unknown) => void) | undefined
  #state: 'waiting' | 'over' | 'broken' = 'waiting'
  #result: unknown

  /** Only the first end, or failure, counts. */
  end(value: T): void {
    if (this.#state !== 'waiting') return
    this.#state = 'over'
    this.#result = value
    const ended = this.#ended
    this.#forget()
    ended?.(value)
  }

  fail(error: unknown): void {
    if (this.#state !== 'waiting') return
    this.#state = 'broken'
    this.#result = error
    const failed = this.#failed
    this.#forget()
    failed?.(error)
  }

  then(ended: (value: T) => void, failed: (error: unknown) => void): void {
    if (this.#state === 'over') ended(this.#result as T)
    else if (this.#state === 'broken') failed(this.#result)
    else [this.#ended, this.#failed] = [ended, failed]
  }

  /** A stage that is late may hold this for long; it must not hold the exchange, too. */
  #forget(): void {
    this.#ended = undefined
    this.#failed = undefined
  }
}
