import { randomUUIDv7 } from 'node:crypto'
import type { Cause, Notice, State } from './cause.ts'

/** When a cause is said. In milliseconds. */
export interface Saying {
  /** A cause shorter than this is not said. */
  readonly hold: number
  /** After this time it is said again. */
  readonly repeat: number
}

/** Milliseconds for which what was said before a restart goes on until somebody sees it again. */
const grace = 5_000

/** A cause that lasts. Times in milliseconds since 1970. */
export interface OpenCause extends Cause {
  readonly id: string
  readonly since: number
  /** When it was last said; undefined: it was not. */
  saidAt: number | undefined
}

interface Entry extends OpenCause {
  /** Since when it is only known from before a restart. */
  keptSince: number | undefined
}

/** The causes that one speaker knows: they begin, last and end. */
export class Causes {
  readonly #entries = new Map<string, Entry>()

  /** All of them, said or not. */
  get all(): readonly OpenCause[] {
    return [...this.#entries.values()]
  }

  has(key: string): boolean {
    return this.#entries.has(key)
  }

  /** Takes over what was said before: it is not said anew. */
  restore(kept: readonly OpenCause[], now: number): void {
    this.#entries.clear()
    for (const one of kept) {
      // Where several have said it, one goes on, and the others end.
      const place = this.#entries.has(one.key) ? `${one.key} ${one.id}` : one.key
      this.#entries.set(place, { ...one, keptSince: now })
    }
  }

  clear(): void {
    this.#entries.clear()
  }

  /** What is to be said, now that these causes are open. */
  step(open: readonly Cause[], now: number, { hold, repeat }: Saying): readonly Notice[] {
    const notices: Notice[] = []
    const keys = new Set(open.map(({ key }) => key))
    for (const cause of open) {
      const before = this.#entries.get(cause.key)
      const { id = randomUUIDv7(), since = cause.since ?? now, saidAt } = before ?? {}
      const entry: Entry = { ...cause, id, since, saidAt, keptSince: undefined }
      this.#entries.set(cause.key, entry)
      const state = saidAt === undefined ? 'begin' : 'still'
      if (now - (saidAt ?? since) < (saidAt === undefined ? hold : repeat)) continue
      entry.saidAt = now
      notices.push(noticeOf(entry, state, now))
    }
    for (const [key, entry] of this.#entries) {
      // After a restart, whoever sees the cause may need a moment.
      if (keys.has(key) || now - (entry.keptSince ?? -Infinity) < Math.max(hold, grace)) continue
      this.#entries.delete(key)
      if (entry.saidAt !== undefined) notices.push(noticeOf(entry, 'end', now))
    }
    return notices
  }
}

function noticeOf({ id, cause, key, subject, facts, since, path }: OpenCause, state: State, at: number): Notice {
  return { message: `msg_${randomUUIDv7()}`, id, cause, key, subject, facts, path, state, at, since }
}
