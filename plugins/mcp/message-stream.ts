import { FrameDecoder, WholeFrames, asGatewayError, bufferOf } from '../../engine/kit.ts'
import type { Hold, Transform } from '../../engine/kit.ts'
import { tooLong } from './answer-reader.ts'
import type { AnswerReader } from './answer-reader.ts'
import { rpcError } from './codec.ts'

/**
 * A stream of server-sent events on its way to the client, event by event: unchanged, unless the reader changes a
 * message. If it ends without the answer to the request, and cannot be resumed, the client gets an error as the answer.
 */
export class MessageStream implements Transform {
  readonly #reader: AnswerReader
  readonly #whole: WholeFrames
  /** Whether an event had an id, with which the client can resume the stream at the server. */
  #isResumable = false
  #isOver = false

  constructor(reader: AnswerReader, hold: Hold) {
    this.#reader = reader
    this.#whole = new WholeFrames({ limit: reader.limit + frameRoom, hold })
  }

  /** Whether the client may still get its answer elsewhere. */
  get isLeft(): boolean {
    return this.#isResumable && this.#reader.waits
  }

  data(chunk: Uint8Array): Uint8Array | undefined {
    const passed: Uint8Array[] = []
    try {
      for (const { bytes, part } of this.#whole.push(chunk)) {
        if (part !== 'whole') throw tooLong(this.#reader.limit)
        this.#read(bytes, passed)
      }
    } catch (error) {
      // What came before it has been passed on.
      this.#isOver = true
      passed.push(this.fail(error as Error) ?? nothing)
    }
    return passed.length === 1 ? passed[0] : Buffer.concat(passed)
  }

  /** Whether the stream is over because of a message that cannot be passed on. */
  enough(): boolean {
    return this.#isOver
  }

  /** An incomplete event at the end is dropped, as clients drop it (WHATWG HTML, section 9.2.6). */
  end(): Uint8Array | undefined {
    if (!this.#reader.waits || this.#isResumable) return undefined
    return this.#answer({ code: null, status: 502, message: 'The MCP server ended its stream without an answer.' })
  }

  fail(error: Error): Uint8Array | undefined {
    const { failure, code } = asGatewayError(error)
    // A stream without a request just ends: the client opens another one.
    if (this.#reader.id === undefined) return nothing
    if (!this.#reader.waits) return undefined
    // The client resumes a stream that was cut. One that is silent for too long would only be silent again.
    if (this.#isResumable && code === 'upstream_error') return undefined
    return this.#answer(failure)
  }

  #answer(failure: Parameters<typeof rpcError>[1]): Uint8Array {
    const answer = JSON.stringify(rpcError(this.#reader.id ?? null, failure))
    this.#reader.read(answer)
    return Buffer.from(`event: message\ndata: ${answer}\n\n`)
  }

  /**
   * @param bytes complete events
   * @param passed where they go; those before one that cannot be read are there even then
   */
  #read(bytes: Uint8Array, passed: Uint8Array[]): void {
    const text = bufferOf(bytes).toString()
    if (/(?:^|[\r\n])id:/.test(text)) this.#isResumable = true
    const events = eventsIn(text)
    const read: string[] = []
    try {
      for (const event of events) read.push(this.#readEvent(event))
    } finally {
      const isChanged = read.length < events.length || read.some((event, index) => event !== events[index])
      passed.push(isChanged ? Buffer.from(read.join('')) : bytes)
    }
  }

  #readEvent(event: string): string {
    const [frame] = new FrameDecoder().push(Buffer.from(event))
    if (!frame || frame.data === '') return event
    const read = this.#reader.read(frame.data)
    if (read === frame.data) return event
    const others = event
      .replace(/^\uFEFF/, '')
      .split(/\r\n|\r|\n/)
      .filter((line) => line !== '' && !/^data(?::|$)/.test(line))
    return [...others, `data: ${read}`, '', ''].join('\n')
  }
}

/** Bytes that the other lines of an event may take. */
const frameRoom = 16 * 1024
const nothing = new Uint8Array()

/** The events of a text, each with the empty line that ends it. */
function eventsIn(text: string): string[] {
  const pieces = text.split(/(\r\n|\r|\n)/)
  const events: string[] = []
  let event = ''
  for (let at = 0; at < pieces.length; at += 2) {
    const [line = '', end = ''] = [pieces[at], pieces[at + 1]]
    event += line + end
    if (line !== '' || end === '') continue
    events.push(event)
    event = ''
  }
  return event === '' ? events : [...events, event]
}
