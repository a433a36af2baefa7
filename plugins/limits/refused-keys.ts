import { GatewayError } from '../../engine/index.ts'
import { duration, network } from '../../engine/kit.ts'
import type { FailoverCounters } from './failover-counters.ts'
import type { LimitSettings } from './settings.ts'

/** Limits how many unknown API keys come from one address (of IPv6: from its network of 64 bits), so that guessing costs no look-ups. */
export class RefusedKeys {
  readonly #limit: LimitSettings['refused_per_address']
  readonly #counting: Pick<FailoverCounters, 'take' | 'give'>

  constructor(limit: LimitSettings['refused_per_address'], counting: Pick<FailoverCounters, 'take' | 'give'>) {
    this.#limit = limit
    this.#counting = counting
  }

  /**
   * Counts a key that is not known yet. Resolves to a function that takes it back, for a key that is found after all.
   * Rejects with 429 beyond the limit.
   */
  async count(address: string): Promise<() => Promise<void>> {
    if (!this.#limit) return () => Promise.resolve()
    const { requests: limit, period } = this.#limit
    const rate = {
      bucket: `address:${network(address)}`,
      counts: 'requests',
      limit,
      period: duration(period),
      amount: 1,
    } as const
    const { refused, by } = await this.#counting.take({ id: '', lasts: 0, rates: [rate], places: [] })
    if (refused) {
      const retryAfter = Math.max(1, Math.ceil(refused.wait / 1_000))
      const message = `Too many unknown API keys came from this address. Try again in ${retryAfter} s.`
      throw new GatewayError('rate_limit_exceeded', {}, { message, retryAfter })
    }
    return async () => this.#counting.give({ id: '', rates: [rate], places: [] }, by)
  }
}
