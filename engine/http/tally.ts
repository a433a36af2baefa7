/** Counts what there is per name, up to a limit. */
export class Tally {
  readonly #limit: number
  readonly #counts = new Map<string, number>()

  constructor(limit: number) {
    this.#limit = limit
  }

  /** One more of `name`, and how to take it back, which counts once; undefined: there are enough. */
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
