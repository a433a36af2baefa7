import { GatewayError } from '../spec/error.ts'
import { errors } from './client.ts'
import type { Phase, Timeouts } from './limits.ts'

/** The upstream took longer than a limit allows. Without a connection nothing was sent, which `connect` says too. */
export function tookTooLong(limit: keyof Timeouts, model: string): GatewayError {
  const tags = limit === 'connect' ? ['connect', 'timeout'] : ['timeout']
  return new GatewayError('upstream_timeout', { model, limit }, { tags })
}

/** The upstream answered, but not in a form that may be passed on; tag `invalid`. */
export function unreadable(reason: string, model: string, cause?: unknown): GatewayError {
  return new GatewayError('upstream_invalid_response', { model, reason }, { cause, tags: ['invalid'] })
}

/**
 * What a transport error means, by how far the exchange had come.
 * Before a connection carried the request: `upstream_unreachable`, tag `connect`. After that, when the connection broke
 * before the answer's headers: `upstream_error`, tag `connect`, because the model may have run though nobody saw it.
 * Later: `upstream_error`, tag `invalid`, for what came of the answer is of no use. No message names a host, an address or a key; `cause` keeps the original for the log.
 */
export function transportFailure(error: Error, phase: Phase, model: string): GatewayError {
  const code = codeOf(error)
  if (code === undefined || ours.has(code)) return new GatewayError('internal_error', {}, { cause: error })
  if (code === 'UND_ERR_CONNECT_TIMEOUT') return tookTooLong('connect', model)
  if (phase === 'connect') {
    return new GatewayError('upstream_unreachable', { model }, { cause: error, tags: ['connect'] })
  }
  if (code === 'UND_ERR_HEADERS_OVERFLOW') return unreadable('its headers are too large', model, error)
  // A parser's error carries the bytes it choked on: they may hold what we sent, so only its words are kept.
  if (code === notHttp) return unreadable('it is not valid HTTP', model, new Error(error.message))
  const reason = phase === 'firstByte' ? 'it closed the connection without an answer.' : 'its answer broke off.'
  const tags = phase === 'firstByte' ? ['connect'] : ['invalid']
  return new GatewayError('upstream_error', { model, reason }, { cause: error, tags })
}

/** Codes of the HTTP client for what only this side can have done wrong. */
const ours: ReadonlySet<string> = new Set(['UND_ERR_INVALID_ARG', 'UND_ERR_DESTROYED', 'UND_ERR_CLOSED'])

const notHttp = 'not HTTP'
const cutShort = 'cut short'

/** A word for what happened; undefined when it was nothing that a connection does. */
function codeOf(error: Error): string | undefined {
  // The parser gives no code. A body that just stops is told apart by its words.
  if (error instanceof errors.HTTPParserError) return error.message.includes('Invalid EOF state') ? cutShort : notHttp
  return 'code' in error && typeof error.code === 'string' ? error.code : undefined
}
