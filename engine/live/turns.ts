/** Reloads and changes of a configuration, one after the other. */
export class Turns {
  #last: Promise<unknown> = Promise.resolve()
  #opening: Promise<unknown> = Promise.resolve()

  /** Does it when all before has ended; whoever asks hears of its failure, the next does not. */
  take<T>(work: () => T | Promise<T>): Promise<T> {
    const done = this.#last.then(work)
    this.#last = done.catch(() => undefined)
    return done
  }

  /** Says of the one whose turn it is that from now on it opens something, which is to be waited for at the end. */
  opens<T>(working: T | Promise<T>): Promise<T> {
    const opening = Promise.resolve(working)
    this.#opening = opening.catch(() => undefined)
    return opening
  }

  /** Resolves when what is being opened is open, or has failed. */
  get opened(): Promise<unknown> {
    return this.#opening
  }
}
