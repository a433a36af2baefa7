import type { Giving, Hold, Reserved, Reserving, Settling, Taken, Taking } from './counters.ts'

/** What the running exchanges of a process hold: places and money. */
export class Holds {
  readonly #holds = new Map<string, Hold>()

  get all(): readonly Hold[] {
    return [...this.#holds.values()]
  }

  took({ id, lasts, places }: Taking, { refused }: Taken): void {
    if (places.length === 0 || refused) return
    this.#put({ ...this.#of(id, lasts), lasts, places: places.map(({ bucket }) => bucket) })
  }

  gave({ id, places }: Giving): void {
    const hold = this.#holds.get(id)
    if (hold) this.#put({ ...hold, places: hold.places.filter((bucket) => !places.includes(bucket)) })
  }

  reserved({ id, lasts, sums, input }: Reserving, reserved: Reserved): void {
    if (!('held' in reserved)) return
    const money = { sums: sums.map(({ bucket }) => bucket), micros: reserved.held, input, at: reserved.at }
    this.#put({ ...this.#of(id, lasts), lasts, ...money })
  }

  settled({ id, sums }: Settling): void {
    const hold = this.#holds.get(id)
    if (hold) this.#put({ ...hold, sums: hold.sums.filter((bucket) => !sums.includes(bucket)) })
  }

  /** Somebody else ends what the exchange holds. */
  forget(id: string): void {
    this.#holds.delete(id)
  }

  #of(id: string, lasts: number): Hold {
    return this.#holds.get(id) ?? { id, lasts, places: [], sums: [], micros: 0, input: 0, at: 0 }
  }

  #put(hold: Hold): void {
    if (hold.places.length === 0 && hold.sums.length === 0) this.#holds.delete(hold.id)
    else this.#holds.set(hold.id, hold)
  }
}
