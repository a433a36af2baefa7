import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** Milliseconds between the first two probes, and the maximum between any two. */
const firstPause = 20
const longestPause = 10_000

/**
 * Decides what the end of a connection (FIN) means for the response in progress. A client may close its sending side
 * after the request and still read; a client that disconnected looks the same. Before the response has started,
 * interim responses (102, RFC 9110 section 15.2) tell them apart: the system of a disconnected client answers with a
 * reset. Afterwards, and in HTTP/1.0, which has no interim responses, the client counts as disconnected.
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
