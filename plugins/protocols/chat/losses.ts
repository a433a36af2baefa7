import type { Loss } from '../../../engine/index.ts'

/** What could not be carried over, each field once. */
export class Losses {
  readonly #found = new Map<string, string>()

  add(field: string, because: string): void {
    if (!this.#found.has(field)) this.#found.set(field, because)
  }

  list(): readonly Loss[] {
    return Array.from(this.#found, ([field, because]) => ({ field, because }))
  }
}
