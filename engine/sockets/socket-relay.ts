import type { Duplex } from 'node:stream'
import { WebSocket } from 'ws'
import type { AnyClientCodec } from '../spec/codec.ts'
import { asGatewayError } from '../spec/error.ts'
import type { GatewayError } from '../spec/error.ts'
import type { LegSink } from '../spec/leg.ts'
import type { Reply, ReplyBody } from '../spec/slots.ts'
import type { ByteBudget } from '../spec/source.ts'
import { Arrivals } from './arrivals.ts'
import { errorReply } from '../http/exchange.ts'
import { part, reasonOf, reasonOfError, stopping, tooMuch, tooOld, tooSlowToSend } from '../http/close-reason.ts'
import type { CloseReason } from '../http/close-reason.ts'
import { Pulse } from './pulse.ts'
import type { Sent } from '../http/reply.ts'
import { Standing } from './socket-access.ts'
import type { Upgrade } from './socket-access.ts'
import { SocketLeg } from './socket-leg.ts'
import { answerWriter } from './socket-message.ts'
import type { SocketOptions } from './socket-peer.ts'

/** A socket that has just been opened for one exchange. */
export interface Relayed {
  readonly socket: WebSocket
  readonly stream: Duplex
  readonly upgrade: Upgrade
  /** The client's share of the byte budget. */
  readonly share: ByteBudget
  readonly codec: AnyClientCodec | undefined
  /** Called with the result when both sides have closed. */
  readonly done: (sent: Sent) => void
}

/** The client's side of a socket that is one exchange: relays messages to the leg that its pipeline chose. */
export class RelayPeer {
  readonly #relayed: Relayed
  readonly #options: SocketOptions
  readonly #leg: SocketLeg
  readonly #sink: LegSink
  readonly #pulse: Pulse
  readonly #arrivals: Arrivals
  readonly #standing: Standing
  #closeReason: CloseReason | undefined

  constructor(relayed: Relayed, body: Extract<ReplyBody, { kind: 'socket' }>, options: SocketOptions) {
    const { socket, stream, upgrade, share } = relayed
    const { limits, budget, log } = options
    this.#relayed = relayed
    this.#options = options
    this.#leg = new SocketLeg(socket, limits, budget)
    // First of all: the other side may have closed meanwhile, and then no timer may be started.
    this.#sink = body.attach(this.#leg)
    this.#pulse = new Pulse(socket)
    this.#standing = new Standing(options.live, log, upgrade)
    this.#arrivals = new Arrivals(share, limits, () => this.#part(tooSlowToSend))
    // Runs before the socket reads the bytes; otherwise a message would be counted after it was received.
    stream.prependListener('data', (chunk: Buffer) => this.#arrived(chunk))
    socket.on('error', (error) => log.debug({ err: error }, 'a socket broke the protocol'))
    const aged = setTimeout(() => this.#part(tooOld), limits.age).unref()
    socket.on('close', (code, reason) => {
      clearTimeout(aged)
      this.#arrivals.forget()
      void this.#closed(code, reason.toString())
    })
    this.#leg.attach({
      message: (bytes, binary) => this.#received(bytes, binary),
      drained: () => this.#sink.drained(),
    })
  }

  /**
   * Closes with closeReason. When the gateway is about to stop, the running work ends first if its end can be
   * detected.
   */
  leave(closeReason: CloseReason): void {
    if (closeReason !== stopping || !this.#sink.stopping) return this.#part(closeReason)
    try {
      this.#sink.stopping()
    } catch (thrown) {
      this.#part(closeReason, asGatewayError(thrown))
    }
  }

  /** Aborts the exchange now. */
  cut(error: GatewayError): void {
    this.#part(stopping, error)
  }

  beat(): void {
    this.#pulse.beat()
  }

  /** Checks whether the client is still authorized. */
  async recheck(): Promise<void> {
    const error = await this.#standing.refusal()
    if (error) this.#part({ ...reasonOf(error), error })
  }

  #arrived(chunk: Buffer): void {
    this.#pulse.heard()
    if (this.#relayed.socket.readyState === WebSocket.OPEN && !this.#arrivals.take(chunk)) this.#part(tooMuch)
  }

  #received(bytes: Buffer, binary: boolean): void {
    const held = this.#arrivals.complete(bytes.length)
    try {
      this.#sink.message(bytes, binary)
    } catch (thrown) {
      const error = asGatewayError(thrown)
      this.#part({ ...reasonOfError(error), error })
    } finally {
      this.#relayed.share.give(held)
    }
  }

  /** Closes for a reason of the gateway's own, and sends it to the client in its protocol. */
  #part(closeReason: CloseReason, error: Error | undefined = closeReason.error): void {
    if (this.#closeReason || this.#relayed.socket.readyState !== WebSocket.OPEN) return
    this.#closeReason = closeReason
    if (closeReason.error) {
      const context = { codec: this.#relayed.codec, id: '', scrub: this.#options.live.scrub }
      const text = messageOf(errorReply(closeReason.error, context), this.#relayed.codec)
      if (text !== undefined) this.#leg.send(Buffer.from(text), false)
    }
    this.#leg.part(closeReason, error)
  }

  /** The client has closed: closes the other side, and waits for it. */
  async #closed(code: number, reason: string): Promise<void> {
    const { own } = this.#leg
    const told = own === undefined ? code : this.#closeReason === stopping ? 1001 : 1000
    const { promise: late, resolve } = Promise.withResolvers<void>()
    const giveUp = setTimeout(resolve, 2 * this.#options.limits.closeTimeout)
    let thrown: Error | undefined
    try {
      await Promise.race([this.#sink.closed(told, own === undefined ? reason : '', this.#leg.error, own), late])
    } catch (error) {
      thrown = asGatewayError(error)
    }
    clearTimeout(giveUp)
    const { bytes, firstByte, error = thrown } = this.#leg
    const left = code === 1006 && own === undefined && !error
    this.#relayed.done({ bytes, firstByte, left, ...(error ? { broken: error } : {}) })
  }
}

/** Sends the reason of a refusal on an open socket, and closes the socket. */
export function refuseOpen(
  { socket, codec, done }: Relayed,
  reply: Reply,
  closeReason: CloseReason,
  { limits, log }: SocketOptions,
): void {
  socket.on('error', (error) => log.debug({ err: error }, 'a refused socket failed'))
  const text = messageOf(reply, codec)
  socket.once('close', () => done({ bytes: Buffer.byteLength(text ?? ''), firstByte: performance.now(), left: false }))
  socket.resume()
  if (text !== undefined) socket.send(text)
  part(socket, reply.status < 400 ? { code: 1000, reason: '' } : closeReason, limits.closeTimeout)
}

/** A reply as one message of its protocol. */
function messageOf({ status, headers, body }: Reply, codec: AnyClientCodec | undefined): string | undefined {
  return body.kind === 'json' ? answerWriter(codec, {}).whole(status, body.value, headers) : undefined
}
