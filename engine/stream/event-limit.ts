import { GatewayError } from '../spec/error.ts'

/** Most one event of a stream may hold: as much as a whole answer, for the last event may repeat all of it. */
export const eventLimit = 64 * 1024 * 1024

/** Why a stream with a larger event is not read any further. */
export function eventTooLarge(): GatewayError {
  return new GatewayError('upstream_invalid_response', { reason: `an event is larger than ${eventLimit} characters` })
}
