/** "expand 32-byte k", the constant of keys of 32 bytes (Salsa20 specification, section 8). */
const sigma = [0x61707865, 0x3320646e, 0x79622d32, 0x6b206574] as const

/** Steps of a double round: which word is changed by which two, and by how many bits it is turned (section 5). */
const steps: readonly (readonly [to: number, one: number, other: number, bits: number])[] = [
  [0, 4, 8, 12],
  [5, 9, 13, 1],
  [10, 14, 2, 6],
  [15, 3, 7, 11],
  [0, 1, 2, 3],
  [5, 6, 7, 4],
  [10, 11, 8, 9],
  [15, 12, 13, 14],
].flatMap(([a = 0, b = 0, c = 0, d = 0]) => [
  [b, a, d, 7] as const,
  [c, b, a, 9] as const,
  [d, c, b, 13] as const,
  [a, d, c, 18] as const,
])

/** The words of the core after twenty rounds, from a key of 32 bytes and an input of 16. */
function rounds(key: Buffer, input: Buffer): { readonly before: Uint32Array; readonly after: Uint32Array } {
  const words = (bytes: Buffer) => Array.from({ length: bytes.length / 4 }, (_, at) => bytes.readUInt32LE(at * 4))
  const [k, n] = [words(key), words(input)]
  const [s0, s1, s2, s3] = sigma
  const before = Uint32Array.of(s0, ...k.slice(0, 4), s1, ...n, s2, ...k.slice(4), s3)
  const x = before.slice()
  for (let round = 0; round < 10; round += 1)
    for (const [to, one, other, bits] of steps) {
      const sum = ((x[one] ?? 0) + (x[other] ?? 0)) >>> 0
      x[to] = (x[to] ?? 0) ^ ((sum << bits) | (sum >>> (32 - bits)))
    }
  return { before, after: x }
}

function bytesOf(words: Iterable<number>): Buffer {
  const list = [...words]
  const bytes = Buffer.alloc(list.length * 4)
  list.forEach((word, at) => bytes.writeUInt32LE(word >>> 0, at * 4))
  return bytes
}

/** The key of the stream for a nonce of 24 bytes: HSalsa20 of its first 16 (XSalsa20, section 2). */
function streamKey(key: Buffer, nonce: Buffer): Buffer {
  const { after } = rounds(key, nonce.subarray(0, 16))
  return bytesOf([0, 5, 10, 15, 6, 7, 8, 9].map((at) => after[at] ?? 0))
}

/** As many bytes of the stream. */
function stream(key: Buffer, nonce: Buffer, length: number): Buffer {
  const own = streamKey(key, nonce)
  const blocks = Array.from({ length: Math.ceil(length / 64) }, (_, block) => {
    const input = Buffer.alloc(16)
    nonce.copy(input, 0, 16, 24)
    input.writeUInt32LE(block, 8)
    const { before, after } = rounds(own, input)
    return bytesOf(after.map((word, at) => word + (before[at] ?? 0)))
  })
  return Buffer.concat(blocks).subarray(0, length)
}

function littleEndian(bytes: Buffer): bigint {
  return BigInt(`0x${Buffer.from(bytes).reverse().toString('hex') || '0'}`)
}

const prime = (1n << 130n) - 5n
const clamp = 0x0ffffffc0ffffffc0ffffffc0fffffffn

/** Poly1305 (RFC 8439, section 2.5). */
function authenticator(text: Buffer, key: Buffer): Buffer {
  const r = littleEndian(key.subarray(0, 16)) & clamp
  let sum = 0n
  for (let at = 0; at < text.length; at += 16) {
    const block = text.subarray(at, at + 16)
    sum = ((sum + littleEndian(block) + (1n << BigInt(block.length * 8))) * r) % prime
  }
  const tag = (sum + littleEndian(key.subarray(16, 32))) & ((1n << 128n) - 1n)
  return Buffer.from(tag.toString(16).padStart(32, '0'), 'hex').reverse()
}

/**
 * Opens a secretbox of NaCl (XSalsa20-Poly1305): a tag of 16 bytes and the sealed text. Undefined: it was sealed with
 * another key, or changed. Written for single values of an import, not for speed.
 * @param key 32 bytes
 * @param nonce 24 bytes
 */
export function openSecretbox(box: Buffer, nonce: Buffer, key: Buffer): Buffer | undefined {
  if (box.length < 16 || nonce.length !== 24 || key.length !== 32) return undefined
  const [tag, sealed] = [box.subarray(0, 16), box.subarray(16)]
  const bytes = stream(key, nonce, sealed.length + 32)
  if (!authenticator(sealed, bytes.subarray(0, 32)).equals(tag)) return undefined
  return Buffer.from(sealed.map((byte, at) => byte ^ (bytes[at + 32] ?? 0)))
}
