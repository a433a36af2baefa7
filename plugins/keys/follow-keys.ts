/** Failed or unanswered checks in a row after which other processes' changes count as unknown. */
const most = 3

/** Follows the keys that other processes create and revoke: one check at a time. */
export class KeyFollowing {
  readonly #poll: () => Promise<boolean>
  readonly #changed: () => void
  #looking = false
  #missed = 0
  #problem: string | undefined

  /**
   * @param poll reads what has changed, and resolves to whether anything has
   * @param changed called after a change
   */
  constructor(poll: () => Promise<boolean>, changed: () => void) {
    this.#poll = poll
    this.#changed = changed
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
      if (await this.#poll()) this.#changed()
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
    if (this.#missed === most) this.#problem = `keys created or revoked by other processes are not known: ${why}`
  }
}
