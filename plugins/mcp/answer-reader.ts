import { GatewayError } from '../../engine/index.ts'
import { isObject, parsedJson } from '../../engine/kit.ts'
import type { Json, JsonObject } from '../../engine/index.ts'
import type { Flights } from './flights.ts'
import type { RequestId } from './message.ts'
import type { ToolFilter } from './tools.ts'

/** What reads the messages of one answer of a server. */
export interface Reading {
  readonly tools: ToolFilter
  /** Most bytes of a message. */
  readonly limit: number
  /** Requests in flight in the session; absent: there is no session. */
  readonly flights?: Flights | undefined
  /** The request that is answered; absent: the stream answers none. */
  readonly id?: RequestId | undefined
  /** Takes the JSON-RPC code of an error that answers the request. */
  readonly failed?: (code: number) => void
  /** Takes the result that answers the request. */
  readonly answered?: (result: Json) => void
}

/** Reads the messages of an answer on their way to the client, and leaves out the tools that it may not use. */
export class AnswerReader {
  readonly id: RequestId | undefined
  readonly limit: number
  readonly #reading: Reading
  #answered = false
  #hasFailed = false

  constructor(reading: Reading) {
    this.id = reading.id
    this.limit = reading.limit
    this.#reading = reading
  }

  /** Whether the client still waits for the answer to its request. */
  get waits(): boolean {
    const { id, flights } = this.#reading
    // A request that was cancelled is answered by nobody.
    return id !== undefined && !this.#answered && flights?.has(id) !== false
  }

  /** Whether the request is answered. */
  get hasAnswered(): boolean {
    return this.#answered
  }

  /** Whether the request is answered with an error. */
  get hasFailed(): boolean {
    return this.#hasFailed
  }

  /** The text for the client. Throws `upstream_invalid_response` for a message that is too long. */
  read(text: string): string {
    if (text.length > this.limit || Buffer.byteLength(text) > this.limit) throw tooLong(this.limit)
    // Clients leave the mark of the byte order out, too.
    const plain = text.replace(/^\uFEFF/, '')
    const value = parsedJson(plain)
    if (value === undefined) return text
    // A list of messages belongs to revision 2025-03-26; some clients still read it.
    for (const message of Array.isArray(value) ? (value as readonly Json[]) : [value])
      if (isObject(message) && message['method'] === undefined) this.#note(message)
    const filtered = this.#reading.tools.filtered(plain, value)
    return filtered === plain ? text : filtered
  }

  #note({ id, error, result }: JsonObject): void {
    const { flights, failed, answered } = this.#reading
    if (typeof id === 'string' || typeof id === 'number') flights?.end(id)
    if (id === undefined || id !== this.id) return
    this.#answered = true
    this.#hasFailed = error !== undefined
    const code = isObject(error) ? error['code'] : undefined
    if (typeof code === 'number') failed?.(code)
    if (result !== undefined) answered?.(result)
  }
}

/** The error for a message of a server beyond the limit. */
export function tooLong(limit: number): GatewayError {
  const message = `The MCP server sent a message of more than ${limit} bytes.`
  return new GatewayError('upstream_invalid_response', {}, { message })
}
