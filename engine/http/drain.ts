import type { Server } from 'node:http'

/** Milliseconds between two sweeps of idle connections. */
const sweep = 250

export interface DrainOptions {
  /** Whether any request is being answered. A request whose headers have not arrived does not count. */
  readonly busy: () => boolean
  /** Milliseconds that running requests have to finish. */
  readonly deadline: number
  /** Aborts the requests that still run at the deadline, so that their clients receive an error. */
  readonly cut: () => void
  /** Milliseconds for these errors to be sent before the connections are closed. */
  readonly abortTimeout: number
}

/** Stops accepting connections, lets running requests finish, and closes each connection as it becomes idle. */
export function drain(server: Server, { busy, deadline, cut, abortTimeout }: DrainOptions): Promise<void> {
  return new Promise((resolve) => {
    let quiet = false
    const sweeping = setInterval(() => {
      // Not on the first quiet sweep: the last bytes of a response may still be in a buffer.
      if (quiet) server.closeAllConnections()
      else server.closeIdleConnections()
      quiet = !busy()
    }, sweep)
    let ending = setTimeout(() => {
      cut()
      ending = setTimeout(() => server.closeAllConnections(), abortTimeout)
    }, deadline)
    server.close(() => {
      clearInterval(sweeping)
      clearTimeout(ending)
      resolve()
    })
    server.closeIdleConnections()
  })
}
