import { randomUUIDv7 } from 'node:crypto'
import type { Duplex } from 'node:stream'
import type { Logger } from 'pino'
import { WebSocket } from 'ws'
import type { AnyClientCodec, SocketPrinter } from '../spec/codec.ts'
import { GatewayError, asGatewayError } from '../spec/error.ts'
import type { JsonObject } from '../spec/json.ts'
import type { Outcome, Session } from '../spec/slots.ts'
import type { ConfigurationSource } from '../http/configuration-source.ts'
import type { Bag } from '../pipeline/bag.ts'
import { answerHold, ampleRoom } from '../stream/byte-budget.ts'
import { Arrivals } from './arrivals.ts'
import type { ByteBudget } from '../spec/source.ts'
import { errorReply, runExchange } from '../http/exchange.ts'
import { sendFrames } from './frames.ts'
import { part, reasonOf, tooMuch, tooOld, tooSlow, tooSlowToSend } from '../http/close-reason.ts'
import type { CloseReason } from '../http/close-reason.ts'
import type { SocketLimits } from '../config/limits.ts'
import { Pulse } from './pulse.ts'
import { ExchangeScope } from '../http/scope.ts'
import { Standing, messageIngress, routeAt, socketEndpoint } from './socket-access.ts'
import type { Upgrade } from './socket-access.ts'
import { answerWriter, errorMessage, readFields, readMessage } from './socket-message.ts'

/** Options common to all sockets. */
export interface SocketOptions {
  readonly live: ConfigurationSource
  readonly log: Logger
  readonly limits: SocketLimits
  readonly budget: ByteBudget
}

/** An unread message, and its bytes that are reserved in the share. */
interface Message {
  bytes: Buffer
  readonly held: number
}

const read = Buffer.alloc(0)

/** A message that is being answered. */
interface Turn {
  readonly scope: ExchangeScope
  readonly writer: SocketPrinter
}

/**
 * Maximum refusals being sent to one client: a client that sends many messages and reads nothing would fill the
 * memory.
 */
const refusalLimit = 1024

/** Codes of errors for unreadable messages. */
const unreadable = new Set(['invalid_json', 'invalid_request'])

/**
 * One open socket. Each message runs through the pipeline of its path, and the answer is sent as messages. A message
 * that arrives before the last of these was written is refused. Every message is authenticated again, so a revoked
 * key takes effect at once.
 */
export class Peer {
  readonly #socket: WebSocket
  readonly #upgrade: Upgrade
  readonly #share: ByteBudget
  readonly #options: SocketOptions
  readonly #session = new SocketSession()
  /**
   * The next message, which waits until the current turn ends; its client already has the whole answer of that turn.
   */
  #next: Message | undefined
  /** The codec of its clients' protocol. */
  #codec: AnyClientCodec | undefined
  readonly #arrivals: Arrivals
  #busy = false
  #turn: Turn | undefined
  #closeReason: CloseReason | undefined
  #strikes = 0
  readonly #pulse: Pulse
  #refusals = 0
  readonly #standing: Standing

  /** @param share of the client in the byte budget */
  constructor(socket: WebSocket, stream: Duplex, upgrade: Upgrade, share: ByteBudget, options: SocketOptions) {
    this.#socket = socket
    this.#pulse = new Pulse(socket)
    this.#standing = new Standing(options.live, options.log, upgrade)
    this.#upgrade = upgrade
    this.#share = share
    this.#options = options
    this.#arrivals = new Arrivals(share, options.limits, () => this.#part(tooSlowToSend))
    this.#codec = routeAt(options.live, upgrade.path).codec
    const { age, closeTimeout } = options.limits
    // Runs before the socket reads the bytes; otherwise a message would be counted after it was received.
    stream.prependListener('data', (chunk: Buffer) => this.#arrived(chunk))
    socket.on('message', (data, binary) => this.#receive(data as Buffer, binary))
    socket.on('error', (error) => {
      options.log.debug({ err: error }, 'a socket broke the protocol')
      setTimeout(() => socket.terminate(), closeTimeout).unref()
    })
    const aged = setTimeout(() => this.leave(tooOld), age).unref()
    socket.on('close', () => {
      clearTimeout(aged)
      this.#closed()
    })
  }

  /** Closes with closeReason once the current answer is complete; a waiting message is not answered. */
  leave(closeReason: CloseReason): void {
    this.#closeReason ??= closeReason
    if (!this.#busy) this.#part(this.#closeReason)
  }

  /** Aborts the current answer. */
  cut(error: GatewayError): void {
    this.#turn?.scope.abort(error)
    setTimeout(() => this.#socket.terminate(), this.#options.limits.closeTimeout).unref()
  }

  beat(): void {
    this.#pulse.beat()
  }

  /** Checks whether the client is still authorized. */
  async recheck(): Promise<void> {
    const error = await this.#standing.refusal()
    if (error) this.leave({ ...reasonOf(error), error })
  }

  #arrived(chunk: Buffer): void {
    // A client cannot answer a ping in the middle of a long frame.
    this.#pulse.heard()
    if (this.#socket.readyState !== WebSocket.OPEN || this.#arrivals.take(chunk)) return
    this.leave(tooMuch)
    this.#socket.pause()
    // Released at once; otherwise other clients that send messages would be refused.
    if (!this.#busy) this.#arrivals.forget()
  }

  #receive(bytes: Buffer, binary: boolean): void {
    const held = this.#arrivals.complete(bytes.length)
    if (this.#closeReason || !this.#takes(bytes, binary)) return this.#share.give(held)
    this.#next = { bytes, held }
    if (!this.#busy) void this.#work()
  }

  /** Whether a message is answered; otherwise it is refused. */
  #takes(bytes: Buffer, binary: boolean): boolean {
    if (binary) {
      this.#refuse(new GatewayError('invalid_request', { reason: 'Messages must be text.' }))
      this.#strike()
      return false
    }
    // A client that has the end of an answer may send the next message, although the turn has not ended yet.
    if (!this.#busy || (this.#turn?.writer.ended && !this.#next)) return true
    const { fields, error } = readFields(bytes, this.#codec?.socket)
    this.#refuse(error ?? new GatewayError('response_already_in_flight'), fields)
    if (error) this.#strike()
    return false
  }

  /** Answers messages one after the other, until none waits or the socket closes. */
  async #work(): Promise<void> {
    this.#busy = true
    try {
      while (this.#next && !this.#closeReason) {
        const message = this.#next
        this.#next = undefined
        try {
          await this.#answer(message)
        } finally {
          this.#share.give(message.held)
        }
      }
    } catch (thrown) {
      const error = asGatewayError(thrown)
      const closeReason = reasonOf(error)
      if (closeReason.code === 1011) this.#options.log.error({ err: thrown }, 'a message of a socket was not answered')
      this.#closeReason ??= { ...closeReason, error }
    } finally {
      this.#busy = false
      if (this.#closeReason) this.#part(this.#closeReason)
    }
  }

  async #answer(message: Message): Promise<void> {
    const { live, limits, budget } = this.#options
    const snapshot = live.acquire()
    try {
      const endpoint = socketEndpoint(snapshot, this.#upgrade.path)
      const { pipeline, codec } = endpoint
      const asked = readMessage(message.bytes, codec?.socket)
      // The text may be large, and now belongs to the exchange.
      message.bytes = read
      const scope = new ExchangeScope()
      const writer = answerWriter(codec, asked.fields)
      this.#codec = codec
      this.#turn = { scope, writer }
      const slots: Bag = { ingress: messageIngress(this.#upgrade, endpoint, this.#session, asked) }
      const broken = (error: Error) =>
        errorReply(asGatewayError(error), { codec, id: scope.id, scrub: live.scrub, asked: slots.request?.sent })
      const room = { ...ampleRoom, hold: answerHold({ byteBudget: budget }, scope) }
      const outlet = { socket: this.#socket, limits, writer, room, broken }
      const { outcome } = await runExchange(pipeline, codec, slots, scope, (reply) => sendFrames(outlet, reply))
      this.#judge(outcome, slots.request !== undefined)
    } finally {
      this.#turn = undefined
      live.release(snapshot)
    }
  }

  /** Counts unreadable messages of the client. A provider's error about a message that was read does not count. */
  #judge({ status, error }: Outcome, wasRead: boolean): void {
    if (status === 401) this.#closeReason ??= reasonOf(new GatewayError('invalid_api_key'))
    else if (!wasRead && unreadable.has(error?.code ?? '')) this.#strike()
    else this.#strikes = 0
  }

  #strike(): void {
    this.#strikes++
    if (this.#strikes >= this.#options.limits.strikes)
      this.leave({ code: 1008, reason: 'too many unreadable messages' })
  }

  #refuse(error: GatewayError, fields: JsonObject = {}): void {
    const context = { codec: this.#codec, id: randomUUIDv7(), scrub: this.#options.live.scrub }
    const message = errorMessage(error, fields, context)
    if (message === undefined) return
    this.#refusals++
    this.#socket.send(message, () => this.#refusals--)
    if (this.#refusals > refusalLimit) this.#part(tooSlow)
  }

  #part(closeReason: CloseReason): void {
    if (this.#socket.readyState !== WebSocket.OPEN) return
    if (closeReason.error) this.#refuse(closeReason.error)
    part(this.#socket, closeReason, this.#options.limits.closeTimeout)
  }

  #closed(): void {
    this.#turn?.scope.abort(new GatewayError('client_closed'))
    this.#closeReason ??= { code: 1005, reason: '' }
    this.#arrivals.forget()
    this.#share.give(this.#next?.held ?? 0)
    this.#next = undefined
    this.#session.end()
  }
}

interface Kept {
  readonly value: unknown
  readonly release: (() => void) | undefined
}

/** Values that stages keep for one socket. */
export class SocketSession implements Session {
  readonly #kept = new Map<string, Kept>()
  #ended = false

  get(word: string): unknown {
    return this.#kept.get(word)?.value
  }

  set(word: string, value: unknown, release?: () => void): void {
    this.delete(word)
    // A turn may end after its socket.
    if (this.#ended) release?.()
    else this.#kept.set(word, { value, release })
  }

  delete(word: string): void {
    const kept = this.#kept.get(word)
    this.#kept.delete(word)
    kept?.release?.()
  }

  /** The socket has closed: releases all values. */
  end(): void {
    this.#ended = true
    for (const word of this.#kept.keys()) this.delete(word)
  }
}
