/** Keeps the values that were used last, by key. Beyond a number of them, the one unused for longest goes. */
export class Recent<T> {
  readonly #made = new Map<string, T>()
  readonly #most: number

  constructor(most: number) {
    this.#most = most
  }

  of(key: string, make: () => T): T {
    const one = this.#made.get(key) ?? make()
    this.#made.delete(key)
    this.#made.set(key, one)
    const [oldest = key] = this.#made.keys()
    if (this.#made.size > this.#most) this.#made.delete(oldest)
    return one
  }
}
