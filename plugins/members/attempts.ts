import { hash } from 'node:crypto'
import { GatewayError } from '../../engine/index.ts'
import { network } from '../../engine/kit.ts'
import type { FailureTimes, Times } from './failure-times.ts'
import { InTurn } from './in-turn.ts'

/** Who tries to prove an identity. */
export interface Attempt {
  readonly username: string
  /** IP address of the peer. */
  readonly address: string
}

/** How often somebody may be wrong. Times in milliseconds. */
interface Limit {
  /** Prefix of its keys. */
  readonly name: string
  /** How long a failure counts. */
  readonly window: number
  /** Most failures that are remembered. */
  readonly most: number
  /** When the next attempt is allowed. */
  readonly readyAt: (failures: Times) => number
}

const second = 1_000
const minute = 60 * second

/** Failures in a row of the same name from the same address: after the fifth there is a pause, which doubles. */
const pair: Limit = {
  name: 'pair',
  window: 24 * 60 * minute,
  most: 14,
  readyAt: (failures) => {
    const pauses = failures.length - 5
    return pauses < 0 ? 0 : (failures.at(-1) ?? 0) + Math.min(2 ** pauses, 300) * second
  },
}

function perQuarterHour(name: string, most: number): Limit {
  const window = 15 * minute
  return {
    name,
    window,
    most,
    readyAt: (failures) => (failures.length < most ? 0 : (failures.at(-most) ?? 0) + window),
  }
}

const ofAddress = perQuarterHour('address', 30)
const ofName = perQuarterHour('name', 100)

/**
 * Limits how often passwords and setup tokens can be guessed. An attempt counts as a failure until it has succeeded, so
 * that many at the same time are not allowed more. Attempts for one name from one address run one after the other.
 */
export class Attempts {
  readonly #times: FailureTimes
  readonly #turns = new InTurn()

  constructor(times: FailureTimes) {
    this.#times = times
  }

  /**
   * Runs `work`, which returns undefined for a wrong password. An attempt that throws does not count. Rejects with
   * `too_many_attempts` before `work` begins.
   */
  run<T>(attempt: Attempt, work: () => Promise<T | undefined>): Promise<T | undefined> {
    const username = attempt.username.toLowerCase()
    const address = network(attempt.address)
    const counted = [
      { limit: pair, key: keyOf(pair, `${username} ${address}`) },
      { limit: ofAddress, key: keyOf(ofAddress, address) },
      { limit: ofName, key: keyOf(ofName, username) },
    ] as const
    return this.#turns.take(counted[0].key, () => this.#counted(counted, work))
  }

  async #counted<T>(counted: readonly Place[], work: () => Promise<T | undefined>): Promise<T | undefined> {
    const at = Date.now()
    const taken: Place[] = []
    const giveBack = () => Promise.all(taken.map((place) => this.#giveBack(place, at)))
    try {
      for (const place of counted) {
        await this.#take(place, at)
        taken.push(place)
      }
      const result = await work()
      if (result === undefined) return undefined
      await this.#times.change(counted[0]?.key ?? '', pair.window, () => ({ times: [], result: undefined }))
      await giveBack()
      return result
    } catch (error) {
      await giveBack()
      throw error
    }
  }

  async #take({ limit, key }: Place, at: number): Promise<void> {
    const readyAt = await this.#times.change(key, limit.window, (times) => {
      const counting = times.filter((time) => time > at - limit.window)
      const result = limit.readyAt(counting)
      return result > at ? { times, result } : { times: [...counting, at].slice(-limit.most), result }
    })
    if (readyAt <= at) return
    const retryAfter = Math.max(1, Math.ceil((readyAt - at) / second))
    throw new GatewayError('too_many_attempts', {}, { retryAfter })
  }

  #giveBack({ limit, key }: Place, at: number): Promise<void> {
    return this.#times.change(key, limit.window, (times) => {
      const index = times.lastIndexOf(at)
      return { times: index < 0 ? times : times.toSpliced(index, 1), result: undefined }
    })
  }
}

/** Where an attempt counts. */
interface Place {
  readonly limit: Limit
  readonly key: string
}

/** Hashed: a key of the store tells no name, and has one length. */
function keyOf({ name }: Limit, text: string): string {
  return `members failures ${name} ${hash('sha256', text)}`
}
