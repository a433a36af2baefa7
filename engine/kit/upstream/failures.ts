import { GatewayError } from '../../spec/error.ts'
import { errors } from './client.ts'
import type { Phase, Timeouts } from './limits.ts'

/** The upstream exceeded a timeout. Without a connection nothing was sent, which the tag `connect` says. */
export function tookTooLong(limit: keyof Timeouts, model: string): GatewayError {
  const tags = limit === 'connect' ? ['connect', 'timeout'] : ['timeout']
  return new GatewayError('upstream_timeout', { model, limit }, { tags })
}

/** The upstream's answer is not in a form that may be relayed; tag `invalid`. */
export function unreadable(reason: string, model: string, cause?: unknown): GatewayError {
  return new GatewayError('upstream_invalid_response', { model, reason }, { cause, tags: ['invalid'] })
}

/**
 * The error for a transport failure, depending on the phase. Before a connection carried the request:
 * `upstream_unreachable`, tag `connect`. Between that and the response headers: `upstream_error`, tag `connect`,
 * because the model may have run although its answer is lost. Later: `upstream_error`, tag `invalid`, because the
 * partial answer is useless. No message names a host, an address or a key; `cause` keeps the original error for the
 * log.
 */
export function transportFailure(error: Error, phase: Phase, model: string): GatewayError {
  const code = codeOf(error)
  if (code === undefined || ours.has(code)) return new GatewayError('internal_error', {}, { cause: error })
  if (code === 'UND_ERR_CONNECT_TIMEOUT') return tookTooLong('connect', model)
  if (phase === 'connect') {
    return new GatewayError('upstream_unreachable', { model }, { cause: error, tags: ['connect'] })
  }
  if (code === 'UND_ERR_HEADERS_OVERFLOW') return unreadable('its headers are too large', model, error)
  // A parser error carries the bytes that it could not parse. They may hold parts of our request, so only the message
  // is kept.
  if (code === notHttp) return unreadable('it is not valid HTTP', model, new Error(error.message))
  const reason = phase === 'firstByte' ? 'it closed the connection without an answer.' : 'its answer broke off.'
  const tags = phase === 'firstByte' ? ['connect'] : ['invalid']
  return new GatewayError('upstream_error', { model, reason }, { cause: error, tags, retry: 'same' })
}

/** Codes of the HTTP client for mistakes of this process. */
const ours: ReadonlySet<string> = new Set(['UND_ERR_INVALID_ARG', 'UND_ERR_DESTROYED', 'UND_ERR_CLOSED'])

const notHttp = 'not HTTP'
const cutShort = 'cut short'

/** The error code of a failure; undefined when the error is not a connection failure. */
function codeOf(error: Error): string | undefined {
  // The parser gives no code, so a truncated body is recognized by the message.
  if (error instanceof errors.HTTPParserError) return error.message.includes('Invalid EOF state') ? cutShort : notHttp
  return 'code' in error && typeof error.code === 'string' ? error.code : undefined
}
