import type { IncomingMessage } from 'node:http'
import { GatewayError } from '../spec/error.ts'

/** Bytes of bodies that all requests of this process may hold at once. */
export interface ByteBudget {
  /** False: too much is in hand already. */
  take(bytes: number): boolean
  give(bytes: number): void
}

/** A budget of `limit` bytes. */
export function byteBudget(limit: number): ByteBudget {
  let used = 0
  return {
    take(bytes) {
      if (used + bytes > limit) return false
      used += bytes
      return true
    },
    give(bytes) {
      used -= bytes
    },
  }
}

/**
 * Reads the whole body of a request. What it takes from `budget` goes back when the response has closed.
 * Rejects with `request_too_large`, `unsupported_media_type` (a compressed body), `overloaded`, or `client_closed`.
 */
export function readBody(
  request: IncomingMessage,
  limit: number,
  budget: ByteBudget,
  onTaken: (bytes: number) => void,
): Promise<Buffer> {
  const encoding = request.headers['content-encoding']
  if (encoding !== undefined && encoding !== 'identity')
    return Promise.reject(
      new GatewayError('unsupported_media_type', { given: encoding, expected: 'an uncompressed body' }),
    )
  const declared = Number(request.headers['content-length'] ?? 0)
  if (declared > limit) return Promise.reject(new GatewayError('request_too_large', { limit }))
  return new Promise((resolve, reject) => {
    const parts: Buffer[] = []
    let size = 0
    const stop = (error: Error) => {
      request.removeAllListeners('data')
      request.pause()
      reject(error)
    }
    request.on('data', (chunk: Buffer) => {
      size += chunk.length
      if (size > limit) return stop(new GatewayError('request_too_large', { limit }))
      if (!budget.take(chunk.length)) return stop(new GatewayError('overloaded', {}, { retryAfter: 1 }))
      onTaken(chunk.length)
      parts.push(chunk)
    })
    request.on('end', () => resolve(parts.length === 1 ? (parts[0] as Buffer) : Buffer.concat(parts, size)))
    request.on('error', (cause) => reject(new GatewayError('client_closed', {}, { cause })))
    request.on('close', () => {
      if (!request.complete) reject(new GatewayError('client_closed'))
    })
  })
}
