import type { Logger } from 'pino'
import { printDiagnostic } from '../config/diagnostics.ts'
import type { Diagnostic } from '../config/diagnostics.ts'

/** Milliseconds after which a change of a record by another process is looked for: it is followed within a second. */
export const recordPoll = 500

/** Milliseconds between two tries of the same records: at first, and at most. */
const pauses = { first: recordPoll, most: 60_000 }

/** What is followed, and how. */
export interface Followed {
  readonly log: Logger
  /** Number of the changes of the stored records so far. Rejects while the store is away. */
  readonly revision: () => Promise<number>
  /** Whether what runs holds so many changes, and left out nothing that could not be opened. */
  readonly isLive: (revision: number) => boolean
  /** Builds what is stored now and swaps it in, or says why not. */
  readonly adopt: () => Promise<readonly Diagnostic[]>
  /** Says why it is not swapped in. */
  readonly refused: (findings: readonly Diagnostic[]) => void
}

/**
 * Keeps up with the stored records: with what other processes change, and with what could not be opened, which is tried
 * again after growing pauses. Says once what is wrong, and once that it is well again.
 */
export class Following {
  readonly #followed: Followed
  #looking = false
  /** Why the last look or try failed, as it was told. */
  #lost: string | undefined
  #refusal: string | undefined
  /** The revision that was tried last, and when it may be tried again. */
  #tried: number | undefined
  #pause = pauses.first
  #next = 0

  constructor(followed: Followed) {
    this.#followed = followed
  }

  /** What is stored is not what runs. */
  get isBehind(): boolean {
    return this.#refusal !== undefined || this.#lost !== undefined
  }

  /** Something else brought what is stored to life. */
  caughtUp(): void {
    this.#refusal = undefined
  }

  /** Looks whether there is something to take over. Never rejects. */
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

  /** False: it was not tried. */
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
