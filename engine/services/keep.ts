/** A value shared by configurations, and the number of its users. */
interface Held {
  readonly value: unknown
  readonly close: () => Promise<void> | void
  users: number
}

/** Values that outlive a configuration: created once per key, closed with the last configuration that used it. */
export class Keep {
  readonly #held = new Map<string, Held>()

  /** The lease of one configuration. */
  lease(): Lease {
    return new Lease(this.#held)
  }

  /** Closes all values, newest first, even if some fail. Rejects with an `AggregateError` of the failures. */
  close(): Promise<void> {
    return closeAll(this.#held, [...this.#held.keys()])
  }
}

/** One configuration's share in the kept values. */
export class Lease {
  readonly #held: Map<string, Held>
  readonly #used = new Set<string>()

  constructor(held: Map<string, Held>) {
    this.#held = held
  }

  /** The value of a key, created if no configuration uses it yet. */
  readonly get = <T>(key: string, make: () => T, close?: (value: T) => Promise<void> | void): T => {
    const held = this.#held.get(key) ?? this.#make(key, make, close)
    if (!this.#used.has(key)) {
      this.#used.add(key)
      held.users += 1
    }
    return held.value as T
  }

  /** Gives up all values it used; values without other users are closed, as in `Keep.close`. */
  close(): Promise<void> {
    const left = [...this.#held].filter(([key, held]) => this.#used.has(key) && --held.users === 0)
    this.#used.clear()
    return closeAll(
      this.#held,
      left.map(([key]) => key),
    )
  }

  #make<T>(key: string, make: () => T, close?: (value: T) => Promise<void> | void): Held {
    const value = make()
    const held = { value, close: () => close?.(value), users: 0 }
    this.#held.set(key, held)
    return held
  }
}

/** @param keys oldest first */
async function closeAll(from: Map<string, Held>, keys: readonly string[]): Promise<void> {
  const held = keys.flatMap((key) => from.get(key) ?? [])
  for (const key of keys) from.delete(key)
  const failures: unknown[] = []
  for (const { close } of held.reverse()) {
    try {
      await close()
    } catch (error) {
      failures.push(error)
    }
  }
  if (failures.length > 0) throw new AggregateError(failures, 'a kept resource could not be closed')
}
