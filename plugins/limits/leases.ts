const nothing: readonly never[] = []

/** Values by id that last until a moment. */
export class Leases<V> {
  readonly #leases = new Map<string, { readonly value: V; readonly until: number }>()
  /** No lease ends before. */
  #earliest = Infinity

  get size(): number {
    return this.#leases.size
  }

  get(id: string): V | undefined {
    return this.#leases.get(id)?.value
  }

  set(id: string, value: V, until: number): void {
    this.#leases.set(id, { value, until })
    this.#earliest = Math.min(this.#earliest, until)
  }

  delete(id: string): void {
    this.#leases.delete(id)
  }

  /** Ends the leases whose time is over, and returns their values. */
  expire(now: number): readonly V[] {
    if (now < this.#earliest) return nothing
    this.#earliest = Infinity
    const ended: V[] = []
    for (const [id, { value, until }] of this.#leases) {
      if (until > now) this.#earliest = Math.min(this.#earliest, until)
      else {
        this.#leases.delete(id)
        ended.push(value)
      }
    }
    return ended
  }
}
