import type { GatewayError } from '../spec/error.ts'
import type { Snapshot } from './snapshot.ts'

/** How many exchanges are in each configuration; one that has none any more is closed once it has had its day. */
export class Users {
  readonly #counts = new Map<Snapshot, number>()
  /** What ends the exchanges that hold a configuration by themselves. */
  readonly #apart = new Set<(reason: GatewayError) => void>()
  /** Those that close when their last user has left, and what is closing now. */
  readonly #retired = new Set<Snapshot>()
  readonly #closing = new Set<Promise<void>>()
  #idle: () => void = () => undefined

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
    if (this.#retired.delete(snapshot)) this.closes(snapshot.close())
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

  /** Nobody comes to it any more: it closes when its last user has left. */
  retire(snapshot: Snapshot): void {
    if (this.has(snapshot)) this.#retired.add(snapshot)
    else this.closes(snapshot.close())
  }

  /** Forgets who is left, closes where they are, and answers how many configurations that were. */
  evict(): number {
    const left = [...this.#counts.keys()]
    this.#counts.clear()
    this.#retired.clear()
    for (const snapshot of left) this.closes(snapshot.close())
    return left.length
  }

  /** Something closes that `closed` waits for. */
  readonly closes = (closed: Promise<void>): void => {
    const closing = closed.finally(() => this.#closing.delete(closing))
    this.#closing.add(closing)
  }

  /** Resolves when all that is closing now is closed. */
  async closed(): Promise<void> {
    await Promise.all(this.#closing)
  }
}
