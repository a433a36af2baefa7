import type { ErrorDialect, Failure, Frame, Json } from '../../../engine/index.ts'
import { isObject } from '../../../engine/kit.ts'

/** The platform's status when it is overloaded ("Errors"), which official clients recognize. */
const overloaded = 529

/** The error type of each status (platform documentation, "Errors"); other statuses use the type of their class. */
const types: ReadonlyMap<number, string> = new Map([
  [400, 'invalid_request_error'],
  [401, 'authentication_error'],
  [402, 'billing_error'],
  [403, 'permission_error'],
  [404, 'not_found_error'],
  [408, 'timeout_error'],
  [409, 'conflict_error'],
  [413, 'request_too_large'],
  [429, 'rate_limit_error'],
  [500, 'api_error'],
  [504, 'timeout_error'],
  [overloaded, 'overloaded_error'],
])

const statuses: ReadonlyMap<string, number> = new Map([...types].map(([status, type]) => [type, status]))

/** Agents match this text to detect that they must shorten the conversation. */
const tooLong = 'prompt is too long'

/** `{ type: 'error', error: { type, message, details? }, request_id }`. */
export const dialect: ErrorDialect = {
  parse(status, body) {
    const error = isObject(body) ? body.error : undefined
    const told = isObject(error) ? error : isObject(body) ? body : {}
    const message = firstText(told.message, error, told.detail) ?? `The upstream answered with status ${status}.`
    const details = isObject(told.details) ? told.details : undefined
    const overflow = status === 400 && message.includes(tooLong) ? 'context_length_exceeded' : undefined
    return {
      status,
      code: firstText(details?.error_code, told.code, overflow) ?? null,
      type: neutralType(status),
      message,
      param: firstText(told.param) ?? null,
      ...(details ? { details } : {}),
    }
  },
  status: ({ code }) => (code === 'overloaded' ? overloaded : undefined),
  print(failure, requestId) {
    const overflow = failure.code === 'context_length_exceeded' && !failure.message.includes(tooLong)
    return {
      type: 'error',
      error: {
        type: wireType(failure),
        message: overflow ? `${tooLong}: ${failure.message}` : failure.message,
        ...(failure.details ? { details: failure.details } : {}),
      },
      request_id: requestId,
    }
  },
}

function wireType({ status, code }: Failure): string {
  if (code === 'overloaded') return 'overloaded_error'
  return types.get(status) ?? (status >= 500 ? 'api_error' : 'invalid_request_error')
}

function neutralType(status: number): string {
  if (status === 429) return 'rate_limit_error'
  return status >= 500 ? 'server_error' : 'invalid_request_error'
}

function firstText(...values: readonly (Json | undefined)[]): string | undefined {
  return values.find((value): value is string => typeof value === 'string' && value !== '')
}

/** The failure of an error event in a stream. Its status follows from its type. */
export function streamFailure(event: Json): Failure {
  const error = isObject(event) && isObject(event.error) ? event.error : {}
  const status = typeof error.type === 'string' ? (statuses.get(error.type) ?? 500) : 500
  return dialect.parse(status, event)
}

/** The last event of a broken stream. */
export function errorFrame(failure: Failure, requestId: string): Frame {
  return { event: 'error', data: JSON.stringify(dialect.print(failure, requestId)) }
}
