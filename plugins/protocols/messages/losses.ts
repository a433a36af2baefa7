import type { Loss } from '../../../engine/index.ts'

/** Collects what could not be carried over; the same loss is kept once. */
export class Losses {
  readonly #list: Loss[] = []

  add(field: string, because: string): void {
    if (!this.#list.some((loss) => loss.field === field && loss.because === because))
      this.#list.push({ field, because })
  }

  get list(): readonly Loss[] {
    return this.#list
  }
}

/** A name the client chose, fit to stand in a loss: losses reach headers and logs, so anything but a word is withheld. */
export function word(name: unknown): string {
  return typeof name === 'string' && /^[\w.-]{1,64}$/.test(name) ? name : 'unknown'
}
