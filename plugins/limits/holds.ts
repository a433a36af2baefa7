import type { Giving, Hold, Reserved, Reserving, Settling, Taken, Taking } from './counters.ts'

/** What the running exchanges of a process hold: places and money. */
export class Holds {
  readonly #holds = new Map<string, Hold>()
  /** Runs in the background, whose holds have the id of the request that asked for them. */
  readonly #runs = new Set<string>()

  get all(): readonly Hold[] {
    return [...this.#holds.values()]
  }

  took({ id, lasts, places, forced = false }: Taking, { refused }: Taken): void {
    if (places.length === 0 || refused) return
    if (forced) this.#runs.add(id)
    this.#put({ ...this.#of(id, lasts), lasts, places: places.map(({ bucket }) => bucket) })
  }

  gave({ id, places }: Giving): void {
    const hold = this.#holds.get(id)
    if (hold) this.#put({ ...hold, places: hold.places.filter((bucket) => !places.includes(bucket)) })
  }

  reserved({ id, lasts, sums, input, isRun = false }: Reserving, reserved: Reserved): void {
    if (!('held' in reserved)) return
    if (isRun) this.#runs.add(id)
    const money = { sums: sums.map(({ bucket }) => bucket), micros: reserved.held, input, at: reserved.at }
    this.#put({ ...this.#of(id, lasts), lasts, ...money })
  }

  settled({ id, sums }: Settling): void {
    const hold = this.#holds.get(id)
    if (hold) this.#put({ ...hold, sums: hold.sums.filter((bucket) => !sums.includes(bucket)) })
  }

  /**
   * The run in the background ends what the exchange holds. Returns what that is; undefined: nothing, or the run has
   * begun here.
   */
  passOn(id: string): Hold | undefined {
    const hold = this.#runs.has(id) ? undefined : this.#holds.get(id)
    if (hold) this.#holds.delete(id)
    return hold
  }

  #of(id: string, lasts: number): Hold {
    const isRun = this.#runs.has(id)
    return { ...(this.#holds.get(id) ?? { id, lasts, places: [], sums: [], micros: 0, input: 0, at: 0 }), isRun }
  }

  #put(hold: Hold): void {
    if (hold.places.length > 0 || hold.sums.length > 0) return void this.#holds.set(hold.id, hold)
    this.#holds.delete(hold.id)
    this.#runs.delete(hold.id)
  }
}
