import { promisify } from 'node:util'
import { zstdCompress, zstdCompressSync, zstdDecompress } from 'node:zlib'

/**
 * Bytes up to which compression is synchronous; it takes less than half a millisecond. The thread pool would need
 * twenty times the work, and half a megabyte for each waiting task.
 */
const small = 64 * 1024

const compressInPool = promisify(zstdCompress)

/** Zstandard (RFC 8878). */
export async function compress(bytes: Uint8Array): Promise<Buffer> {
  return bytes.length <= small ? zstdCompressSync(bytes) : compressInPool(bytes)
}

/** Decompresses. Rejects with a `RangeError` before the output exceeds `maxOutputLength` bytes. */
export const decompress = promisify(zstdDecompress)
