import { crc32 } from 'node:zlib'
import { GatewayError } from '../spec/error.ts'
import type { Frame } from '../spec/source.ts'
import { bufferOf } from './buffer-of.ts'
import { ampleRoom, eventTooLarge, byteBudgetSpent } from './byte-budget.ts'
import type { EventRoom } from './byte-budget.ts'
import { encodeFrame } from './sse.ts'
import type { Transform } from './through.ts'

/** Lengths in bytes: two lengths and their checksum before the headers, and the checksum of all at the end. */
const prelude = 12
const checksum = 4

/**
 * Messages of `application/vnd.amazon.eventstream` (smithy.io/2.0/aws/amazon-eventstream.html) as server-sent events,
 * each as soon as it is whole: the event is its `:event-type`, or what its exception or error is called, and the data its
 * payload. A message that is too large, or whose checksums are wrong, breaks the stream (`upstream_invalid_response`).
 */
export class AwsEventStream implements Transform {
  readonly #room: EventRoom
  /** The beginning of a message, in the pieces in which it came: they are joined once more of it can be told. */
  #held: Uint8Array[] = []
  #size = 0
  /** Bytes that it takes until then. */
  #needed = prelude

  constructor(room: EventRoom = ampleRoom) {
    this.#room = room
  }

  data(chunk: Uint8Array): Uint8Array | undefined {
    this.#size += chunk.length
    if (this.#size < this.#needed) {
      // A piece of somebody else's buffer would hold on to all of it.
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

  #hold(piece: Uint8Array): void {
    if (this.#room.hold?.resize(this.#size) === false) throw byteBudgetSpent()
    if (piece.length > 0) this.#held.push(piece)
  }
}

/** Bytes of the message that begins here; undefined while too few of them are known. */
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
  // Between the tokens of JSON, the only place where it may hold them, line breaks mean nothing.
  const line = data.replaceAll(/[\r\n]/g, ' ')
  return event === undefined ? { data: line } : { event: event.replaceAll(/[\r\n]/g, ' '), data: line }
}

/** How many bytes the values of each type take; text and bytes say it before them. */
const sizes: readonly (number | 'told')[] = [0, 0, 1, 2, 4, 8, 'told', 'told', 8, 16]
const text = 7

/** The headers whose value is a text. */
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
    // A length that leads outside of the headers.
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
