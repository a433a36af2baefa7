import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** Milliseconds between the first two probes, and the most between any two. */
const firstPause = 20
const longestPause = 10_000

/**
 * What a connection's end (FIN) means for the answer under way on it. A client may close its own direction once it has
 * asked, and still read; one that has left looks the same. As long as the answer has not begun, interim responses
 * (102, RFC 9110 section 15.2) tell them apart: a client that has left resets the connection. Afterwards, and in
 * HTTP/1.0, which has no interim responses, it counts as having left.
 */
export function onHalfClose(socket: Socket, response: ServerResponse | undefined): void {
  if (!response || response.writableEnded) return
  if (response.headersSent || response.req.httpVersionMinor === 0) {
    socket.destroy()
    return
  }
  probe(response, firstPause)
}

function probe(response: ServerResponse, pause: number): void {
  if (response.headersSent || response.closed) return
  response.writeProcessing()
  const next = setTimeout(probe, pause, response, Math.min(2 * pause, longestPause))
  response.once('close', () => clearTimeout(next))
}
