import type { Mode, Tier } from '../../engine/index.ts'

/** What experience is about: a model in a mode and tier. */
export interface Place {
  readonly model: string
  readonly mode: Mode
  readonly tier: Tier
}

/** A key for maps. */
export function keyOf({ model, mode, tier }: Place): string {
  return `${mode} ${tier} ${model}`
}

/** The place of a row of the database. */
export function placeOf({ model, mode, tier }: Record<keyof Place, string>): Place {
  return { model, mode: mode as Mode, tier: tier as Tier }
}

/** Values by place. It is asked several times of each model for each decision, so no text is made as a key. */
export class PlaceMap<V> {
  readonly #models = new Map<string, Map<Mode, Map<Tier, V>>>()

  get isEmpty(): boolean {
    return this.#models.size === 0
  }

  get({ model, mode, tier }: Place): V | undefined {
    return this.#models.get(model)?.get(mode)?.get(tier)
  }

  /** Whether there is a value in any tier of a place. */
  hasMode({ model, mode }: Omit<Place, 'tier'>): boolean {
    return this.#models.get(model)?.has(mode) === true
  }

  set({ model, mode, tier }: Place, value: V): void {
    let modes = this.#models.get(model)
    if (!modes) this.#models.set(model, (modes = new Map()))
    let values = modes.get(mode)
    if (!values) modes.set(mode, (values = new Map()))
    values.set(tier, value)
  }

  delete({ model, mode, tier }: Place): void {
    const modes = this.#models.get(model)
    const values = modes?.get(mode)
    if (values?.delete(tier) && values.size === 0) modes?.delete(mode)
    if (modes?.size === 0) this.#models.delete(model)
  }

  *values(): Generator<V> {
    for (const modes of this.#models.values()) for (const values of modes.values()) yield* values.values()
  }
}
