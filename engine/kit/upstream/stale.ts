import type { Socket } from 'node:net'

/** Milliseconds after which the server may have worked on a request, and charged for it. */
const workless = 1_000

/** Failures of connections that the server had closed, as far as anybody can tell, before it read the request. */
const stale = new WeakSet<Error>()

/**
 * Notes when a server ends or resets a connection within a second of the last byte of a request, before any byte of
 * an answer, although the connection has carried an answer before. The server has then most likely closed it while it
 * was idle, and the request crossed the end on its way (RFC 9112, section 9.6).
 */
export function notingStale<S extends Socket>(socket: S): S {
  const read = socket.read.bind(socket) as (size?: number) => Buffer | null
  const write = socket.write.bind(socket)
  /** Whether an answer to the present request has begun, and whether there was one to an earlier request. */
  let isAnswered = false
  let isReused = false
  let written = 0
  socket.write = ((...given: Parameters<typeof write>) => {
    // The HTTP client writes the head of a request as a text, and its body as bytes.
    if (typeof given[0] === 'string') {
      isReused ||= isAnswered
      isAnswered = false
    }
    written = performance.now()
    return write(...given)
  }) as S['write']
  socket.read = (size?: number) => {
    const chunk = read(size)
    isAnswered ||= chunk !== null
    return chunk
  }
  socket.on('error', (error) => {
    if (isReused && !isAnswered && performance.now() - written <= workless) stale.add(error)
  })
  return socket
}

/** Whether a request failed because the server had closed its connection before. */
export function isStale(error: Error): boolean {
  return stale.has(error)
}
