/** Bytes of a buffer that is lent. */
export const lentSize = 64 * 1024
/** Most buffers that wait for their next use. */
const idleLimit = 16

const lent = new WeakSet<ArrayBufferLike>()
const idle: Buffer[] = []

/**
 * A buffer of `lentSize` bytes. Whoever reads it last may give it back; one that nobody gives back is collected, but
 * only when tens of megabytes of such are there.
 */
export function lend(): Buffer {
  const buffer = idle.pop() ?? Buffer.allocUnsafeSlow(lentSize)
  lent.add(buffer.buffer)
  return buffer
}

/** Whether a chunk may be given back. */
export function isLent(chunk: unknown): chunk is Uint8Array {
  return chunk instanceof Uint8Array && chunk.length === lentSize && lent.has(chunk.buffer)
}

/** Lets a chunk be written over if it is a buffer that was lent: nobody reads it any more. */
export function giveBack(chunk: Uint8Array): void {
  if (isLent(chunk) && lent.delete(chunk.buffer) && idle.length < idleLimit) idle.push(Buffer.from(chunk.buffer))
}
