import { GatewayError } from '../spec/error.ts'
import type { ByteBudget } from '../spec/source.ts'
import type { Host } from '../spec/host.ts'
import type { Scope } from '../spec/scope.ts'

/** A byte budget that tells how many bytes are left. */
export interface Room extends ByteBudget {
  readonly left: number
}

/** A budget of `limit` bytes. */
export function byteBudgetOf(limit: number): Room {
  let used = 0
  return {
    get left() {
      return limit - used
    },
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

/** The bytes that one holder has reserved in a budget. */
export class Hold {
  readonly #budget: ByteBudget
  readonly #free: number
  readonly #scope: Pick<Scope, 'onEnd'> | undefined
  #isReleasedLater = false
  #bytes = 0
  #taken = 0

  /**
   * @param free bytes that are not counted, so that small holders always fit
   * @param scope of the exchange with whose end it is released at the latest
   */
  constructor(budget: ByteBudget, free = 0, scope?: Pick<Scope, 'onEnd'>) {
    this.#budget = budget
    this.#free = free
    this.#scope = scope
  }

  /** Reserves further bytes. Returns false, and reserves nothing, when the budget is exhausted. */
  take(bytes: number): boolean {
    return this.resize(this.#bytes + bytes)
  }

  /** Changes the reservation to a new total. Returns false, and changes nothing, when the budget is exhausted. */
  resize(bytes: number): boolean {
    const counted = bytes > this.#free ? bytes - this.#free : 0
    if (counted > this.#taken) {
      if (!this.#budget.take(counted - this.#taken)) return false
      if (!this.#isReleasedLater) this.#scope?.onEnd?.(() => this.release())
      this.#isReleasedLater = true
    } else if (counted < this.#taken) this.#budget.give(this.#taken - counted)
    this.#taken = counted
    this.#bytes = bytes
    return true
  }

  release(): void {
    this.resize(0)
  }
}

/** Uncounted bytes of each answer: small answers pass even when the budget is exhausted. */
const uncounted = 16 * 1024

/** The reservation for an answer held in memory; released at the end of the exchange at the latest. */
export function answerHold({ byteBudget }: Pick<Host, 'byteBudget'>, scope?: Pick<Scope, 'onEnd'>): Hold {
  return new Hold(byteBudget, uncounted, scope)
}

/** Limits for the unfinished events of a stream. */
export interface EventRoom {
  /** Maximum bytes of one event. */
  readonly limit: number
  readonly hold?: Hold
}

/** As large as a whole answer, because the last event may repeat all of it. */
export const ampleRoom: EventRoom = { limit: 64 * 1024 * 1024 }

/** Limits for the unfinished events of an answer, from the settings. */
export function eventRoom(host: Pick<Host, 'byteBudget' | 'catalog'>, scope: Pick<Scope, 'onEnd'>): EventRoom {
  return { limit: host.catalog.settings.resilience.max_event_bytes, hold: answerHold(host, scope) }
}

/** The error for a stream with a larger event. */
export function eventTooLarge({ limit }: EventRoom): GatewayError {
  return new GatewayError(
    'upstream_invalid_response',
    { reason: `an event is larger than ${limit} bytes` },
    { tags: ['invalid'], retry: 'other' },
  )
}

/** The error when the byte budget is exhausted. */
export function byteBudgetSpent(): GatewayError {
  return new GatewayError('overloaded', {}, { retryAfter: 1 })
}
