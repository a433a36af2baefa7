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

/** The close reason for a client that received an error with this status on its open socket. */
export function reasonOfStatus(status: number): CloseReason {
  if (status === 401) return { code: 4401, reason: 'not authenticated' }
  if (status === 503) return { code: 1013, reason: 'try again later' }
  return status >= 500 ? failed : { code: 1008, reason: 'refused' }
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
