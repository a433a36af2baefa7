import { WebSocket } from 'ws'
import { isObject } from '../spec/json.ts'
import type { Json } from '../spec/json.ts'
import type { Reply } from '../spec/slots.ts'
import type { Flow, Frame } from '../spec/source.ts'
import { FrameDecoder } from '../stream/sse.ts'
import { part } from './goodbye.ts'
import type { SocketLimits } from './limits.ts'
import type { Sent } from './reply.ts'

/** What is to be said on a socket: an event of a stream, or an answer or an error as a whole. */
export type Said =
  | { readonly kind: 'event'; readonly frame: Frame }
  | { readonly kind: 'whole'; readonly status: number; readonly value: Json }

/**
 * The text message for what is to be said; undefined: none. Events are their data, without the mark that ends a stream
 * over HTTP. An error is the error body of its protocol, with its status and the type `error`.
 */
export function messageOf(said: Said): string | undefined {
  if (said.kind === 'event') return said.frame.data === '[DONE]' ? undefined : said.frame.data
  const { status, value } = said
  if (status < 400) return JSON.stringify(value)
  return JSON.stringify({ ...(isObject(value) ? value : { error: value }), type: 'error', status })
}

/** A socket an answer goes to. */
export interface Outlet {
  readonly socket: WebSocket
  readonly limits: Pick<SocketLimits, 'unsent' | 'stalled' | 'farewell'>
  /** The error reply for a stream that broke without an end of its own. */
  readonly broken: (error: Error) => Reply
}

/** Sends a reply as messages, and resolves once the last one was handed over or the client left. Never rejects. */
export function sendFrames(outlet: Outlet, reply: Reply): Promise<Sent> {
  return new Promise((resolve) => {
    const telling = new Telling(outlet, resolve)
    const { status, body } = reply
    if (body.kind === 'stream') return telling.follow((sink) => body.source.open(sink))
    if (body.kind === 'json') telling.say(messageOf({ kind: 'whole', status, value: body.value }))
    if (body.kind === 'bytes') telling.say(isText(body.type) ? Buffer.from(body.bytes).toString() : body.bytes)
    telling.end()
  })
}

/** One answer on its way out: what was said of it, and how much of that has left. */
class Telling {
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

  constructor(outlet: Outlet, done: (sent: Sent) => void) {
    this.#outlet = outlet
    this.#done = done
    outlet.socket.on('close', this.#left)
  }

  /** Says everything a stream of events has to say. A client that reads too slowly pauses it. */
  follow(open: (sink: { data(chunk: Uint8Array): void; end(): void; fail(error: Error): void }) => Flow): void {
    const decoder = new FrameDecoder()
    const flow = open({
      data: (chunk) => {
        try {
          this.#events(decoder.push(chunk))
        } catch (error) {
          flow.cancel(error as Error)
          this.#break(error as Error)
        }
      },
      end: () => {
        this.#events(decoder.end())
        this.end()
      },
      fail: (error) => this.#break(error),
    })
    this.#flow = flow
    // A socket that has closed already says so to nobody.
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
    this.#ended = true
    if (this.#unsent > 0) this.#hurry()
    else this.#finish()
  }

  #events(frames: readonly Frame[]): void {
    for (const frame of frames) this.say(messageOf({ kind: 'event', frame }))
  }

  #break(error: Error): void {
    if (this.#ended) return
    this.#broken = error
    const { status, body } = this.#outlet.broken(error)
    if (body.kind === 'json') this.say(messageOf({ kind: 'whole', status, value: body.value }))
    this.end()
  }

  /** A message has left this process, or can no longer leave it. */
  #handedOver = (): void => {
    this.#unsent--
    const { socket, limits } = this.#outlet
    if (this.#ended && this.#unsent === 0) return this.#finish()
    if (!this.#paused || socket.bufferedAmount > limits.unsent / 2) return
    this.#paused = false
    this.#calm()
    this.#flow?.resume()
  }

  /** Gives the client its time to read what is written. */
  #hurry(): void {
    const { socket, limits } = this.#outlet
    this.#stalled ??= setTimeout(
      () => part(socket, { code: 1013, reason: 'too slow to read' }, limits.farewell),
      limits.stalled,
    )
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
    const { socket } = this.#outlet
    socket.off('close', this.#left)
    this.#done({
      bytes: this.#bytes,
      firstByte: this.#firstByte,
      left: socket.readyState !== WebSocket.OPEN,
      ...(this.#broken ? { broken: this.#broken } : {}),
    })
  }
}

function isText(type: string): boolean {
  return /^(text\/|application\/([\w.-]+\+)?json\b)/.test(type)
}
