import type { Socket } from 'node:net'

/**
 * The start of a `100 Continue` response (RFC 9110, section 15.2.1), except for the minor version, which may differ.
 */
const start = Buffer.from('HTTP/1.1 100')
/** Index of the status: its first digit rules out nearly every other response. */
const firstDigit = 'HTTP/1.1 '.length
const end = '\r\n\r\n'
/** Maximum bytes of its header section. */
const headLimit = 16 * 1024
const nothing = Buffer.alloc(0)

/**
 * Hides `100 Continue` responses from the reader of a connection. The gateway never requests them, some servers send
 * them anyway, and the HTTP client destroys a connection on which one arrives. They are only recognized at the start
 * of a response; bodies pass unread.
 */
export function withoutContinue<S extends Socket>(socket: S): S {
  const read = socket.read.bind(socket) as (size?: number) => Buffer | null
  const write = socket.write.bind(socket)
  /** Whether a response begins with the next bytes, and the bytes that are too few to decide. */
  let beginning = false
  let held: Buffer = nothing
  socket.write = ((...given: Parameters<typeof write>) => {
    beginning = true
    return write(...given)
  }) as S['write']
  socket.read = (size?: number) => {
    const chunk = read(size)
    if (!beginning || chunk === null) return chunk
    if (held.length === 0 && chunk.length > firstDigit && chunk[firstDigit] !== start[firstDigit]) {
      beginning = false
      return chunk
    }
    const bytes = withoutHead(held.length > 0 ? Buffer.concat([held, chunk]) : chunk)
    beginning = mayContinue(bytes)
    held = beginning ? bytes : nothing
    return beginning ? null : bytes
  }
  return socket
}

/** The bytes after all complete `100 Continue` responses at the start. */
function withoutHead(bytes: Buffer): Buffer {
  let rest: Buffer = bytes
  while (rest.subarray(0, start.length).equals(start)) {
    const at = rest.indexOf(end)
    if (at < 0) break
    rest = rest.subarray(at + end.length)
  }
  return rest
}

/** Whether more bytes are needed to decide. */
function mayContinue(bytes: Buffer): boolean {
  const length = Math.min(bytes.length, start.length)
  return bytes.length < headLimit && start.subarray(0, length).equals(bytes.subarray(0, length))
}
