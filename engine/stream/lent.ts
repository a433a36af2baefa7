/** Bytes of a pooled buffer. */
export const lentSize = 64 * 1024
/** Maximum number of buffers kept for reuse. */
const idleLimit = 16

const lent = new WeakSet<ArrayBufferLike>()
const idle: Buffer[] = []

/**
 * Takes a buffer of `lentSize` bytes from the pool. Its last reader may give it back. A buffer that is not given back
 * is garbage, which Node collects only after tens of megabytes.
 */
export function lend(): Buffer {
  const buffer = idle.pop() ?? Buffer.allocUnsafeSlow(lentSize)
  lent.add(buffer.buffer)
  return buffer
}

/** Whether a chunk is a pooled buffer. */
export function isLent(chunk: unknown): chunk is Uint8Array {
  return chunk instanceof Uint8Array && chunk.length === lentSize && lent.has(chunk.buffer)
}

/** Returns a chunk to the pool if it came from there. Only its last reader may call this: the chunk is overwritten. */
export function giveBack(chunk: Uint8Array): void {
  if (isLent(chunk) && lent.delete(chunk.buffer) && idle.length < idleLimit) idle.push(Buffer.from(chunk.buffer))
}
