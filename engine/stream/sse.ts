import type { Frame } from '../spec/source.ts'
import { eventTooLarge, byteBudgetSpent, ampleRoom } from './byte-budget.ts'
import type { EventRoom } from './byte-budget.ts'
import { bufferOf } from './buffer-of.ts'

const byteOrderMark = 0xfeff

/**
 * Decodes server-sent events from chunks of any size with any line ending (WHATWG HTML, section 9.2.6). Comments and
 * fields other than `event` and `data` are ignored.
 */
export class FrameDecoder {
  readonly #room: EventRoom
  /** Decodes characters split between chunks. Created on demand: most streams need none, and it is expensive. */
  #text: TextDecoder | undefined
  /** Whether the last chunk ended inside a character. */
  #cut = false
  #began = false
  /** The unfinished line. */
  #rest = ''
  #data: string | undefined
  #event: string | undefined
  #size = 0
  /** Whether the last chunk ended in CR: an LF at the start of the next chunk belongs to it. */
  #afterReturn = false

  /** @param room limits for an unfinished event; default: 64 MiB */
  constructor(room: EventRoom = ampleRoom) {
    this.#room = room
  }

  /**
   * The events that `chunk` completes. Throws `upstream_invalid_response` when an event is too large, and
   * `overloaded` when the byte budget is exhausted.
   */
  push(chunk: Uint8Array): Frame[] {
    return this.#lines(this.#decode(chunk))
  }

  /** The event completed by the end of the stream, if its lines are complete. */
  end(): Frame[] {
    const frames = this.#lines(this.#text?.decode() ?? '')
    if (this.#rest !== '') this.#field(this.#rest)
    this.#rest = ''
    const last = this.#dispatch()
    if (last) frames.push(last)
    return frames
  }

  #decode(chunk: Uint8Array): string {
    const last = chunk.at(-1)
    if (last === undefined) return ''
    // An ASCII byte never ends inside a character.
    const whole = last < 0x80
    let text: string
    if (whole && !this.#cut) text = bufferOf(chunk).toString()
    else {
      this.#text ??= new TextDecoder('utf-8', { ignoreBOM: true })
      text = this.#text.decode(chunk, { stream: true })
      this.#cut = !whole
    }
    if (this.#began || text === '') return text
    this.#began = true
    return text.charCodeAt(0) === byteOrderMark ? text.slice(1) : text
  }

  #lines(chunk: string): Frame[] {
    const frames: Frame[] = []
    let from = 0
    if (this.#afterReturn && chunk !== '') {
      if (chunk.charCodeAt(0) === 10) from = 1
      this.#afterReturn = false
    }
    let carriage = chunk.indexOf('\r', from)
    for (;;) {
      if (carriage >= 0 && carriage < from) carriage = chunk.indexOf('\r', from)
      const feed = chunk.indexOf('\n', from)
      const end = carriage >= 0 && (feed < 0 || carriage < feed) ? carriage : feed
      if (end < 0) break
      const line = this.#rest === '' ? chunk.slice(from, end) : this.#rest + chunk.slice(from, end)
      this.#rest = ''
      from = end + 1
      if (chunk.charCodeAt(end) === 13) {
        if (from === chunk.length) this.#afterReturn = true
        else if (chunk.charCodeAt(from) === 10) from++
      }
      if (line === '') {
        const frame = this.#dispatch()
        if (frame) frames.push(frame)
      } else this.#field(line)
    }
    this.#rest += chunk.slice(from)
    this.#keep(this.#rest.length + this.#size)
    return frames
  }

  /** Checks and reserves the bytes of an unfinished event. */
  #keep(size: number): void {
    const { limit, hold } = this.#room
    if (size > limit) throw eventTooLarge(this.#room)
    if (hold?.resize(size) === false) throw byteBudgetSpent()
  }

  #field(line: string): void {
    const colon = line.indexOf(':')
    if (colon === 0) return
    const name = colon < 0 ? line : line.slice(0, colon)
    if (name !== 'data' && name !== 'event') return
    const start = line.charCodeAt(colon + 1) === 32 ? colon + 2 : colon + 1
    const value = colon < 0 ? '' : line.slice(start)
    if (name === 'event') this.#event = value
    else this.#data = this.#data === undefined ? value : `${this.#data}\n${value}`
    this.#size += line.length
    if (this.#size > this.#room.limit) throw eventTooLarge(this.#room)
  }

  #dispatch(): Frame | undefined {
    const data = this.#data
    const event = this.#event
    this.#data = undefined
    this.#event = undefined
    this.#size = 0
    if (data === undefined) return undefined
    return event === undefined || event === '' ? { data } : { event, data }
  }
}

/** A frame as lines ended by LF. Its data must not hold line breaks; printed JSON never does. */
export function encodeFrame(frame: Frame): string {
  return frame.event === undefined ? `data: ${frame.data}\n\n` : `event: ${frame.event}\ndata: ${frame.data}\n\n`
}
