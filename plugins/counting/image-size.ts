/** Width and height of an image in pixels. */
export interface ImageSize {
  readonly width: number
  readonly height: number
}

/**
 * The size stated in the leading bytes of a PNG, JPEG, GIF or WebP; no pixel is decoded.
 * Undefined for another format, or if the bytes end before the size. Formats: PNG (ISO 15948) 11.2.2, JPEG (ITU-T T.81)
 * B.2.2, GIF89a 18, WebP container specification.
 */
export function imageSize(bytes: Buffer): ImageSize | undefined {
  const size = read(bytes)
  return size && size.width > 0 && size.height > 0 ? size : undefined
}

function read(bytes: Buffer): ImageSize | undefined {
  if (starts(bytes, '\x89PNG\r\n\x1a\n', 24)) return { width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) }
  if (starts(bytes, 'GIF8', 10)) return { width: bytes.readUInt16LE(6), height: bytes.readUInt16LE(8) }
  if (starts(bytes, 'RIFF', 30) && bytes.toString('latin1', 8, 12) === 'WEBP') return webp(bytes)
  return starts(bytes, '\xff\xd8', 4) ? jpeg(bytes) : undefined
}

function starts(bytes: Buffer, signature: string, length: number): boolean {
  return bytes.length >= length && bytes.toString('latin1', 0, signature.length) === signature
}

function webp(bytes: Buffer): ImageSize | undefined {
  switch (bytes.toString('latin1', 12, 16)) {
    case 'VP8 ':
      return { width: bytes.readUInt16LE(26) & 0x3fff, height: bytes.readUInt16LE(28) & 0x3fff }
    case 'VP8L': {
      const bits = bytes.readUInt32LE(21)
      return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 }
    }
    case 'VP8X':
      return { width: bytes.readUIntLE(24, 3) + 1, height: bytes.readUIntLE(27, 3) + 1 }
    default:
      return undefined
  }
}

/** Skips segments until the start of a frame. */
function jpeg(bytes: Buffer): ImageSize | undefined {
  let at = 2
  while (at + 9 <= bytes.length && bytes[at] === 0xff) {
    const marker = bytes[at + 1] as number
    if (marker === 0xff) {
      at++
    } else if (marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc) {
      return { width: bytes.readUInt16BE(at + 7), height: bytes.readUInt16BE(at + 5) }
    } else {
      at += 2 + bytes.readUInt16BE(at + 2)
    }
  }
  return undefined
}
