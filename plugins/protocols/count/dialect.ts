import { isObject } from '../../../engine/index.ts'
import type { ErrorDialect, Json } from '../../../engine/index.ts'

/** The type word of each status; any other status takes the word of its class. */
const types: ReadonlyMap<number, string> = new Map([
  [401, 'authentication_error'],
  [402, 'billing_error'],
  [403, 'permission_error'],
  [404, 'not_found_error'],
  [408, 'timeout_error'],
  [409, 'conflict_error'],
  [413, 'request_too_large'],
  [429, 'rate_limit_error'],
  [503, 'overloaded_error'],
  [504, 'timeout_error'],
  [529, 'overloaded_error'],
])

/** `{ type: 'error', error: { type, message }, request_id }`. */
export const dialect: ErrorDialect = {
  parse(status, body) {
    const error = isObject(body) ? body['error'] : undefined
    const message = text(isObject(error) ? error['message'] : error) ?? `The provider answered with status ${status}.`
    return { status, code: null, type: neutralType(status), message, param: null }
  },
  print({ status, message }, requestId) {
    const type = types.get(status) ?? (status >= 500 ? 'api_error' : 'invalid_request_error')
    return { type: 'error', error: { type, message }, request_id: requestId }
  },
}

function neutralType(status: number): string {
  if (status === 429) return 'rate_limit_error'
  return status >= 500 ? 'server_error' : 'invalid_request_error'
}

function text(value: Json | undefined): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}
