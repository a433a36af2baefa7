/** Counts per name, up to a limit. */
export class Tally {
  readonly #limit: number
  readonly #counts = new Map<string, number>()

  constructor(limit: number) {
    this.#limit = limit
  }

  /** Adds one to `name`. Returns a function that subtracts it again, at most once; undefined at the limit. */
  add(name: string): (() => void) | undefined {
    const count = this.#counts.get(name) ?? 0
    if (count >= this.#limit) return undefined
    this.#counts.set(name, count + 1)
    let counted = true
    return () => {
      if (!counted) return
      counted = false
      const left = (this.#counts.get(name) ?? 0) - 1
      if (left > 0) this.#counts.set(name, left)
      else this.#counts.delete(name)
    }
  }
}
