import { setTimeout as wait } from 'node:timers/promises'
import type { ServiceHost } from '../../engine/index.ts'
import { parsedJson } from '../../engine/kit.ts'

/** Times of failures, oldest first, in milliseconds since 1970. */
export type Times = readonly number[]

/** A change of the times under a key, and what its caller learns from them. */
export type Change<T> = (times: Times) => { readonly times: Times; readonly result: T }

/** Most keys in memory. Beyond them the oldest is forgotten. */
const mostKeys = 10_000

/** Attempts to write a key that other processes write, too, and the longest pause between two in milliseconds. */
const tries = 20
const longestPause = 20

/**
 * Times of failures by key: in the key-value store that other processes share; without one, or while it does not
 * answer, in memory.
 */
export class FailureTimes {
  readonly #keyValue: ServiceHost['keyValue']
  readonly #own = new Map<string, { readonly times: Times; readonly expiresAt: number }>()

  constructor(keyValue: ServiceHost['keyValue']) {
    this.#keyValue = keyValue
  }

  /**
   * Changes the times under a key in one step.
   * @param ttl milliseconds after which they are forgotten
   */
  async change<T>(key: string, ttl: number, change: Change<T>): Promise<T> {
    if (!this.#keyValue.shared) return this.#changeOwn(key, ttl, change)
    try {
      return await this.#changeShared(key, ttl, change)
    } catch {
      // A store that does not answer is reported elsewhere. Nobody must be able to guess passwords meanwhile.
      return this.#changeOwn(key, ttl, change)
    }
  }

  async #changeShared<T>(key: string, ttl: number, change: Change<T>): Promise<T> {
    for (let left = tries; left > 0; left--) {
      const held = await this.#keyValue.get(key)
      const before = timesIn(held?.value)
      const { times, result } = change(before)
      if (times === before) return result
      const value = Buffer.from(JSON.stringify(times))
      if (await this.#keyValue.set(key, value, { ttl, version: held?.version ?? null })) return result
      await wait(Math.random() * longestPause)
    }
    throw new Error('other processes write all the time')
  }

  #changeOwn<T>(key: string, ttl: number, change: Change<T>): T {
    const now = Date.now()
    const own = this.#own.get(key)
    const { times, result } = change(own !== undefined && own.expiresAt > now ? own.times : [])
    this.#own.delete(key)
    if (times.length > 0) this.#own.set(key, { times, expiresAt: now + ttl })
    const [oldest] = this.#own.keys()
    if (oldest !== undefined && this.#own.size > mostKeys) this.#own.delete(oldest)
    return result
  }
}

function timesIn(value: Buffer | undefined): Times {
  const times = value && parsedJson(value.toString())
  return Array.isArray(times) ? times.filter((time) => typeof time === 'number') : []
}
