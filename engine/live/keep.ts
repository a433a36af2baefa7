/** Things that outlive a configuration: made once per key, closed with the process. */
export class Keep {
  readonly #held = new Map<string, { readonly value: unknown; readonly close: () => Promise<void> | void }>()

  /** The value of a key, made on first use. */
  readonly get = <T>(key: string, make: () => T, close?: (value: T) => Promise<void> | void): T => {
    const held = this.#held.get(key)
    if (held) return held.value as T
    const value = make()
    this.#held.set(key, { value, close: () => close?.(value) })
    return value
  }

  /** Closes everything, the newest first, each even when another fails. Rejects with an `AggregateError` of the failures. */
  async close(): Promise<void> {
    const held = [...this.#held.values()].reverse()
    this.#held.clear()
    const failures: unknown[] = []
    for (const { close } of held) {
      try {
        await close()
      } catch (error) {
        failures.push(error)
      }
    }
    if (failures.length > 0) throw new AggregateError(failures, 'something that was kept could not be closed')
  }
}
