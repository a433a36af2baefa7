import { WebSocket } from 'ws'
import type { SocketPrinter } from '../spec/codec.ts'
import type { Reply } from '../spec/slots.ts'
import type { Flow, Frame } from '../spec/source.ts'
import type { EventRoom } from '../stream/byte-budget.ts'
import { FrameDecoder } from '../stream/sse.ts'
import { part, tooSlow } from '../http/close-reason.ts'
import type { SocketLimits } from '../config/limits.ts'
import type { Sent } from '../http/reply.ts'

/** The socket that receives an answer, and the printer of its messages. */
export interface Outlet {
  readonly socket: WebSocket
  readonly limits: Pick<SocketLimits, 'unsent' | 'stalled' | 'closeTimeout' | 'trailing'>
  readonly writer: SocketPrinter
  /** The byte budget for unfinished events. */
  readonly room: EventRoom
  /** The error reply for a stream that failed without an end event of its own. */
  readonly broken: (error: Error) => Reply
}

/**
 * Sends a reply as messages. Resolves once the last one was handed to the system or the client disconnected. Never
 * rejects.
 */
export function sendFrames(outlet: Outlet, reply: Reply): Promise<Sent> {
  return new Promise((resolve) => {
    const { status, headers, body } = reply
    if (body.kind === 'socket') throw new Error('a reply of kind "socket" is for routes with "socket: relay"')
    if (body.kind === 'stream' && body.lasting) throw new Error('an answer that lasts is for HTTP')
    const sender = new AnswerSender(outlet, resolve)
    if (body.kind === 'stream') return sender.follow((sink) => body.source.open(sink))
    if (body.kind === 'json') sender.say(outlet.writer.whole(status, body.value, headers))
    if (body.kind === 'bytes') sender.say(isText(body.type) ? Buffer.from(body.bytes).toString() : body.bytes)
    sender.end()
  })
}

/** One answer being sent: the messages written, and how many of them have left. */
class AnswerSender {
  readonly #outlet: Outlet
  readonly #done: (sent: Sent) => void
  #flow: Flow | undefined
  #unsent = 0
  #bytes = 0
  #firstByte: number | undefined
  #broken: Error | undefined
  #paused = false
  #ended = false
  #over = false
  #stalled: NodeJS.Timeout | undefined
  #trailing: NodeJS.Timeout | undefined

  constructor(outlet: Outlet, done: (sent: Sent) => void) {
    this.#outlet = outlet
    this.#done = done
    outlet.socket.on('close', this.#left)
  }

  /** Sends the events of a stream. A client that reads too slowly pauses the stream. */
  follow(open: (sink: { data(chunk: Uint8Array): void; end(): void; fail(error: Error): void }) => Flow): void {
    const decoder = new FrameDecoder(this.#outlet.room)
    const flow = open({
      data: (chunk) => {
        const wrong = this.#failing(() => this.#events(decoder.push(chunk)))
        if (wrong) flow.cancel(wrong)
      },
      end: () => {
        this.#failing(() => {
          this.#events(decoder.end())
          this.end()
        })
      },
      fail: (error) => this.#break(error),
    })
    this.#flow = flow
    // A closed socket emits no further event.
    if (this.#outlet.socket.readyState === WebSocket.CLOSED) this.#left()
  }

  say(message: string | Uint8Array | undefined): void {
    if (message === undefined || this.#over) return
    const { socket, limits } = this.#outlet
    this.#firstByte ??= performance.now()
    this.#bytes += typeof message === 'string' ? Buffer.byteLength(message) : message.length
    this.#unsent++
    socket.send(message, this.#handedOver)
    if (this.#paused || socket.bufferedAmount <= limits.unsent) return
    this.#paused = true
    this.#flow?.pause()
    this.#hurry()
  }

  end(): void {
    if (this.#ended) return
    this.say(this.#outlet.writer.end())
    this.#ended = true
    if (this.#unsent > 0) this.#hurry()
    else this.#finish()
  }

  /** Runs `say`, and returns its error instead of throwing into the source. The error ends the answer. */
  #failing(say: () => void): Error | undefined {
    try {
      say()
      return undefined
    } catch (error) {
      this.#break(error as Error)
      return error as Error
    }
  }

  #events(frames: readonly Frame[]): void {
    const { writer, limits } = this.#outlet
    for (const frame of frames) this.say(writer.event(frame))
    if (writer.ended && !this.#ended) this.#trailing ??= setTimeout(this.#cutTrail, limits.trailing)
  }

  /** A stream that continues after its end event is cancelled: the next request may be waiting for its end. */
  #cutTrail = (): void => {
    this.#flow?.cancel(new Error('the stream went on after its end'))
    this.end()
  }

  #break(error: Error): void {
    const { writer } = this.#outlet
    if (this.#ended) return
    // The client already has its end event, so a later failure does not concern it.
    if (writer.ended) return this.end()
    this.#broken = error
    const { status, headers, body } = this.#outlet.broken(error)
    if (body.kind === 'json') this.say(writer.whole(status, body.value, headers))
    this.end()
  }

  /** A message was handed to the system, or cannot be sent any more. */
  #handedOver = (): void => {
    this.#unsent--
    const { socket, limits } = this.#outlet
    if (this.#ended && this.#unsent === 0) return this.#finish()
    if (!this.#paused || socket.bufferedAmount > limits.unsent / 2) return
    this.#paused = false
    // An answer that has ended must still be read in time.
    if (!this.#ended) this.#calm()
    this.#flow?.resume()
  }

  /** Starts the timer within which the client has to read what was sent. */
  #hurry(): void {
    const { socket, limits } = this.#outlet
    this.#stalled ??= setTimeout(() => part(socket, tooSlow, limits.closeTimeout), limits.stalled)
  }

  #calm(): void {
    clearTimeout(this.#stalled)
    this.#stalled = undefined
  }

  #left = (): void => {
    if (!this.#ended) this.#flow?.cancel(new Error('the client left'))
    this.#finish()
  }

  #finish(): void {
    if (this.#over) return
    this.#over = true
    this.#calm()
    clearTimeout(this.#trailing)
    const { socket, writer } = this.#outlet
    socket.off('close', this.#left)
    const told = writer.ended && this.#unsent === 0
    this.#done({
      bytes: this.#bytes,
      firstByte: this.#firstByte,
      left: socket.readyState !== WebSocket.OPEN && !told,
      ...(this.#broken ? { broken: this.#broken } : {}),
    })
  }
}

function isText(type: string): boolean {
  return /^(text\/|application\/([\w.-]+\+)?json\b)/.test(type)
}
