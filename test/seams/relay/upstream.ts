import { once } from 'node:events'
import { createServer } from 'node:http'
import type { IncomingMessage, Server } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { WebSocketServer } from 'ws'
import type { WebSocket } from 'ws'

/** What becomes of the next upgrades: they are taken, refused with a status, or never answered. */
export type Welcome = 'open' | 'silent' | number

/** One session, as the upstream sees it. */
export interface Session {
  readonly socket: WebSocket
  readonly request: IncomingMessage
  readonly heard: string[]
  readonly closed: Promise<{ readonly code: number; readonly reason: string }>
}

/** An upstream that takes sockets, and does with them what the test says. */
export interface TalkingUpstream {
  readonly url: string
  readonly sessions: readonly Session[]
  readonly upgrades: readonly IncomingMessage[]
  welcome(next: Welcome): void
  /** Resolves once `condition` holds; looked at whenever something happens here. */
  when(condition: () => boolean): Promise<void>
  /** Open connections. */
  readonly connections: number
  close(): Promise<void>
}

/** @param greeting what it says with the handshake itself */
export async function talkingUpstream(greeting: string): Promise<TalkingUpstream> {
  const server: Server = createServer()
  const talking = new WebSocketServer({ noServer: true })
  const sessions: Session[] = []
  const upgrades: IncomingMessage[] = []
  const connections = new Set<Socket>()
  const watchers = new Set<() => void>()
  const changed = () => watchers.forEach((look) => look())
  let welcome: Welcome = 'open'
  server.on('connection', (socket) => {
    connections.add(socket)
    socket.on('close', () => {
      connections.delete(socket)
      changed()
    })
  })
  server.on('upgrade', (request, stream, head) => {
    upgrades.push(request)
    stream.on('error', () => undefined)
    changed()
    if (welcome === 'silent') {
      // Whether the other end has left shows only to who reads.
      stream.resume().on('end', () => stream.destroy())
      return
    }
    if (welcome !== 'open') {
      stream.end(`HTTP/1.1 ${welcome} No\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`)
      return
    }
    talking.handleUpgrade(request, stream, head, (socket) => {
      const heard: string[] = []
      const closed = once(socket, 'close').then(([code, reason]: unknown[]) => ({
        code: code as number,
        reason: String(reason),
      }))
      socket.on('error', () => undefined)
      socket.on('message', (data, binary) => {
        heard.push(`${binary ? 'bytes' : 'text'} ${(data as Buffer).toString()}`)
        changed()
      })
      socket.send(greeting)
      sessions.push({ socket, request, heard, closed })
      changed()
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    sessions,
    upgrades,
    welcome: (next) => (welcome = next),
    get connections() {
      return connections.size
    },
    when: (condition) =>
      new Promise((resolve) => {
        const look = () => {
          if (!condition()) return
          watchers.delete(look)
          resolve()
        }
        watchers.add(look)
        look()
      }),
    async close() {
      for (const connection of connections) connection.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}
