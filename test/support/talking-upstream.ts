import { once } from 'node:events'
import { createServer } from 'node:http'
import type { IncomingMessage, Server } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { WebSocketServer } from 'ws'
import type { WebSocket } from 'ws'

/** What becomes of the next upgrades: they are taken, refused with a status or a whole answer, or never answered. */
export type Welcome = 'open' | 'silent' | number | Refusal

/** An answer with which upgrades are refused. */
export interface Refusal {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body: string
}

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
  /** @param key only for upgrades with this bearer key */
  welcome(next: Welcome, key?: string): void
  /** Resolves once `condition` holds; looked at whenever something happens here. */
  when(condition: () => boolean): Promise<void>
  /** Open connections. */
  readonly connections: number
  close(): Promise<void>
}

/** @param greeting what it says with the handshake itself; absent: nothing */
export async function talkingUpstream(greeting?: string): Promise<TalkingUpstream> {
  const server: Server = createServer()
  const talking = new WebSocketServer({ noServer: true })
  const sessions: Session[] = []
  const upgrades: IncomingMessage[] = []
  const connections = new Set<Socket>()
  const watchers = new Set<() => void>()
  const changed = () => watchers.forEach((look) => look())
  let usual: Welcome = 'open'
  const byKey = new Map<string, Welcome>()
  server.on('connection', (socket) => {
    connections.add(socket)
    socket.on('close', () => {
      connections.delete(socket)
      changed()
    })
  })
  server.on('upgrade', (request, stream, head) => {
    upgrades.push(request)
    const welcome = byKey.get(request.headers.authorization?.replace('Bearer ', '') ?? '') ?? usual
    stream.on('error', () => undefined)
    changed()
    if (welcome === 'silent') {
      // Whether the other end has left shows only to who reads.
      stream.resume().on('end', () => stream.destroy())
      return
    }
    if (welcome !== 'open') {
      const { status, headers = {}, body } = typeof welcome === 'number' ? { status: welcome, body: '' } : welcome
      const lines = Object.entries({ ...headers, connection: 'close', 'content-length': Buffer.byteLength(body) })
      stream.end(
        `HTTP/1.1 ${status} No\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n${body}`,
      )
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
      if (greeting !== undefined) socket.send(greeting)
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
    welcome(next, key) {
      if (key === undefined) usual = next
      else byKey.set(key, next)
    },
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
