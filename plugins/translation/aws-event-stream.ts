import { crc32 } from 'node:zlib'
import { GatewayError } from '../../engine/index.ts'
import type { Frame } from '../../engine/index.ts'
import { ampleRoom, bufferOf, byteBudgetSpent, encodeFrame, eventTooLarge } from '../../engine/kit.ts'
import type { EventRoom, Transform } from '../../engine/kit.ts'

/**
 * Lengths in bytes: the prelude is two lengths and their checksum; the trailer is the checksum of the whole message.
 */
const prelude = 12
const checksum = 4

/**
 * Converts messages of `application/vnd.amazon.eventstream` (smithy.io/2.0/aws/amazon-eventstream.html) to
 * server-sent events, each as soon as it is complete. The event name is its `:event-type`, or the name of its
 * exception or error; the data is its payload. A message that is too large, has a wrong checksum, or was cut off fails
 * the stream (`upstream_invalid_response`).
 */
export class AwsEventStream implements Transform {
  readonly #room: EventRoom
  /** The chunks of an incomplete message, joined once enough bytes have arrived. */
  #held: Uint8Array[] = []
  #size = 0
  /** Bytes needed before parsing can continue. */
  #needed = prelude

  constructor(room: EventRoom = ampleRoom) {
    this.#room = room
  }

  data(chunk: Uint8Array): Uint8Array | undefined {
    this.#size += chunk.length
    if (this.#size < this.#needed) {
      // Copied: a view would keep the whole buffer of its owner alive.
      this.#hold(Buffer.from(chunk))
      return undefined
    }
    let rest = this.#held.length === 0 ? bufferOf(chunk) : Buffer.concat([...this.#held, chunk])
    let events = ''
    this.#held = []
    for (;;) {
      const length = lengthOf(rest)
      if (length !== undefined && length > this.#room.limit) throw eventTooLarge(this.#room)
      this.#needed = length ?? prelude
      if (length === undefined || rest.length < length) break
      events += encodeFrame(frameOf(rest.subarray(0, length)))
      rest = rest.subarray(length)
    }
    this.#size = rest.length
    this.#hold(Buffer.from(rest))
    return events === '' ? undefined : Buffer.from(events)
  }

  end(): undefined {
    if (this.#size > 0) throw unreadable()
  }

  #hold(piece: Uint8Array): void {
    if (this.#room.hold?.resize(this.#size) === false) throw byteBudgetSpent()
    if (piece.length > 0) this.#held.push(piece)
  }
}

/** Length in bytes of the message that begins here; undefined while its head is incomplete. */
function lengthOf(bytes: Buffer): number | undefined {
  if (bytes.length < prelude) return undefined
  const length = bytes.readUInt32BE(0)
  if (crc32(bytes.subarray(0, 8)) !== bytes.readUInt32BE(8) || length < prelude + bytes.readUInt32BE(4) + checksum)
    throw unreadable()
  return length
}

function frameOf(message: Buffer): Frame {
  const end = message.length - checksum
  if (crc32(message.subarray(0, end)) !== message.readUInt32BE(end)) throw unreadable()
  const start = prelude + message.readUInt32BE(4)
  const headers = headersOf(message.subarray(prelude, start))
  const event = headers.get(':event-type') ?? headers.get(':exception-type') ?? headers.get(':error-code')
  const told = headers.get(':error-message')
  const data = told === undefined ? message.toString('utf8', start, end) : JSON.stringify({ message: told })
  // JSON allows line breaks only between tokens, where they have no meaning.
  const line = data.replaceAll(/[\r\n]/g, ' ')
  return event === undefined ? { data: line } : { event: event.replaceAll(/[\r\n]/g, ' '), data: line }
}

/** Bytes of a value by header type; texts and byte arrays carry their length in front. */
const sizes: readonly (number | 'told')[] = [0, 0, 1, 2, 4, 8, 'told', 'told', 8, 16]
const text = 7

/** The headers with a text value. */
function headersOf(bytes: Buffer): ReadonlyMap<string, string> {
  const headers = new Map<string, string>()
  try {
    for (let at = 0; at < bytes.length;) {
      const named = at + 1 + bytes.readUInt8(at)
      const name = bytes.toString('utf8', at + 1, named)
      const type = bytes.readUInt8(named)
      const size = sizes[type]
      if (size === undefined) throw unreadable()
      const start = named + 1 + (size === 'told' ? 2 : 0)
      const end = start + (size === 'told' ? bytes.readUInt16BE(named + 1) : size)
      if (type === text) headers.set(name, bytes.toString('utf8', start, end))
      at = end
    }
  } catch (error) {
    // A length pointed beyond the headers.
    throw error instanceof RangeError ? unreadable() : error
  }
  return headers
}

function unreadable(): GatewayError {
  return new GatewayError(
    'upstream_invalid_response',
    { reason: 'a message of its event stream is damaged' },
    { tags: ['invalid'] },
  )
}
