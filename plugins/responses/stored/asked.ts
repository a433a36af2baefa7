import { GatewayError } from '../../../engine/index.ts'
import type { Host, Ingress, Principal } from '../../../engine/index.ts'
import { findResponse, ownerOf } from './record.ts'
import type { FoundResponse } from './record.ts'
import { underway } from './underway.ts'

/**
 * The response that the path names by `:response_id`. Rejects with `response_not_found`, which is the same for a
 * response of another owner and for one that never existed, and with `store_unavailable`.
 */
export async function askedFor(ingress: Ingress, principal: Principal, host: Host): Promise<FoundResponse> {
  const id = ingress.params['response_id'] ?? ''
  await underway(host).get(id)
  const found = await findResponse(host.keyValue, id, ownerOf(principal))
  if (!found) throw new GatewayError('response_not_found', { id: id.slice(0, 128) })
  return found
}

/** An integer of the query; undefined if it is absent. Throws `invalid_value` for a value out of range. */
export function wholeNumber(ingress: Ingress, name: string, least: number, most: number): number | undefined {
  const given = ingress.query.get(name)
  if (given === null) return undefined
  const value = /^\d{1,15}$/.test(given) ? Number(given) : -1
  if (value >= least && value <= most) return value
  const reason = most === Infinity ? `at least ${least}` : `from ${least} to ${most}`
  throw new GatewayError('invalid_value', { param: name, reason: `it must be a whole number ${reason}` })
}
