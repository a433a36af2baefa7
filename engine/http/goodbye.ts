import { WebSocket } from 'ws'
import { GatewayError } from '../spec/error.ts'

/** How a socket ends: the close code, and the error that is said before it. */
export interface Goodbye {
  readonly code: number
  readonly reason: string
  readonly error?: GatewayError
}

/** For a client that cannot be served, and the error says why. */
export function refusedBy({ failure }: GatewayError): Goodbye {
  if (failure.status === 401 || failure.status === 403) return { code: 4401, reason: 'not authenticated' }
  if (failure.status === 404) return { code: 1001, reason: 'not served any more' }
  return { code: 1011, reason: 'the gateway failed' }
}

export const stopping: Goodbye = { code: 1001, reason: 'the gateway is about to stop' }

export const tooSlow: Goodbye = { code: 1013, reason: 'too slow to read' }

export const tooSlowToSend: Goodbye = { code: 1013, reason: 'too slow to send' }

export const tooMany: Goodbye = { code: 1013, reason: 'too many sockets' }

export const tooMuch: Goodbye = { code: 1013, reason: 'the gateway has too much in hand' }

export const tooOld: Goodbye = {
  code: 1001,
  reason: 'open for too long',
  error: new GatewayError('websocket_connection_limit_reached'),
}

/** Closes a socket; who does not close in turn is cut off after `farewell` milliseconds. */
export function part(socket: WebSocket, { code, reason }: Goodbye, farewell: number): void {
  if (socket.readyState !== WebSocket.OPEN) return
  socket.close(code, reason)
  const cut = setTimeout(() => socket.terminate(), farewell)
  socket.once('close', () => clearTimeout(cut))
}
