import { performance } from 'node:perf_hooks'
import type { ServerResponse } from 'node:http'
import type { Flow } from '../spec/source.ts'
import { GatewayError } from '../spec/error.ts'
import type { Reply } from '../spec/slots.ts'
import { Later } from '../pipeline/later.ts'
import { bufferOf } from '../stream/buffer-of.ts'
import { watchSilence } from '../stream/keepalive.ts'
import type { Beat } from '../stream/keepalive.ts'
import type { HttpLimits } from '../config/limits.ts'

/**
 * Limits for sending: how long a response may stay unread, and how long a stream may be silent (a duration as text).
 */
export type SendLimits = Pick<HttpLimits, 'unread'> & { readonly silence: string }

/** Functions that end each response that outlives its exchange. */
export type Lasting = Set<() => void>

/** How sending a reply ended. Times are milliseconds since the process started (`performance.now`). */
export interface Sent {
  readonly bytes: number
  readonly firstByte: number | undefined
  /** The stream failed, and the client's protocol had no way to report it. */
  readonly broken?: Error
  /** The client disconnected before the last byte. */
  readonly left: boolean
}

/**
 * Sends a reply. Ends once its last byte was handed to the system or the client disconnected. Never fails;
 * throws for a reply that HTTP cannot send.
 * @param lasting the set to which a response that outlives its exchange is added until it ends
 * @param linger awaited before the connection of a whole reply is closed
 */
export function sendReply(
  response: ServerResponse,
  reply: Reply,
  headers: Record<string, string>,
  limits: SendLimits,
  lasting: Lasting,
  linger?: () => Promise<void>,
): Later<Sent> {
  const body = reply.body
  switch (body.kind) {
    case 'json':
      headers['content-type'] ??= 'application/json'
      return sendBytes(response, reply.status, headers, Buffer.from(JSON.stringify(body.value)), limits, linger)
    case 'bytes':
      headers['content-type'] = body.type
      return sendBytes(response, reply.status, headers, body.bytes, limits, linger)
    case 'socket':
      throw new Error('a reply of kind "socket" is for routes with "socket: relay"')
    case 'none':
      return sendBytes(response, reply.status, headers, undefined, limits, linger)
    case 'stream':
      headers['content-type'] = body.type
      headers['cache-control'] ??= 'no-cache'
      headers['x-accel-buffering'] = 'no'
      response.writeHead(reply.status, headers)
      if (body.held) response.flushHeaders()
      return sendStream(response, body, limits, lasting)
  }
}

function sendStream(response: ServerResponse, body: Streamed, limits: SendLimits, lasting: Lasting): Later<Sent> {
  const sending = new Later<Sent>()
  if (body.lasting) {
    response.flushHeaders()
    const leave = relay(response, body, limits, () => lasting.delete(leave))
    if (!response.closed) lasting.add(leave)
    sending.end({ bytes: 0, firstByte: performance.now(), left: response.closed })
  } else relay(response, body, limits, (sent) => sending.end(sent))
  return sending
}

function sendBytes(
  response: ServerResponse,
  status: number,
  headers: Record<string, string>,
  bytes: Uint8Array | undefined,
  { unread }: Pick<HttpLimits, 'unread'>,
  linger: (() => Promise<void>) | undefined,
): Later<Sent> {
  const sending = new Later<Sent>()
  if (response.destroyed) {
    sending.end({ bytes: 0, firstByte: undefined, left: true })
    return sending
  }
  headers['content-length'] = String(bytes?.length ?? 0)
  response.writeHead(status, headers)
  const firstByte = performance.now()
  const size = bytes?.length ?? 0
  response.on('close', () => sending.end({ bytes: size, firstByte, left: !response.writableFinished }))
  if (!linger) {
    end(response, unread, bytes)
    return sending
  }
  // The client has the whole body before the exchange ends.
  if (bytes && response.req.method !== 'HEAD') response.write(bytes)
  else response.flushHeaders()
  void linger().then(() => end(response, unread))
  return sending
}

/** Bytes up to which a copy as text is cheaper than a second write. */
const onePiece = 16 * 1024

/** Writes the last bytes. A client that reads nothing for `unread` milliseconds is disconnected. */
function end(response: ServerResponse, unread: number, bytes?: Uint8Array): void {
  // Node sends a text in one write with the headers, but not a buffer.
  if (bytes === undefined || bytes.length > onePiece) response.end(bytes)
  else response.end(bufferOf(bytes).toString('latin1'), 'latin1')
  if (response.socket && response.socket.writableLength > 0) response.setTimeout(unread, () => response.destroy())
}

type Streamed = Extract<Reply['body'], { kind: 'stream' }>

function relay(
  response: ServerResponse,
  { source, keepalive }: Streamed,
  { unread, silence }: SendLimits,
  done: (sent: Sent) => void,
): () => void {
  let bytes = 0
  let firstByte: number | undefined
  let ended = false
  let broken: Error | undefined
  let stalled: NodeJS.Timeout | undefined
  let beat: Beat | undefined
  const flow: Flow = source.open({
    data(chunk) {
      firstByte ??= performance.now()
      bytes += chunk.length
      if (beat) beat.quiet = 0
      if (response.write(chunk) || ended) return
      flow.pause()
      stalled ??= setTimeout(() => response.destroy(), unread).unref()
    },
    end() {
      ended = true
      beat?.stop()
      end(response, unread)
    },
    fail(error) {
      ended = true
      beat?.stop()
      broken = error
      // A chunked response that ends normally would look complete; only a closed connection shows that it is not.
      response.destroy()
    },
  })
  const over = () => {
    clearTimeout(stalled)
    beat?.stop()
    const left = !response.writableFinished && broken === undefined
    if (!ended) flow.cancel(new Error('the client left'))
    ended = true
    done({ bytes, firstByte, left, ...(broken ? { broken } : {}) })
  }
  // A client that disconnected earlier emits no further event.
  const leave = () => {
    if (ended) return
    flow.cancel(new GatewayError('draining'))
    ended = true
    beat?.stop()
    end(response, unread)
  }
  if (response.closed) {
    // The source gets `leave` before it can see the end.
    queueMicrotask(over)
    return leave
  }
  response.on('close', over)
  beat =
    keepalive &&
    watchSilence(silence, () => {
      const sign = stalled ? undefined : keepalive()
      if (sign) response.write(sign)
    })
  response.on('drain', () => {
    clearTimeout(stalled)
    stalled = undefined
    flow.resume()
  })
  return leave
}
