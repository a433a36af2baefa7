import type { Socket } from 'node:net'

/** The codes of a failed write to a connection that its peer has closed. */
const closed: ReadonlySet<string | undefined> = new Set(['EPIPE', 'ECONNRESET'])

type Done = (error?: Error | null) => void

/**
 * Lets all that has arrived be read before a failed write destroys a connection. A server that refuses an upload may
 * close the connection at once, and its answer is then in front of the reset that makes the next write fail.
 */
export function hearingOut<S extends Socket>(socket: S): S {
  const afterAll =
    (done: Done): Done =>
    (error) => {
      if (!error || !closed.has((error as NodeJS.ErrnoException).code) || socket.readableEnded) return done(error)
      const tell = () => {
        socket.off('end', tell).off('close', tell)
        done(error)
      }
      socket.on('end', tell).on('close', tell)
    }
  const write = socket._write.bind(socket)
  const writeAll = socket._writev?.bind(socket)
  socket._write = (chunk, encoding, done) => write(chunk, encoding, afterAll(done))
  if (writeAll) socket._writev = (chunks, done) => writeAll(chunks, afterAll(done))
  return socket
}
