/** The same bytes as a `Buffer`, which has native search and decoding. Nothing is copied. */
export function bufferOf(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}

/** Several chunks as one buffer. A single chunk is not copied. */
export function joinedBytes(pieces: readonly Uint8Array[]): Buffer {
  const [first] = pieces
  return pieces.length === 1 && first ? bufferOf(first) : Buffer.concat(pieces)
}
