/** Runs reloads and changes of a configuration one after the other. */
export class Turns {
  #last: Promise<unknown> = Promise.resolve()
  #opening: Promise<unknown> = Promise.resolve()

  /** Runs `work` after all earlier work has ended. Its failure reaches its caller only. */
  take<T>(work: () => T | Promise<T>): Promise<T> {
    const done = this.#last.then(work)
    this.#last = done.catch(() => undefined)
    return done
  }

  /** Marks the current work as opening something, for which `opened` waits. */
  opens<T>(working: T | Promise<T>): Promise<T> {
    const opening = Promise.resolve(working)
    this.#opening = opening.catch(() => undefined)
    return opening
  }

  /** Resolves when the work marked by `opens` has ended. */
  get opened(): Promise<unknown> {
    return this.#opening
  }
}
