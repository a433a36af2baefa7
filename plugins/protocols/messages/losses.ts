import type { Loss } from '../../../engine/index.ts'

/** Collects what could not be carried over; the same loss is kept once. */
export class Losses {
  readonly #met = new Map<string, Loss>()

  add(field: string, because: string): void {
    this.#met.set(`${field} ${because}`, { field, because })
  }

  get list(): readonly Loss[] {
    return [...this.#met.values()]
  }
}
