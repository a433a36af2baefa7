import { performance } from 'node:perf_hooks'
import type { ErrorCode } from '../../spec/error-table.ts'
import { GatewayError } from '../../spec/error.ts'
import type { Answer, CoolingKey } from '../../spec/open-provider.ts'
import { retryAfterOf } from './retry-after.ts'

/** Milliseconds for which a key rests that the provider does not know (401). */
const refused = 600_000
/** Maximum milliseconds that a provider's `retry-after` keeps a key resting. */
const longest = 600_000
/** Minimum characters of a key whose last four may be shown. */
const shown = 16

interface PoolKey {
  /** Its place in the pool, from 0. */
  readonly index: number
  readonly lines: readonly string[]
  readonly hint: string | null
  /** When it may be used, on a clock that never goes back. */
  ready: number
  because: ErrorCode
}

/**
 * The keys of one provider, used in turn. A key rests after the provider has refused it (401) or found it too busy (429);
 * while all rest, the one that is ready first is used.
 */
export class KeyPool {
  readonly #keys: readonly PoolKey[]
  readonly #cooldown: number
  #next = 0

  /**
   * @param lines header names and values in turn, for one key
   * @param cooldown milliseconds that a key rests after a 429 without `retry-after`
   */
  constructor(keys: readonly string[], lines: (key: string) => readonly string[], cooldown: number) {
    this.#keys = keys.map((key, index) => ({
      index,
      lines: lines(key),
      hint: key.length >= shown ? key.slice(-4) : null,
      ready: 0,
      because: 'rate_limit_exceeded',
    }))
    this.#cooldown = cooldown
  }

  /**
   * Sends a request with one key after the other, until the provider accepts one or no other key is ready.
   * @param send sends it with the header lines of a key, and the place of the key
   * @param once only one key is tried
   */
  async send(send: (lines: readonly string[], index: number) => Promise<Answer>, once = false): Promise<Answer> {
    const used = new Set<PoolKey>()
    let key = this.#take(used)
    for (;;) {
      const answer = await send(key.lines, key.index)
      if (!this.#rests(key, answer.status, retryAfterOf(answer.headers)) || once) return answer
      const other = this.#another(used.add(key))
      if (other === undefined) return answer
      // Nobody reads why the first key was refused.
      answer.body.open(nobody).cancel(new Error('another key is used'))
      key = other
    }
  }

  /**
   * Opens a socket with one key after the other, in the same way. The status of a refusal is a tag of its error.
   * @param open opens it with the header lines of a key
   */
  async open<T>(open: (lines: readonly string[], index: number) => Promise<T>): Promise<T> {
    const used = new Set<PoolKey>()
    let key = this.#take(used)
    for (;;)
      try {
        return await open(key.lines, key.index)
      } catch (error) {
        if (!(error instanceof GatewayError)) throw error
        const status = error.tags.includes('429') ? 429 : error.tags.includes('401') ? 401 : 0
        const other = this.#rests(key, status, error.failure.retryAfter) ? this.#another(used.add(key)) : undefined
        if (other === undefined) throw error
        key = other
      }
  }

  /** The keys that rest. */
  cooling(): readonly CoolingKey[] {
    const now = performance.now()
    const since = Math.round(Date.now() - now)
    return this.#keys.flatMap(({ hint, ready, because }) =>
      ready > now ? [{ hint, until: since + Math.round(ready), because }] : [],
    )
  }

  /** The next key in turn that is ready; otherwise the one that will be first. Those of `used` come last. */
  #take(used: ReadonlySet<PoolKey>): PoolKey {
    const now = performance.now()
    const count = this.#keys.length
    let best: PoolKey | undefined
    const rank = (key: PoolKey) => (used.has(key) ? Infinity : Math.max(key.ready, now))
    for (let step = 0; step < count; step++) {
      const key = this.#keys[(this.#next + step) % count] as PoolKey
      if (best === undefined || rank(key) < rank(best)) best = key
    }
    const taken = best as PoolKey
    this.#next = (this.#keys.indexOf(taken) + 1) % count
    return taken
  }

  /** The next key that is ready and not used yet. */
  #another(used: ReadonlySet<PoolKey>): PoolKey | undefined {
    const other = this.#take(used)
    return used.has(other) || other.ready > performance.now() ? undefined : other
  }

  /**
   * Whether an answer with this status makes a key rest.
   * @param asked the provider's retry delay in seconds
   */
  #rests(key: PoolKey, status: number, asked: number | undefined): boolean {
    if (status !== 429 && status !== 401) return false
    const busy = asked === undefined ? this.#cooldown : Math.min(asked * 1_000, longest)
    key.ready = performance.now() + (status === 429 ? busy : refused)
    key.because = status === 429 ? 'rate_limit_exceeded' : 'upstream_refused_key'
    return true
  }
}

const nobody = { data: () => undefined, end: () => undefined, fail: () => undefined }
