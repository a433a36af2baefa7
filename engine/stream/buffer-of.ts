/** The same bytes as a `Buffer`, which is searched and decoded natively. Nothing is copied. */
export function bufferOf(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}

/** The bytes of several pieces as one. A single piece stays what it is: nothing is copied. */
export function joinedBytes(pieces: readonly Uint8Array[]): Buffer {
  const [first] = pieces
  return pieces.length === 1 && first ? bufferOf(first) : Buffer.concat(pieces)
}
