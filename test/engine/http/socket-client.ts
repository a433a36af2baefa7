import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { WebSocket } from 'ws'
import type { ClientOptions } from 'ws'
import type { RunningGateway } from '../../support/gateway.ts'

/** A WebSocket client that remembers what it hears. */
export interface SocketClient {
  readonly socket: WebSocket
  /** Text messages that were not asked for yet. */
  readonly heard: readonly string[]
  /** The next text message. */
  next(): Promise<string>
  /** The next text message, as JSON. */
  nextJson(): Promise<unknown>
  send(message: unknown): void
  /** Close code and reason, once it is closed. */
  readonly closed: Promise<{ readonly code: number; readonly reason: string }>
}

/** Connects to a path, with the gateway's key unless `headers` say otherwise. */
export async function connect(
  gateway: RunningGateway,
  path: string,
  options: ClientOptions = {},
): Promise<SocketClient> {
  const client = dial(gateway, path, options)
  await once(client.socket, 'open')
  return client
}

/** Like `connect`, without waiting for the connection. */
export function dial(gateway: RunningGateway, path: string, options: ClientOptions = {}): SocketClient {
  const headers = { authorization: `Bearer ${gateway.key}`, ...options.headers }
  const socket = new WebSocket(gateway.url.replace('http', 'ws') + path, { ...options, headers })
  const heard: string[] = []
  const waiting: ((text: string) => void)[] = []
  socket.on('message', (data: Buffer) => {
    const text = data.toString()
    const first = waiting.shift()
    if (first) first(text)
    else heard.push(text)
  })
  socket.on('error', () => undefined)
  const next = () =>
    new Promise<string>((resolve) => {
      const text = heard.shift()
      if (text === undefined) waiting.push(resolve)
      else resolve(text)
    })
  return {
    socket,
    heard,
    next,
    nextJson: async () => JSON.parse(await next()) as unknown,
    send: (message) => socket.send(typeof message === 'string' ? message : JSON.stringify(message)),
    closed: new Promise((resolve) => {
      socket.on('close', (code, reason) => resolve({ code, reason: reason.toString() }))
    }),
  }
}

/** Status and body with which an upgrade was refused. */
export async function refusal(gateway: RunningGateway, path: string, options: ClientOptions = {}) {
  const { socket } = dial(gateway, path, options)
  const [, response] = (await once(socket, 'unexpected-response')) as [unknown, IncomingMessage]
  const text = Buffer.concat(await response.toArray()).toString()
  return { status: response.statusCode, headers: response.headers, body: JSON.parse(text) as unknown }
}

/** A frame as a client sends it, with a mask of zeros; `first` is its first byte. */
export function frame(first: number, content: string): Buffer {
  const { length } = content
  const head = Buffer.alloc(length < 126 ? 2 : length < 65_536 ? 4 : 10)
  head[0] = first
  head[1] = 0x80 | (length < 126 ? length : length < 65_536 ? 126 : 127)
  if (head.length === 4) head.writeUInt16BE(length, 2)
  if (head.length === 10) head.writeBigUInt64BE(BigInt(length), 2)
  return Buffer.concat([head, Buffer.alloc(4), Buffer.from(content)])
}
