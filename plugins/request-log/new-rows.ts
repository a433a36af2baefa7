import type { ServiceHost } from '../../engine/index.ts'
import type { Found } from './find.ts'

type Reading = Pick<ServiceHost, 'database' | 'dialect' | 'log'>
type Listener = (ids: readonly string[]) => void

/** Milliseconds between two looks. A row that is found is told of at the next one, so that rows keep their order. */
const pause = 250

/** Longest delay of a row after the end of its exchange, in milliseconds, including clock differences. */
const late = 10_000

/**
 * Tells listeners which rows are new in the database, whichever process wrote them, in the order in which their
 * exchanges ended. The database is read only while somebody listens.
 */
export class NewRows {
  readonly #host: Reading
  readonly #listeners = new Set<Listener>()
  /** The rows of the last look; undefined: there was none yet. */
  #known: ReadonlySet<string> | undefined
  #held: readonly Found[] = []
  #timer: NodeJS.Timeout | undefined
  /** Since when rows cannot be read, and when that was last so. */
  #failing: { readonly since: number; readonly last: number } | undefined

  constructor(host: Reading) {
    this.#host = host
  }

  /** Calls a listener with new rows until the returned function is called. */
  listen(listener: Listener): () => void {
    this.#listeners.add(listener)
    if (this.#listeners.size === 1) this.#next(0)
    return () => {
      this.#listeners.delete(listener)
      if (this.#listeners.size > 0) return
      clearTimeout(this.#timer)
      this.#known = undefined
      this.#held = []
    }
  }

  #next(delay: number): void {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => void this.#look(), delay).unref()
  }

  async #look(): Promise<void> {
    const now = Date.now()
    try {
      const { endedSince } = await import('./find.ts')
      const found = await endedSince(this.#host, (this.#failing?.since ?? now) - late)
      if (this.#failing && now - this.#failing.last > late) this.#failing = undefined
      this.#tell(found)
    } catch (error) {
      if (!this.#failing) this.#host.log.error({ err: error }, 'new rows of the request log cannot be read')
      this.#failing = { since: this.#failing?.since ?? now, last: now }
    }
    if (this.#listeners.size > 0) this.#next(pause)
  }

  #tell(found: readonly Found[]): void {
    const known = this.#known
    this.#known = new Set(found.map(({ id }) => id))
    if (known === undefined) return
    const fresh = found.filter(({ id }) => !known.has(id))
    const last = this.#held.at(-1)?.ended ?? 0
    const ready = [...this.#held, ...fresh.filter(({ ended }) => ended <= last)]
    this.#held = fresh.filter(({ ended }) => ended > last)
    if (ready.length === 0) return
    const ids = ready.sort(byEnd).map(({ id }) => id)
    for (const listener of this.#listeners) listener(ids)
  }
}

function byEnd(left: Found, right: Found): number {
  return left.ended - right.ended || (left.id < right.id ? -1 : 1)
}
