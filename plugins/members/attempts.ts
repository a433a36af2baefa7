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
/** Of a name at an address where it has proved its identity: others cannot use this up. */
const ofPlace = perQuarterHour('place', 10)

/** Remembers where names have proved their identity, by a hash of the name and the network. */
export interface Places {
  has(place: string): Promise<boolean>
  note(place: string): Promise<void>
}

/**
 * Limits how often passwords and setup tokens can be guessed. An attempt counts as a failure until it has succeeded, so
 * that many at the same time are not allowed more. Attempts for one name from one address run one after the other.
 * Where a name has proved its identity lately, it has a count of its own: behind a proxy, all clients may have one address.
 */
export class Attempts {
  readonly #times: FailureTimes
  readonly #turns = new InTurn()
  readonly #places: Places | undefined

  /** @param places absent: no place is remembered */
  constructor(times: FailureTimes, places?: Places) {
    this.#times = times
    this.#places = places
  }

  /**
   * Runs `work`, which returns undefined for a wrong password. An attempt that throws does not count. Rejects with
   * `too_many_attempts` before `work` begins.
   */
  run<T>(attempt: Attempt, work: () => Promise<T | undefined>): Promise<T | undefined> {
    const username = attempt.username.toLowerCase()
    const address = network(attempt.address)
    const own = { limit: pair, key: keyOf(pair, `${username} ${address}`) }
    return this.#turns.take(own.key, async () => {
      const place = hash('sha256', `${username} ${address}`)
      if (await this.#places?.has(place))
        return this.#counted(work, {
          place,
          cleared: [own, { limit: ofPlace, key: keyOf(ofPlace, place) }],
          shared: [],
        })
      const shared = [
        { limit: ofAddress, key: keyOf(ofAddress, address) },
        { limit: ofName, key: keyOf(ofName, username) },
      ]
      return this.#counted(work, { place, cleared: [own], shared })
    })
  }

  async #counted<T>(work: () => Promise<T | undefined>, { place, cleared, shared }: Counts): Promise<T | undefined> {
    const at = Date.now()
    const taken: Count[] = []
    const giveBack = () => Promise.all(taken.map((count) => this.#giveBack(count, at)))
    try {
      for (const count of [...cleared, ...shared]) {
        await this.#take(count, at)
        taken.push(count)
      }
      const result = await work()
      if (result === undefined) return undefined
      await this.#places?.note(place)
      for (const { limit, key } of cleared)
        await this.#times.change(key, limit.window, () => ({ times: [], result: undefined }))
      await giveBack()
      return result
    } catch (error) {
      await giveBack()
      throw error
    }
  }

  async #take({ limit, key }: Count, at: number): Promise<void> {
    const readyAt = await this.#times.change(key, limit.window, (times) => {
      const counting = times.filter((time) => time > at - limit.window)
      const result = limit.readyAt(counting)
      return result > at ? { times, result } : { times: [...counting, at].slice(-limit.most), result }
    })
    if (readyAt <= at) return
    const retryAfter = Math.max(1, Math.ceil((readyAt - at) / second))
    throw new GatewayError('too_many_attempts', {}, { retryAfter })
  }

  #giveBack({ limit, key }: Count, at: number): Promise<void> {
    return this.#times.change(key, limit.window, (times) => {
      const index = times.lastIndexOf(at)
      return { times: index < 0 ? times : times.toSpliced(index, 1), result: undefined }
    })
  }
}

/** Where an attempt counts. */
interface Count {
  readonly limit: Limit
  readonly key: string
}

/** All counts of an attempt: those that a success clears, and those that it shares with others. */
interface Counts {
  readonly place: string
  readonly cleared: readonly Count[]
  readonly shared: readonly Count[]
}

/** Hashed: a key of the store tells no name, and has one length. */
function keyOf({ name }: Limit, text: string): string {
  return `members failures ${name} ${hash('sha256', text)}`
}
