import { setTimeout as rest } from 'node:timers/promises'
import type { Scope, Services } from '../../engine/index.ts'
import type { Row } from './decision.ts'

/** Milliseconds between looks: rows are written a tenth of a second after the end of a request. Together 2 seconds. */
const pauses = [60, 90, 150, 200, 250, 250, 500, 500]

/** Milliseconds by which the clock of another process may be ahead, and for which a request usually lasts at most. */
const ahead = 60_000
const longest = 3_600_000
/** Ratings that wait at the same time. Whoever makes ids up must not hold the database busy. */
const mostWaiting = 100

/** Finds rows of requests that may not be written yet: whoever has read an answer may rate it at once. */
export class RowWait {
  readonly #requests: Pick<Services['requests'], 'row'>
  #waiting = 0

  constructor(requests: Pick<Services['requests'], 'row'>) {
    this.#requests = requests
  }

  /**
   * Resolves to undefined if there is no row after 2 seconds, or at once if no request that has just ended can have this
   * id, or if too many others are waited for.
   */
  async row(id: string, { signal }: Pick<Scope, 'signal'>): Promise<Row | undefined> {
    const found = await this.#requests.row(id)
    if (found || !mayJustEnd(id) || this.#waiting >= mostWaiting) return found
    this.#waiting += 1
    try {
      for (const pause of pauses) {
        await rest(pause, undefined, { signal })
        const row = await this.#requests.row(id)
        if (row) return row
      }
      return undefined
    } finally {
      this.#waiting -= 1
    }
  }
}

/**
 * Whether a request of this gateway that has just ended may have this id: a UUID of version 7, whose first 48 bits are
 * the time at which it began (RFC 9562, section 5.7).
 */
function mayJustEnd(id: string): boolean {
  if (!/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(id)) return false
  const age = Date.now() - Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16)
  return age >= -ahead && age <= longest
}
