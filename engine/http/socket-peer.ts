import { randomUUIDv7 } from 'node:crypto'
import type { Duplex } from 'node:stream'
import type { Logger } from 'pino'
import { WebSocket } from 'ws'
import type { AnyCodec } from '../spec/codec.ts'
import { GatewayError, asGatewayError } from '../spec/error.ts'
import type { Outcome } from '../spec/slots.ts'
import type { Live } from '../live/live.ts'
import type { ByteBudget } from './body.ts'
import { errorReply, runExchange } from './exchange.ts'
import { sendFrames } from './frames.ts'
import { part, refusedBy } from './goodbye.ts'
import type { Goodbye } from './goodbye.ts'
import type { SocketLimits } from './limits.ts'
import { ExchangeScope } from './scope.ts'
import { admit, messageIngress, socketEndpoint } from './socket-access.ts'
import type { Upgrade } from './socket-access.ts'

/** What all sockets share. */
export interface SocketOptions {
  readonly live: Live
  readonly log: Logger
  readonly limits: SocketLimits
  readonly budget: ByteBudget
}

/** A message, and the bytes of it that the budget knows of. */
interface Message {
  readonly bytes: Buffer
  readonly held: number
}

/** Codes of errors that say that a message could not be read. */
const unreadable = new Set(['invalid_json', 'invalid_request'])

/** Bytes of a control frame beside its content (RFC 6455, section 5.2): head and mask. */
const controlHead = 6

/**
 * One open socket. Each message it brings runs through the pipeline of its path, one after the other, and the answers
 * go back as messages. Every message is authenticated anew: a key that was revoked has no turn left.
 */
export class Peer {
  readonly #socket: WebSocket
  readonly #upgrade: Upgrade
  readonly #options: SocketOptions
  readonly #session = new Map<string, unknown>()
  readonly #waiting: Message[] = []
  /** Of the protocol its clients speak. */
  #codec: AnyCodec | undefined
  /** Bytes of the message that is arriving. */
  #arriving = 0
  #busy = false
  #turn: ExchangeScope | undefined
  #goodbye: Goodbye | undefined
  #strikes = 0
  #unanswered = 0
  #rechecking = false

  constructor(socket: WebSocket, stream: Duplex, upgrade: Upgrade, options: SocketOptions) {
    this.#socket = socket
    this.#upgrade = upgrade
    this.#options = options
    const { age, farewell } = options.limits
    // Before the socket itself reads them, or a message would be counted after it was received.
    stream.prependListener('data', (chunk: Buffer) => this.#arrived(chunk.length))
    socket.on('message', (data, binary) => this.#receive(data as Buffer, binary))
    socket.on('ping', (data) => this.#passed(data.length + controlHead))
    socket.on('pong', (data) => {
      this.#unanswered = 0
      this.#passed(data.length + controlHead)
    })
    socket.on('error', (error) => {
      options.log.debug({ err: error }, 'a socket broke the protocol')
      setTimeout(() => socket.terminate(), farewell).unref()
    })
    const aged = setTimeout(() => this.leave(tooOld), age).unref()
    socket.on('close', () => {
      clearTimeout(aged)
      this.#closed()
    })
  }

  /** Says goodbye once the answer under way is complete; messages that wait get none. */
  leave(goodbye: Goodbye): void {
    this.#goodbye ??= goodbye
    if (!this.#busy) this.#part(this.#goodbye)
  }

  /** Ends the answer under way early. */
  cut(error: GatewayError): void {
    this.#turn?.abort(error)
    setTimeout(() => this.#socket.terminate(), this.#options.limits.farewell).unref()
  }

  /** Asks whether the client is there. One that did not answer twice is gone. */
  beat(): void {
    if (this.#unanswered >= 2) return this.#socket.terminate()
    this.#unanswered++
    if (this.#socket.readyState === WebSocket.OPEN) this.#socket.ping()
  }

  /** Looks whether the client may still be here. */
  async recheck(): Promise<void> {
    if (this.#rechecking) return
    this.#rechecking = true
    try {
      await admit(this.#options.live, this.#upgrade, new ExchangeScope())
    } catch (thrown) {
      const error = asGatewayError(thrown)
      const goodbye = refusedBy(error)
      if (goodbye.code !== 1011) return this.leave(goodbye)
      this.#options.log.warn({ err: error.cause ?? error }, 'the client of a socket cannot be checked')
    } finally {
      this.#rechecking = false
    }
  }

  #arrived(bytes: number): void {
    if (this.#socket.readyState !== WebSocket.OPEN) return
    if (this.#options.budget.take(bytes)) {
      this.#arriving += bytes
      return
    }
    this.#part({ code: 1013, reason: 'the gateway has too much in hand' })
    this.#socket.pause()
    // At once, or the others who are sending would have to go, too.
    this.#passed(this.#arriving)
  }

  /** Bytes that arrived belong to no message any more. */
  #passed(bytes: number): void {
    const passed = Math.min(bytes, this.#arriving)
    this.#arriving -= passed
    this.#options.budget.give(passed)
  }

  #receive(bytes: Buffer, binary: boolean): void {
    const held = Math.min(bytes.length, this.#arriving)
    this.#arriving -= held
    this.#passed(this.#arriving)
    const refusal = this.#goodbye ? undefined : this.#refusal(binary)
    if (this.#goodbye || refusal) {
      this.#options.budget.give(held)
      if (refusal) void this.#say(refusal)
      if (binary) this.#strike()
      return
    }
    this.#waiting.push({ bytes, held })
    if (!this.#busy) void this.#work()
  }

  #refusal(binary: boolean): GatewayError | undefined {
    if (binary) return new GatewayError('invalid_request', { reason: 'Messages must be text.' })
    const { waiting: limit } = this.#options.limits
    return this.#busy && this.#waiting.length >= limit ? new GatewayError('response_already_in_flight') : undefined
  }

  /** Answers the messages that wait, until there are none or the socket is to close. */
  async #work(): Promise<void> {
    this.#busy = true
    try {
      for (let next = this.#waiting.shift(); next && !this.#goodbye; next = this.#waiting.shift()) {
        try {
          this.#judge(await this.#answer(next.bytes))
        } finally {
          this.#options.budget.give(next.held)
        }
      }
    } catch (thrown) {
      const error = asGatewayError(thrown)
      const goodbye = refusedBy(error)
      if (goodbye.code === 1011) this.#options.log.error({ err: thrown }, 'a message of a socket was not answered')
      this.#goodbye ??= { ...goodbye, error }
    } finally {
      this.#busy = false
      if (this.#goodbye) this.#part(this.#goodbye)
    }
  }

  async #answer(message: Buffer): Promise<Outcome> {
    const { live, limits } = this.#options
    const snapshot = live.acquire()
    const scope = new ExchangeScope()
    this.#turn = scope
    try {
      const endpoint = socketEndpoint(snapshot, this.#upgrade.path)
      const { pipeline, codec } = endpoint
      this.#codec = codec
      const ingress = messageIngress(this.#upgrade, endpoint, this.#session, message)
      const broken = (error: Error) => errorReply(asGatewayError(error), codec, scope.id)
      const outlet = { socket: this.#socket, limits, broken }
      return await runExchange(pipeline, codec, ingress, scope, (reply) => sendFrames(outlet, reply))
    } finally {
      this.#turn = undefined
      live.release(snapshot)
    }
  }

  /** What an answer says about its client. */
  #judge({ status, error }: Outcome): void {
    if (status === 401) this.#goodbye ??= refusedBy(new GatewayError('invalid_api_key'))
    else if (unreadable.has(error?.code ?? '')) this.#strike()
    else this.#strikes = 0
  }

  #strike(): void {
    this.#strikes++
    if (this.#strikes >= this.#options.limits.strikes)
      this.leave({ code: 1008, reason: 'too many unreadable messages' })
  }

  async #say(error: GatewayError): Promise<void> {
    const broken = () => errorReply(error, this.#codec, randomUUIDv7())
    await sendFrames({ socket: this.#socket, limits: this.#options.limits, broken }, broken())
  }

  #part(goodbye: Goodbye): void {
    if (this.#socket.readyState !== WebSocket.OPEN) return
    if (goodbye.error) void this.#say(goodbye.error)
    part(this.#socket, goodbye, this.#options.limits.farewell)
  }

  #closed(): void {
    this.#turn?.abort(new GatewayError('client_closed'))
    this.#goodbye ??= { code: 1005, reason: '' }
    this.#passed(this.#arriving)
    for (const { held } of this.#waiting.splice(0)) this.#options.budget.give(held)
  }
}

const tooOld: Goodbye = {
  code: 1001,
  reason: 'open for too long',
  error: new GatewayError('websocket_connection_limit_reached'),
}
