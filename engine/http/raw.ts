import { randomUUIDv7 } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import type { AnyClientCodec } from '../spec/codec.ts'
import { GatewayError } from '../spec/error.ts'
import { errorReply } from './exchange.ts'
import type { ErrorContext } from './exchange.ts'

// Importing this module would evaluate all its exports, among them `fetch` with its dependencies.
const { STATUS_CODES } = process.getBuiltinModule('node:http')

/**
 * Writes an error on a connection that has no response object, and closes it. Further bytes of the client are not
 * read.
 */
export function refuseRaw(
  stream: Duplex,
  error: GatewayError,
  scrub: ErrorContext['scrub'],
  codec?: AnyClientCodec,
): void {
  if (!stream.writable) {
    stream.destroy()
    return
  }
  const id = randomUUIDv7()
  const { status, headers, body } = errorReply(error, { codec, id, scrub })
  const text = body.kind === 'json' ? JSON.stringify(body.value) : ''
  const lines = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`,
    `x-request-id: ${id}`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    'content-type: application/json',
    `content-length: ${Buffer.byteLength(text)}`,
    'connection: close',
  ]
  stream.end(`${lines.join('\r\n')}\r\n\r\n${text}`, () => stream.destroy())
}

/**
 * Answers a request that Node's parser refused; `rawPacket` holds the bytes at which it gave up.
 * @param response the latest response on the connection: unless it is complete, the client would take the error for
 * part of it
 */
export function refuseUnreadable(
  error: NodeJS.ErrnoException & { readonly rawPacket?: Buffer },
  stream: Duplex,
  response: ServerResponse | undefined,
  scrub: ErrorContext['scrub'],
): void {
  const pending = response !== undefined && !response.writableFinished
  if (error.code === 'ECONNRESET' || (pending && (response.headersSent || response.req.complete))) {
    stream.destroy()
    return
  }
  const reason = 'The request cannot be read.'
  const status = statusOf(error.code ?? '', error.rawPacket)
  refuseRaw(stream, new GatewayError('invalid_request', { reason }, { status }), scrub)
}

function statusOf(code: string, packet: Buffer | undefined): number {
  if (code === 'HPE_HEADER_OVERFLOW') return packet && endsInTarget(packet) ? 414 : 431
  if (code === 'HPE_CHUNK_EXTENSIONS_OVERFLOW') return 413
  return code === 'ERR_HTTP_REQUEST_TIMEOUT' ? 408 : 400
}

/** Whether the bytes end within a request line, before the end of its target. */
function endsInTarget(packet: Buffer): boolean {
  return /^[A-Z]{3,10} \/[^\s]*$/.test(packet.toString('latin1'))
}
