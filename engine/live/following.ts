import type { Logger } from 'pino'
import { printDiagnostic } from '../config/diagnostics.ts'
import type { Diagnostic } from '../config/diagnostics.ts'

/** Milliseconds between two checks for changes by other processes: a change takes effect within a second. */
export const recordPoll = 500

/** Milliseconds between two attempts with the same records: initial and maximum. */
const pauses = { first: recordPoll, most: 60_000 }

/** How stored records are followed. */
export interface Followed {
  readonly log: Logger
  /** The current revision of the stored records. Rejects while the store is unavailable. */
  readonly revision: () => Promise<number>
  /** Whether the running configuration has this revision, and left out no record because of a failure to open it. */
  readonly isLive: (revision: number) => boolean
  /** Builds a configuration with the current records and makes it live; otherwise returns the findings. */
  readonly adopt: () => Promise<readonly Diagnostic[]>
  /** Logs why it does not go live. */
  readonly refused: (findings: readonly Diagnostic[]) => void
}

/**
 * Follows the stored records: changes by other processes, and records that could not be opened, which are retried with
 * growing pauses. Logs each problem once, and its end once.
 */
export class Following {
  readonly #followed: Followed
  #looking = false
  /** The latest logged reason why a check or attempt failed. */
  #lost: string | undefined
  #refusal: string | undefined
  /** The revision of the last attempt, and when it may be retried. */
  #tried: number | undefined
  #pause = pauses.first
  #next = 0

  constructor(followed: Followed) {
    this.#followed = followed
  }

  /** Whether the running configuration differs from the stored records. */
  get isBehind(): boolean {
    return this.#refusal !== undefined || this.#lost !== undefined
  }

  /** The stored records went live in another way. */
  caughtUp(): void {
    this.#refusal = undefined
  }

  /** Checks for changes and applies them. Never rejects. */
  async look(): Promise<void> {
    if (this.#looking) return
    this.#looking = true
    try {
      if (!(await this.#isFollowed()) || this.#lost === undefined) return
      this.#lost = undefined
      this.#followed.log.info('the stored records are followed again')
    } catch (error) {
      const words = String(error)
      if (this.#lost !== words) this.#followed.log.warn({ err: error }, 'the stored records cannot be followed')
      this.#lost = words
    } finally {
      this.#looking = false
    }
  }

  /** Returns false if nothing was attempted. */
  async #isFollowed(): Promise<boolean> {
    const { revision, isLive, adopt, refused } = this.#followed
    const now = await revision()
    if (isLive(now)) return true
    const isNew = now !== this.#tried
    if (!isNew && performance.now() < this.#next) return false
    this.#tried = now
    this.#pause = isNew ? pauses.first : Math.min(2 * this.#pause, pauses.most)
    try {
      const findings = await adopt()
      const words = findings.map(printDiagnostic).join('\n')
      if (findings.length > 0 && words !== this.#refusal) refused(findings)
      this.#refusal = words === '' ? undefined : words
    } finally {
      this.#next = performance.now() + this.#pause
    }
    return true
  }
}
