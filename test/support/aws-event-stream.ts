import { crc32 } from 'node:zlib'

/** A message of `application/vnd.amazon.eventstream` with headers whose values are texts. */
export function awsMessage(
  headers: Readonly<Record<string, string>>,
  payload: unknown,
  extra: Buffer = Buffer.alloc(0),
): Buffer {
  const lines = Object.entries(headers).map(([name, value]) => {
    const size = Buffer.alloc(3)
    size.writeUInt8(7, 0)
    size.writeUInt16BE(Buffer.byteLength(value), 1)
    return Buffer.concat([Buffer.from([Buffer.byteLength(name)]), Buffer.from(name), size, Buffer.from(value)])
  })
  const head = Buffer.concat([...lines, extra])
  const body = Buffer.from(typeof payload === 'string' ? payload : JSON.stringify(payload))
  const prelude = Buffer.alloc(12)
  prelude.writeUInt32BE(16 + head.length + body.length, 0)
  prelude.writeUInt32BE(head.length, 4)
  prelude.writeUInt32BE(crc32(prelude.subarray(0, 8)), 8)
  const message = Buffer.concat([prelude, head, body])
  const sum = Buffer.alloc(4)
  sum.writeUInt32BE(crc32(message))
  return Buffer.concat([message, sum])
}
