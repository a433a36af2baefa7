import { GatewayError } from '../../engine/index.ts'
import type { Envelope } from '../../engine/index.ts'
import { isObject } from '../../engine/kit.ts'
import { MICROS } from './money.ts'

const amount = /^\d{1,10}(\.\d{1,12})?$/

/**
 * What the client allows its request to cost, in micro-USD: `routing.max_cost`, or the header of the same meaning. Throws
 * `invalid_value` for what is no amount, and for a cap in the wrong place, which would not hold.
 */
export function capOf({
  sent: { routing, max_cost: misplaced },
  headers,
}: Pick<Envelope, 'sent' | 'headers'>): number | undefined {
  if (misplaced !== undefined && misplaced !== null)
    throw new GatewayError('invalid_value', { param: 'max_cost', reason: 'it is a field of `routing`' })
  const header = headers['x-routing-max-cost']
  const inBody = isObject(routing) ? routing['max_cost'] : undefined
  if (inBody === undefined && header === undefined) return undefined
  if (inBody === null) return undefined
  const usd = inBody ?? (typeof header === 'string' && amount.test(header) ? Number(header) : undefined)
  // Products such as 0.000249 * 1e6 are a little less than the whole number that is meant.
  if (typeof usd === 'number' && usd > 0 && usd <= 1e9) return Math.floor(Number((usd * MICROS).toFixed(3)))
  throw new GatewayError('invalid_value', {
    param: inBody === undefined ? 'x-routing-max-cost' : 'routing.max_cost',
    reason: 'it must be an amount in USD above 0',
  })
}
