/** Runs work of the same key one after the other. */
export class InTurn {
  readonly #last = new Map<string, Promise<unknown>>()

  /** Runs `work` after all earlier work of this key has ended. Its failure reaches its caller only. */
  async take<T>(key: string, work: () => Promise<T>): Promise<T> {
    const done = (this.#last.get(key) ?? Promise.resolve()).then(work)
    const ended = done.catch(() => undefined)
    this.#last.set(key, ended)
    try {
      return await done
    } finally {
      if (this.#last.get(key) === ended) this.#last.delete(key)
    }
  }
}
