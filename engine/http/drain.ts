import type { Server } from 'node:http'

/** Milliseconds between two looks for connections that have become idle. */
const sweep = 250

/**
 * Stops taking connections, lets requests under way finish and closes each connection as it becomes idle.
 * After `deadline` milliseconds what is still open is cut.
 */
export function drain(server: Server, deadline: number): Promise<void> {
  return new Promise((resolve) => {
    const sweeping = setInterval(() => server.closeIdleConnections(), sweep)
    const cut = setTimeout(() => server.closeAllConnections(), deadline)
    server.close(() => {
      clearInterval(sweeping)
      clearTimeout(cut)
      resolve()
    })
    server.closeIdleConnections()
  })
}
