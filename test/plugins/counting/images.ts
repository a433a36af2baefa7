/** Beginnings of images of a given size, for tests. */
export const images = {
  png(width: number, height: number): Buffer {
    const bytes = Buffer.alloc(33)
    bytes.write('\x89PNG\r\n\x1a\n\0\0\0\rIHDR', 'latin1')
    bytes.writeUInt32BE(width, 16)
    bytes.writeUInt32BE(height, 20)
    return bytes
  },
  gif(width: number, height: number): Buffer {
    const bytes = Buffer.from('GIF89a\0\0\0\0\0\0\0', 'latin1')
    bytes.writeUInt16LE(width, 6)
    bytes.writeUInt16LE(height, 8)
    return bytes
  },
  /** With an application segment of `metadata` bytes and fill bytes before the frame. */
  jpeg(width: number, height: number, metadata = 14): Buffer {
    const segment = Buffer.alloc(metadata + 4)
    segment.writeUInt16BE(0xffe1, 0)
    segment.writeUInt16BE(metadata + 2, 2)
    const tables = Buffer.from([0xff, 0xc4, 0, 3, 0, 0xff, 0xff])
    const frame = Buffer.from([0xff, 0xc2, 0, 17, 8, 0, 0, 0, 0, 3])
    frame.writeUInt16BE(height, 5)
    frame.writeUInt16BE(width, 7)
    return Buffer.concat([Buffer.from([0xff, 0xd8]), segment, tables, frame])
  },
  lossyWebp(width: number, height: number): Buffer {
    const bytes = Buffer.alloc(30)
    bytes.write('RIFF\0\0\0\0WEBPVP8 \0\0\0\0\0\0\0\x9d\x01\x2a', 'latin1')
    // The two upper bits are a scale.
    bytes.writeUInt16LE(width | 0x4000, 26)
    bytes.writeUInt16LE(height | 0x8000, 28)
    return bytes
  },
  losslessWebp(width: number, height: number): Buffer {
    const bytes = Buffer.alloc(30)
    bytes.write('RIFF\0\0\0\0WEBPVP8L\0\0\0\0\x2f', 'latin1')
    bytes.writeUInt32LE((0x10000000 | ((height - 1) << 14) | (width - 1)) >>> 0, 21)
    return bytes
  },
  extendedWebp(width: number, height: number): Buffer {
    const bytes = Buffer.alloc(30)
    bytes.write('RIFF\0\0\0\0WEBPVP8X', 'latin1')
    bytes.writeUIntLE(width - 1, 24, 3)
    bytes.writeUIntLE(height - 1, 27, 3)
    return bytes
  },
}
