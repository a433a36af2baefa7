import type { WebSocket } from 'ws'
import { GatewayError } from '../spec/error.ts'

/** How a socket is closed: the close code, and the error sent before the close frame. */
export interface CloseReason {
  readonly code: number
  readonly reason: string
  readonly error?: GatewayError
}

/** The close reason for a client that is refused with this error. */
export function reasonOf({ failure }: GatewayError): CloseReason {
  if (failure.status === 401 || failure.status === 403) return { code: 4401, reason: 'not authenticated' }
  if (failure.status === 404) return { code: 1001, reason: 'not served any more' }
  return failed
}

export const failed: CloseReason = { code: 1011, reason: 'the gateway failed' }

/**
 * The close reason for a client that received an answer with this status on its open socket.
 * @param code of the error that was the answer
 */
export function reasonOfStatus(status: number, code?: string): CloseReason {
  if (status === 401) return { code: 4401, reason: 'not authenticated' }
  if (code === 'overloaded') return { code: 1013, reason: 'try again later' }
  // A provider that is not asked for now is a refusal, not a failure.
  return status >= 500 && status !== 503 ? failed : { code: 1008, reason: 'refused' }
}

/** The same for an error. */
export function reasonOfError({ code, failure }: GatewayError): CloseReason {
  return reasonOfStatus(failure.status, code)
}

export const stopping: CloseReason = { code: 1001, reason: 'the gateway is about to stop' }

export const tooSlow: CloseReason = { code: 1013, reason: 'too slow to read' }

export const tooSlowToSend: CloseReason = { code: 1013, reason: 'too slow to send' }

export const tooMany: CloseReason = { code: 1013, reason: 'too many sockets' }

export const tooMuch: CloseReason = { code: 1013, reason: 'the gateway is overloaded' }

export const tooOld: CloseReason = {
  code: 1001,
  reason: 'open for too long',
  error: new GatewayError('websocket_connection_limit_reached'),
}

/**
 * Closes a socket, with or without a code. A peer that does not answer with a close frame within `closeTimeout`
 * milliseconds is disconnected.
 */
export function part(
  socket: WebSocket,
  { code, reason }: { readonly code?: number; readonly reason: string },
  closeTimeout: number,
): void {
  if (socket.readyState !== socket.OPEN) return
  socket.close(code, reason)
  const cut = setTimeout(() => socket.terminate(), closeTimeout)
  socket.once('close', () => clearTimeout(cut))
}
