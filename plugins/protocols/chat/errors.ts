import { isObject } from '../../../engine/kit.ts'
import type { ErrorDialect, Failure, Json, JsonObject } from '../../../engine/index.ts'

/** Errors as `{ error: { message, type, param, code } }`, and the other shapes of compatible servers. */
export const error: ErrorDialect = { parse, print }

/** The body of an error: all four keys are always present. */
export function print({ message, type, param, code }: Failure): JsonObject {
  return { error: { message, type, param, code } }
}

/** Parses a body of any known shape; if none fits, the message has only the status. */
export function parse(status: number, body: Json | undefined): Failure {
  const found = bare(body)
  const code = found['code']
  return {
    status,
    code: typeof code === 'string' && code !== '' ? code : null,
    type: textOf(found['type']) ?? typeOf(status),
    message: messageOf(found) ?? `The provider answered with status ${status}.`,
    param: textOf(found['param']) ?? null,
  }
}

/**
 * The failure that an event of a stream announces: `{ error: … }`, a bare `{ object: 'error', message }`, or any event
 * named `error`. A numeric code that is an HTTP status is used as the status; otherwise the provider failed.
 */
export function streamFailure(event: JsonObject, name?: string): Failure | undefined {
  if (!event['error'] && event['object'] !== 'error' && name !== 'error') return undefined
  const code = bare(event)['code']
  const status = typeof code === 'number' && code >= 400 && code <= 599 ? code : 502
  return parse(status, event)
}

/** The object with the message: `error`, or the body itself. */
function bare(body: Json | undefined): JsonObject {
  if (Array.isArray(body)) return bare(body[0])
  if (typeof body === 'string') return { message: body }
  if (!isObject(body)) return {}
  const inner = body['error']
  if (isObject(inner)) return inner
  return typeof inner === 'string' ? { message: inner, ...body } : body
}

function messageOf({ message, detail }: JsonObject): string | undefined {
  const said = isObject(message) ? message['detail'] : message
  return textOf(said) ?? listed(said) ?? textOf(detail) ?? listed(detail)
}

/** A validation report as a list of `{ loc, msg }`, joined into one sentence. */
function listed(detail: Json | undefined): string | undefined {
  if (!Array.isArray(detail)) return undefined
  const lines = detail
    .filter(isObject)
    .map(({ loc, msg }) => `${Array.isArray(loc) ? loc.join('.') : 'body'}: ${textOf(msg) ?? 'invalid'}`)
  return lines.length > 0 ? lines.join('; ') : undefined
}

function textOf(value: Json | undefined): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}

function typeOf(status: number): string {
  if (status === 429) return 'rate_limit_error'
  return status >= 500 ? 'server_error' : 'invalid_request_error'
}
