import type { Server } from 'node:http'

/** Milliseconds between two looks for connections that have become idle. */
const sweep = 250

export interface DrainOptions {
  /** Whether any request is being answered; one that has not arrived yet is not waited for. */
  readonly busy: () => boolean
  /** Milliseconds for requests under way. */
  readonly deadline: number
  /** Ends the requests that are still under way then, so that their clients hear of it. */
  readonly cut: () => void
  /** Milliseconds this may take before the connections are closed. */
  readonly lastWords: number
}

/** Stops taking connections, lets requests under way finish and closes each connection as it becomes idle. */
export function drain(server: Server, { busy, deadline, cut, lastWords }: DrainOptions): Promise<void> {
  return new Promise((resolve) => {
    let quiet = false
    const sweeping = setInterval(() => {
      // Not at the first look: the last bytes of an answer may still be on their way.
      if (quiet) server.closeAllConnections()
      else server.closeIdleConnections()
      quiet = !busy()
    }, sweep)
    let ending = setTimeout(() => {
      cut()
      ending = setTimeout(() => server.closeAllConnections(), lastWords)
    }, deadline)
    server.close(() => {
      clearInterval(sweeping)
      clearTimeout(ending)
      resolve()
    })
    server.closeIdleConnections()
  })
}
