import { GatewayError } from '../spec/error.ts'
import type { ByteBudget } from '../spec/source.ts'
import type { Host } from '../spec/host.ts'
import type { Scope } from '../spec/scope.ts'

/** A budget of `limit` bytes. */
export function byteBudgetOf(limit: number): ByteBudget {
  let used = 0
  return {
    take(bytes) {
      if (used + bytes > limit) return false
      used += bytes
      return true
    },
    give(bytes) {
      used -= bytes
    },
  }
}

/** What one holder has in hand, and has taken from a budget for it. */
export class Hold {
  readonly #budget: ByteBudget
  readonly #free: number
  #bytes = 0
  #taken = 0

  /** @param free bytes that are not counted: there is always room for them */
  constructor(budget: ByteBudget, free = 0) {
    this.#budget = budget
    this.#free = free
  }

  /** So many bytes more. False: too much is in hand already, and nothing has changed. */
  take(bytes: number): boolean {
    return this.resize(this.#bytes + bytes)
  }

  /** So many bytes from now on, more or fewer than before. False: as above. */
  resize(bytes: number): boolean {
    const counted = bytes > this.#free ? bytes - this.#free : 0
    if (counted > this.#taken) {
      if (!this.#budget.take(counted - this.#taken)) return false
    } else if (counted < this.#taken) this.#budget.give(this.#taken - counted)
    this.#taken = counted
    this.#bytes = bytes
    return true
  }

  release(): void {
    this.resize(0)
  }
}

/** Bytes of each answer that are not counted: little answers pass however much is in hand. */
const uncounted = 16 * 1024

/** What an exchange has in hand of an answer, at the longest until it is over. */
export function answerHold({ byteBudget }: Pick<Host, 'byteBudget'>, scope?: Pick<Scope, 'onEnd'>): Hold {
  const hold = new Hold(byteBudget, uncounted)
  scope?.onEnd?.(() => hold.release())
  return hold
}

/** What the unfinished events of a stream may take up. */
export interface EventRoom {
  /** Most bytes of one. */
  readonly limit: number
  readonly hold?: Hold
}

/** As much as a whole answer, for the last event may repeat all of it. */
export const ampleRoom: EventRoom = { limit: 64 * 1024 * 1024 }

/** Room for the unfinished events of an answer, as the settings have it. */
export function eventRoom(host: Pick<Host, 'byteBudget' | 'catalog'>, scope: Pick<Scope, 'onEnd'>): EventRoom {
  return { limit: host.catalog.settings.resilience.max_event_bytes, hold: answerHold(host, scope) }
}

/** Why a stream with a larger event is not read any further. */
export function eventTooLarge({ limit }: EventRoom): GatewayError {
  return new GatewayError(
    'upstream_invalid_response',
    { reason: `an event is larger than ${limit} bytes` },
    { tags: ['invalid'] },
  )
}

/** Why something is not read any further. */
export function byteBudgetSpent(): GatewayError {
  return new GatewayError('overloaded', {}, { retryAfter: 1 })
}
