/** Failed or unanswered checks in a row after which the changes of other processes count as unknown. */
const most = 3

/** What a service polls. */
export interface Polled {
  /** Reads what has changed, and resolves to whether anything has. */
  readonly poll: () => Promise<boolean>
  /** Called after a change. */
  readonly changed: () => void
  /** The problem when checks fail: `keys created by other processes are not known`. */
  readonly unknown: string
}

/** Follows what other processes change in a service's tables: one check at a time. */
export class ChangePoll {
  readonly #polled: Polled
  #looking = false
  #missed = 0
  #problem: string | undefined

  constructor(polled: Polled) {
    this.#polled = polled
  }

  /** Why changes are unknown, in the same words until they are known again; undefined: they are known. */
  get problem(): string | undefined {
    return this.#problem
  }

  /** Checks for changes, unless the last check is still waiting. Never rejects. */
  async look(): Promise<void> {
    if (this.#looking) return this.#miss('the database does not answer')
    this.#looking = true
    try {
      if (await this.#polled.poll()) this.#polled.changed()
      this.#missed = 0
      this.#problem = undefined
    } catch (error) {
      this.#miss(error instanceof Error ? error.message : String(error))
    } finally {
      this.#looking = false
    }
  }

  #miss(why: string): void {
    this.#missed += 1
    if (this.#missed === most) this.#problem = `${this.#polled.unknown}: ${why}`
  }
}
