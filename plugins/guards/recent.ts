/** What was made last, by its key: of more than some, what nobody has wanted for longest goes. */
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
