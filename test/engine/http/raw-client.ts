import { once } from 'node:events'
import { createConnection } from 'node:net'
import type { Socket } from 'node:net'
import type { RunningGateway } from '../../support/gateway.ts'

/** A connection on which a test writes what it likes. */
export interface RawClient {
  readonly socket: Socket
  /** Everything that was received so far. */
  readonly text: string
  write(bytes: string | Buffer): void
  /** Resolves with the text once it matches. */
  until(pattern: RegExp): Promise<string>
  /** Resolves with the whole text once the connection is closed. */
  readonly closed: Promise<string>
}

export async function rawClient(gateway: Pick<RunningGateway, 'url'>): Promise<RawClient> {
  const { hostname, port } = new URL(gateway.url)
  const socket = createConnection(Number(port), hostname)
  let text = ''
  const watchers = new Set<() => void>()
  socket.on('data', (chunk: Buffer) => {
    text += chunk.toString('latin1')
    watchers.forEach((look) => look())
  })
  // A reset is one of the ways to be refused; `closed` tells.
  socket.on('error', () => undefined)
  const closed = new Promise<string>((resolve) => socket.on('close', () => resolve(text)))
  await once(socket, 'connect')
  return {
    socket,
    get text() {
      return text
    },
    write: (bytes) => socket.write(bytes),
    until: (pattern) =>
      new Promise((resolve) => {
        const look = () => {
          if (!pattern.test(text)) return
          watchers.delete(look)
          resolve(text)
        }
        watchers.add(look)
        look()
      }),
    closed,
  }
}

/** Writes on a connection of its own and answers what came until it was closed. */
export async function exchange(gateway: RunningGateway, bytes: string | Buffer): Promise<string> {
  const client = await rawClient(gateway)
  client.write(bytes)
  return client.closed
}

/** Statuses of the answers in a text. */
export function statuses(text: string): number[] {
  return [...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status))
}

/** A request's text. Lines are joined with CR LF; a body gets its length unless `headers` tell one. */
export function request(line: string, headers: readonly string[] = [], body = ''): string {
  const length = body !== '' && !headers.some((header) => /^(content-length|transfer-encoding)/i.test(header))
  return [
    `${line} HTTP/1.1`,
    'host: localhost',
    ...headers,
    ...(length ? [`content-length: ${body.length}`] : []),
    '',
    body,
  ].join('\r\n')
}
