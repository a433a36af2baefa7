// The global of this name is a getter.
import { performance } from 'node:perf_hooks'
import type { IncomingMessage } from 'node:http'
import { GatewayError } from '../spec/error.ts'
import { unwatch, watch } from '../pipeline/deadline.ts'
import type { Waiting } from '../pipeline/deadline.ts'
import { tooMuchInHand } from '../stream/in-hand.ts'
import type { Hold } from '../stream/in-hand.ts'
import { BytesBody } from '../stream/body.ts'
import type { HttpLimits } from './limits.ts'

/** What a body may take while it is being read. */
export interface BodyReading {
  /** Most bytes. */
  readonly limit: number
  readonly hold: Hold
  /** Milliseconds for which nothing of it may come. */
  readonly silence: number
}

/**
 * Reads the whole body of a request. What it takes from the budget stays taken until `hold` is released, which a
 * refused body is at once.
 * Rejects with `request_too_large`, `unsupported_media_type` (a compressed body), `request_timeout`, `overloaded`, or
 * `client_closed`.
 */
export function readBody(request: IncomingMessage, { limit, hold, silence }: BodyReading): Promise<BytesBody> {
  const encoding = request.headers['content-encoding']?.toLowerCase()
  if (encoding !== undefined && encoding !== 'identity')
    return Promise.reject(
      new GatewayError('unsupported_media_type', { given: encoding, expected: 'an uncompressed body' }),
    )
  const declared = Number(request.headers['content-length'] ?? 0)
  if (declared > limit) return Promise.reject(new GatewayError('request_too_large', { limit }))
  return new Promise((resolve, reject) => {
    // It would say so to nobody again.
    if (request.destroyed) return reject(new GatewayError('client_closed'))
    const parts: Buffer[] = []
    let size = 0
    let heard = performance.now()
    const reading: Waiting = {
      look(now) {
        if (now - heard >= silence) stop(new GatewayError('request_timeout', { seconds: silence / 1_000 }))
      },
    }
    watch(reading)
    const stop = (error: Error) => {
      unwatch(reading)
      request.removeAllListeners('data')
      request.pause()
      parts.length = 0
      hold.release()
      reject(error)
    }
    request.on('data', (chunk: Buffer) => {
      heard = performance.now()
      size += chunk.length
      if (size > limit) return stop(new GatewayError('request_too_large', { limit }))
      if (!hold.take(chunk.length)) return stop(tooMuchInHand())
      parts.push(chunk)
    })
    request.on('end', () => {
      unwatch(reading)
      resolve(new BytesBody(parts.length === 1 ? (parts[0] as Buffer) : Buffer.concat(parts, size)))
    })
    request.on('error', (cause) => reject(new GatewayError('client_closed', {}, { cause })))
    request.on('close', () => {
      unwatch(reading)
      if (!request.complete) reject(new GatewayError('client_closed'))
    })
  })
}

/** Whether a request says that it has a body. */
export function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0'
}

/**
 * Reads the rest of a body and forgets it, within limits: a connection that is closed while its client still sends is
 * reset, and the client loses the answer.
 */
export function discardBody(
  request: IncomingMessage,
  limits: Pick<HttpLimits, 'linger' | 'lingerBytes'>,
): Promise<void> {
  return new Promise((resolve) => {
    let left = limits.lingerBytes
    const done = () => {
      clearTimeout(late)
      request.off('data', count).off('end', done).off('close', done)
      resolve()
    }
    const late = setTimeout(done, limits.linger)
    const count = (chunk: Buffer) => {
      left -= chunk.length
      if (left < 0) done()
    }
    if (request.destroyed) return done()
    request.on('data', count).on('end', done).on('close', done)
    request.resume()
  })
}
