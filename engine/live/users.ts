import type { GatewayError } from '../spec/error.ts'
import type { Snapshot } from './snapshot.ts'

/** Counts the exchanges in each configuration. A retired configuration is closed after its last exchange. */
export class Users {
  readonly #counts = new Map<Snapshot, number>()
  /** Functions that abort exchanges added by `addApart`. */
  readonly #apart = new Set<(reason: GatewayError) => void>()
  /** Configurations that close after their last user, and those being closed. */
  readonly #retired = new Set<Snapshot>()
  readonly #closing = new Set<Promise<void>>()
  #idle: () => void = () => undefined

  has(snapshot: Snapshot): boolean {
    return this.#counts.has(snapshot)
  }

  add(snapshot: Snapshot): void {
    this.#counts.set(snapshot, (this.#counts.get(snapshot) ?? 0) + 1)
  }

  /** Undoes `add`; without effect after `clear`. */
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

  /** Adds an exchange that ends on its own, and that `cut` aborts. Returns a function that removes it. */
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

  /** Resolves when no configuration has users. */
  async idle(): Promise<void> {
    if (this.#counts.size > 0) await new Promise<void>((idle) => (this.#idle = idle))
  }

  /** The configuration gets no new users: it closes after its last one. */
  retire(snapshot: Snapshot): void {
    if (this.has(snapshot)) this.#retired.add(snapshot)
    else this.closes(snapshot.close())
  }

  /** Forgets all remaining users, closes their configurations, and returns the number of these. */
  evict(): number {
    const left = [...this.#counts.keys()]
    this.#counts.clear()
    this.#retired.clear()
    for (const snapshot of left) this.closes(snapshot.close())
    return left.length
  }

  /** Adds a closing for which `closed` waits. */
  readonly closes = (closed: Promise<void>): void => {
    const closing = closed.finally(() => this.#closing.delete(closing))
    this.#closing.add(closing)
  }

  /** Resolves when everything that is being closed is closed. */
  async closed(): Promise<void> {
    await Promise.all(this.#closing)
  }
}
