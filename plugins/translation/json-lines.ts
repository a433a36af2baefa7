import { ampleRoom, bufferOf, byteBudgetSpent, eventTooLarge } from '../../engine/kit.ts'
import type { EventRoom, Transform } from '../../engine/kit.ts'

const lineFeed = 0x0a
const carriageReturn = 0x0d

/**
 * Converts lines of JSON (`application/x-ndjson`, github.com/ndjson/ndjson-spec) to server-sent events without a name,
 * each as soon as its line is complete. Blank lines are ignored. The last line may end with the stream.
 */
export class JsonLines implements Transform {
  readonly #room: EventRoom
  /** The chunks of an unfinished line. */
  #held: Buffer[] = []
  #size = 0

  constructor(room: EventRoom = ampleRoom) {
    this.#room = room
  }

  data(chunk: Uint8Array): Uint8Array | undefined {
    const bytes = bufferOf(chunk)
    const events: Buffer[] = []
    let from = 0
    for (let end = bytes.indexOf(lineFeed); end >= 0; end = bytes.indexOf(lineFeed, from)) {
      this.#take(bytes.subarray(from, end))
      for (const piece of this.#event()) events.push(piece)
      from = end + 1
    }
    // Copied: a view would keep the whole buffer of its owner alive.
    this.#take(Buffer.from(bytes.subarray(from)))
    return events.length === 0 ? undefined : Buffer.concat(events)
  }

  end(): Uint8Array | undefined {
    return Buffer.concat(this.#event())
  }

  #take(piece: Buffer): void {
    this.#size += piece.length
    if (this.#size > this.#room.limit) throw eventTooLarge(this.#room)
    if (this.#room.hold?.resize(this.#size) === false) throw byteBudgetSpent()
    if (piece.length > 0) this.#held.push(piece)
  }

  /** The event of the line that is complete now; none for a blank one. */
  #event(): readonly Buffer[] {
    const [only = nothing, ...more] = this.#held
    const held = more.length === 0 ? only : Buffer.concat(this.#held)
    this.#held = []
    this.#size = 0
    this.#room.hold?.resize(0)
    const line = held.at(-1) === carriageReturn ? held.subarray(0, -1) : held
    return line.every(isSpace) ? [] : [before, line, after]
  }
}

const nothing = Buffer.alloc(0)
const before = Buffer.from('data: ')
const after = Buffer.from('\n\n')

function isSpace(byte: number): boolean {
  return byte === 0x20 || byte === 0x09
}
