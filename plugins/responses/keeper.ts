import { FrameDecoder, encodeFrame, parsedObject } from '../../engine/kit.ts'
import type { Asked, Failure, Frame, JsonObject, StreamKeeper, Unshown } from '../../engine/index.ts'
import { Concealer } from './concealed.ts'
import { cutShort, errorEvent, eventFailure, responseError, responseFailure } from './errors.ts'
import { responseObject } from './response.ts'
import { number, object, text } from './values.ts'

/** The frame after the last event. */
export const done: Frame = { data: '[DONE]' }

/** Bytes that are kept of the first event. */
const firstLimit = 4 * 1024
/** Bytes of a large event that are searched for its type. */
const headLimit = 256

/** The events that end a response. `error` is not one of them: the failed response follows it. */
const terminal = new Set(['response.completed', 'response.incomplete', 'response.failed'])

/**
 * Keeps a relayed stream valid: numbers without gaps, `error` before `response.failed`, one terminal event, and
 * `[DONE]` after it (platform.openai.com/docs/api-reference/responses-streaming). A large event keeps its number.
 */
export class Keeper implements StreamKeeper {
  readonly #asked: Asked
  readonly #concealer: Concealer
  #first: Frame | undefined
  /** The number of the next event. */
  #next = 0
  /** `failing`: an error was sent, and the failed response must follow. `over`: only `[DONE]` must follow. */
  #state: 'open' | 'failing' | 'over' | 'done' = 'open'
  /** The failure of an `error` event. */
  #failure: Failure | undefined

  constructor(asked: Asked) {
    this.#asked = asked
    this.#concealer = new Concealer(asked)
  }

  get unshown(): Unshown {
    return this.#concealer.unshown
  }

  pass(events: Buffer): Uint8Array {
    return this.#concealer.events(this.#legal(events))
  }

  #legal(events: Buffer): Uint8Array {
    this.#first ??= beginning(events)
    // In Latin-1, an offset in the text equals the offset in the bytes.
    const all = events.toString('latin1')
    const parts: Uint8Array[] = []
    /** Offset of the first unchanged event that is not in `parts` yet. */
    let from = 0
    for (let at = 0, after = 0; at < all.length; at = after) {
      after = afterEvent(all, at)
      if (this.#expects(all.slice(at, after))) continue
      const bytes = events.subarray(at, after)
      const mended = this.#mended(bytes)
      if (!mended) continue
      parts.push(events.subarray(from, at), Buffer.from(mended.map(encodeFrame).join('')))
      from = after
    }
    return from === 0 ? events : Buffer.concat([...parts, events.subarray(from)])
  }

  large(beginning: Buffer): boolean {
    if (this.#state !== 'open') return false
    const head = beginning.toString('latin1', 0, headLimit)
    const type = /^event: ?([\w.]{1,64})$/m.exec(head)?.[1] ?? /"type"\s{0,8}:\s{0,8}"([\w.]{1,64})"/.exec(head)?.[1]
    this.#next++
    if (type !== undefined && terminal.has(type)) this.#state = 'over'
    return true
  }

  end(failure?: Failure): readonly Frame[] {
    const state = this.#state
    this.#state = 'done'
    if (state === 'done') return []
    if (state === 'over') return [done]
    if (state === 'failing') return [this.#failed(this.#failure ?? cutShort()), done]
    const why = failure ?? cutShort()
    return [frameOf(errorEvent(why, this.#next++)), this.#failed(why), done]
  }

  /** Whether an event has the expected number and is not the terminal one, as nearly all events. */
  #expects(event: string): boolean {
    if (this.#state !== 'open' || !event.startsWith(name) || isLast(event)) return false
    if (numberIn(event) !== this.#next) return false
    this.#next++
    return true
  }

  /** The replacement of an event; undefined if the event is valid. */
  #mended(bytes: Buffer): readonly Frame[] | undefined {
    const [frame] = new FrameDecoder().push(bytes)
    // A comment.
    if (!frame) return undefined
    if (frame.data === done.data) return this.#lastWord()
    if (this.#state === 'over' || this.#state === 'done') return []
    const event = parsedObject(frame.data)
    if (!event) return undefined
    const type = text(event['type']) ?? frame.event ?? ''
    if (this.#state === 'failing' && type !== 'response.failed') return []
    const missing = this.#state === 'open' && type === 'response.failed' ? this.#announcing(event) : []
    if (type === 'error') this.#fail(event)
    else if (terminal.has(type)) this.#state = 'over'
    const given = number(event['sequence_number'])
    const next = this.#next++
    const told = type === 'response.failed' ? this.#explained(event) : event
    if (given === next && missing.length === 0 && told === event) return undefined
    return [...missing, { ...frame, data: JSON.stringify({ ...told, sequence_number: next }) }]
  }

  #lastWord(): readonly Frame[] | undefined {
    if (this.#state !== 'over') return this.end()
    this.#state = 'done'
    return undefined
  }

  #fail(event: JsonObject): void {
    this.#state = 'failing'
    this.#failure = eventFailure({ ...event, type: 'error' })
  }

  /** A failed response with its error, which some upstreams leave `null`. */
  #explained(event: JsonObject): JsonObject {
    const response = object(event['response']) ?? {}
    if (object(response['error'])) return event
    const failure = this.#failure ?? responseFailure(response)
    return { ...event, response: { ...response, error: responseError(failure) } }
  }

  /** The missing `error` before a failed response. */
  #announcing(event: JsonObject): readonly Frame[] {
    const failure = eventFailure({ ...event, type: 'response.failed' }) ?? cutShort()
    return [frameOf(errorEvent(failure, this.#next++))]
  }

  /**
   * The failed response, with the id and the echoed fields of the stream's first event, otherwise those of the request.
   */
  #failed(failure: Failure): Frame {
    const response = {
      ...responseObject(this.#asked, { status: 'failed', error: responseError(failure), output: [] }),
      ...begun(this.#first),
      status: 'failed',
      error: responseError(failure),
      output: [],
      usage: null,
    }
    return frameOf({ type: 'response.failed', sequence_number: this.#next++, response })
  }
}

function frameOf(event: JsonObject & { readonly type: string }): Frame {
  return { event: event.type, data: JSON.stringify(event) }
}

/** The offset after the event that begins at `at`, including its empty line. */
function afterEvent(events: string, at: number): number {
  const end = events.indexOf('\n\n', at)
  return end < 0 ? events.length : end + 2
}

const name = 'event: response.'

/** Whether the text of an event begins like that of a terminal one. */
function isLast(event: string): boolean {
  for (const type of terminal) if (event.startsWith(type, 'event: '.length)) return true
  return false
}

const numberWord = '"sequence_number":'

/** The number in the text of an event, if any. */
function numberIn(event: string): number | undefined {
  let at = event.indexOf(numberWord)
  if (at < 0) return undefined
  at += numberWord.length
  while (event.charCodeAt(at) === space) at++
  const start = at
  let given = 0
  for (
    let digit = digitAt(event, at);
    digit >= 0 && digit <= 9 && at - start < mostDigits;
    digit = digitAt(event, ++at)
  )
    given = 10 * given + digit
  return at === start ? undefined : given
}

const space = 0x20
const zero = 0x30
/** More digits than any number of events has. */
const mostDigits = 12

function digitAt(event: string, at: number): number {
  return event.charCodeAt(at) - zero
}

/** The first event, cut to `firstLimit` bytes. */
function beginning(events: Buffer): Frame | undefined {
  const decoder = new FrameDecoder()
  return [...decoder.push(events.subarray(0, firstLimit)), ...decoder.end()][0]
}

function begun(first: Frame | undefined): JsonObject {
  if (!first) return {}
  const whole = object(parsedObject(first.data)?.['response'])
  if (whole) return whole
  // The echo of a long request exceeds the limit, but the id is at the beginning.
  const id = /"response"\s{0,8}:\s{0,8}\{[^{}[\]]{0,1024}?"id"\s{0,8}:\s{0,8}"([\w-]{1,256})"/.exec(first.data)?.[1]
  return id === undefined ? {} : { id }
}
