import type { ServerResponse } from 'node:http'
import type { Flow } from '../spec/source.ts'
import type { Reply } from '../spec/slots.ts'

/** How sending a reply ended. Milliseconds since the process started (`performance.now`). */
export interface Sent {
  readonly bytes: number
  readonly firstByte: number | undefined
  /** The stream broke and its reader could not be told in its own protocol. */
  readonly broken?: Error
  /** The client left before the last byte. */
  readonly left: boolean
}

/** How long a client may leave bytes unread before its connection is closed, in milliseconds. */
const writeIdle = 30_000

/** Sends a reply and resolves once its last byte was handed over or the client left. Never rejects. */
export function sendReply(response: ServerResponse, reply: Reply, headers: Record<string, string>): Promise<Sent> {
  const body = reply.body
  switch (body.kind) {
    case 'json':
      return sendBytes(response, reply.status, headers, Buffer.from(JSON.stringify(body.value)), 'application/json')
    case 'bytes':
      return sendBytes(response, reply.status, headers, body.bytes, body.type)
    case 'none':
      return sendBytes(response, reply.status, headers, undefined, undefined)
    case 'stream':
      return new Promise((resolve) => {
        headers['content-type'] = body.type
        headers['cache-control'] ??= 'no-cache'
        headers['x-accel-buffering'] = 'no'
        response.writeHead(reply.status, headers)
        relay(response, (sink) => body.source.open(sink), resolve)
      })
  }
}

function sendBytes(
  response: ServerResponse,
  status: number,
  headers: Record<string, string>,
  bytes: Uint8Array | undefined,
  type: string | undefined,
): Promise<Sent> {
  return new Promise((resolve) => {
    if (response.destroyed) return resolve({ bytes: 0, firstByte: undefined, left: true })
    if (type !== undefined) headers['content-type'] = type
    headers['content-length'] = String(bytes?.length ?? 0)
    response.writeHead(status, headers)
    const firstByte = performance.now()
    const size = bytes?.length ?? 0
    response.on('close', () => resolve({ bytes: size, firstByte, left: !response.writableFinished }))
    response.end(bytes)
  })
}

type Opening = (sink: { data(chunk: Uint8Array): void; end(): void; fail(error: Error): void }) => Flow

function relay(response: ServerResponse, open: Opening, done: (sent: Sent) => void): void {
  let bytes = 0
  let firstByte: number | undefined
  let ended = false
  let broken: Error | undefined
  let stalled: NodeJS.Timeout | undefined
  const flow = open({
    data(chunk) {
      firstByte ??= performance.now()
      bytes += chunk.length
      if (response.write(chunk) || ended) return
      flow.pause()
      stalled ??= setTimeout(() => response.destroy(), writeIdle).unref()
    },
    end() {
      ended = true
      response.end()
    },
    fail(error) {
      ended = true
      broken = error
      // A chunked answer that just ends would look complete: only cutting the connection says that it is not.
      response.destroy()
    },
  })
  response.on('drain', () => {
    clearTimeout(stalled)
    stalled = undefined
    flow.resume()
  })
  response.on('close', () => {
    clearTimeout(stalled)
    const left = !response.writableFinished && broken === undefined
    if (!ended) flow.cancel(new Error('the client left'))
    done({ bytes, firstByte, left, ...(broken ? { broken } : {}) })
  })
}
