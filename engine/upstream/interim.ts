import type { Socket } from 'node:net'

/** How an answer begins that only says that the request may go on (RFC 9110, section 15.2.1), whatever its version. */
const start = Buffer.from('HTTP/1.1 100')
/** Where the status begins: nearly every answer is known by that digit. */
const firstDigit = 'HTTP/1.1 '.length
const end = '\r\n\r\n'
/** Most bytes of its lines. */
const headLimit = 16 * 1024
const nothing = Buffer.alloc(0)

/**
 * A connection that does not show `100 Continue` to its reader. Nobody here asks for it, servers send it all the same,
 * and the HTTP client gives up a connection on which it comes. It is looked for at the beginning of an answer alone:
 * a body may say what it likes.
 */
export function withoutContinue<S extends Socket>(socket: S): S {
  const read = socket.read.bind(socket) as (size?: number) => Buffer | null
  const write = socket.write.bind(socket)
  /** An answer begins with the next bytes, and those of them that do not tell yet what it is. */
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

/** What follows the whole answers of this kind at the beginning. */
function withoutHead(bytes: Buffer): Buffer {
  let rest: Buffer = bytes
  while (rest.subarray(0, start.length).equals(start)) {
    const at = rest.indexOf(end)
    if (at < 0) break
    rest = rest.subarray(at + end.length)
  }
  return rest
}

/** Whether it takes more bytes to know. */
function mayContinue(bytes: Buffer): boolean {
  const length = Math.min(bytes.length, start.length)
  return bytes.length < headLimit && start.subarray(0, length).equals(bytes.subarray(0, length))
}
