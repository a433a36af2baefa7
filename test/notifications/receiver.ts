import { createHmac, timingSafeEqual } from 'node:crypto'
import { createServer } from 'node:http'
import type { IncomingHttpHeaders } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'

/** The secret of a target in the form of Standard Webhooks, and its key. */
export const key = Buffer.from('a key of twenty-four bytes, and more')
export const secret = `whsec_${key.toString('base64')}`

export interface Received {
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly text: string
  readonly body: Notice
}

/** What a target in the form `standard` gets. */
export interface Notice {
  readonly id: string
  readonly cause: string
  readonly state: 'begin' | 'still' | 'end'
  readonly at: string
  readonly since: string
  readonly subject: string
  readonly facts: Readonly<Record<string, unknown>>
  readonly link: string
}

export interface Receiver {
  readonly url: string
  readonly received: readonly Received[]
  /** Statuses of the next answers; afterwards 204. */
  answer(...statuses: readonly number[]): void
  of(cause: string): readonly Notice[]
  close(): Promise<void>
}

/** A server that takes notices. */
export async function receiver(): Promise<Receiver> {
  const received: Received[] = []
  let statuses: readonly number[] = []
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const text = Buffer.concat(chunks).toString()
      const body = JSON.parse(text) as Notice
      received.push({ path: request.url ?? '', headers: request.headers, text, body })
      const [status = 204, ...rest] = statuses
      statuses = rest
      response.writeHead(status).end()
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    answer: (...given) => void (statuses = given),
    of: (cause) => received.map(({ body }) => body).filter((one) => one.cause === cause),
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

/**
 * Whether a post is signed as Standard Webhooks 1.0 says: `v1,` and the HMAC-SHA-256 of id, time and body in base64,
 * one of several by spaces, and not older than five minutes.
 */
export function isSigned({ headers, text }: Received, by: Buffer = key): boolean {
  const [id, timestamp, signatures] = ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map((name) =>
    String(headers[name]),
  ) as [string, string, string]
  if (Math.abs(Date.now() / 1_000 - Number(timestamp)) > 300) return false
  const expected = createHmac('sha256', by).update(`${id}.${timestamp}.${text}`).digest()
  return signatures.split(' ').some((one) => {
    const [version, signature = ''] = one.split(',')
    const given = Buffer.from(signature, 'base64')
    return version === 'v1' && given.length === expected.length && timingSafeEqual(given, expected)
  })
}
