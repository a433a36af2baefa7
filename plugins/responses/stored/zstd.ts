import { promisify } from 'node:util'
import { zstdCompress, zstdCompressSync, zstdDecompress } from 'node:zlib'

/**
 * Bytes that are compressed at once, in less than half a millisecond. In the thread pool each would take twenty times
 * the work, and half a megabyte while it waits for its turn.
 */
const small = 64 * 1024

const compressInPool = promisify(zstdCompress)

/** Zstandard (RFC 8878). */
export async function compress(bytes: Uint8Array): Promise<Buffer> {
  return bytes.length <= small ? zstdCompressSync(bytes) : compressInPool(bytes)
}

/** Rejects with a `RangeError` for what has more than `maxOutputLength` bytes, before these are made. */
export const decompress = promisify(zstdDecompress)
