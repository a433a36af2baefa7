import type { GatewayError } from '../spec/error.ts'
import type { Snapshot } from './snapshot.ts'

/** How many exchanges are in each configuration. */
export class Users {
  readonly #counts = new Map<Snapshot, number>()
  /** What ends the exchanges that hold a configuration by themselves. */
  readonly #apart = new Set<(reason: GatewayError) => void>()
  readonly #onLeft: (snapshot: Snapshot) => void
  #idle: () => void = () => undefined

  /** @param onLeft hears of each configuration whose last user has left */
  constructor(onLeft: (snapshot: Snapshot) => void) {
    this.#onLeft = onLeft
  }

  has(snapshot: Snapshot): boolean {
    return this.#counts.has(snapshot)
  }

  add(snapshot: Snapshot): void {
    this.#counts.set(snapshot, (this.#counts.get(snapshot) ?? 0) + 1)
  }

  /** Takes away what `add` added; after `clear` nothing is there any more. */
  remove(snapshot: Snapshot): void {
    const held = this.#counts.get(snapshot)
    if (held === undefined) return
    if (held > 1) {
      this.#counts.set(snapshot, held - 1)
      return
    }
    this.#counts.delete(snapshot)
    this.#onLeft(snapshot)
    if (this.#counts.size === 0) this.#idle()
  }

  /** Adds one that ends by itself, and that `cut` reaches; the answer removes it. */
  addApart(snapshot: Snapshot, cut: (reason: GatewayError) => void): () => void {
    this.add(snapshot)
    this.#apart.add(cut)
    return () => {
      this.#apart.delete(cut)
      this.remove(snapshot)
    }
  }

  cut(reason: GatewayError): void {
    for (const end of this.#apart) end(reason)
  }

  /** Resolves when nobody is in any configuration. */
  async idle(): Promise<void> {
    if (this.#counts.size > 0) await new Promise<void>((idle) => (this.#idle = idle))
  }

  /** Forgets who is left, and answers where they are. */
  clear(): Snapshot[] {
    const left = [...this.#counts.keys()]
    this.#counts.clear()
    return left
  }
}
