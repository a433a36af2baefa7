import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import type { WebSocket, WebSocketServer } from 'ws'
import type { AnyClientCodec } from '../spec/codec.ts'
import { GatewayError, asGatewayError } from '../spec/error.ts'
import type { Reply } from '../spec/slots.ts'
import type { ByteBudget, Sink } from '../spec/source.ts'
import { errorReply, runExchange } from '../http/exchange.ts'
import { reasonOfError, reasonOfStatus, stopping } from '../http/close-reason.ts'
import type { Sent } from '../http/reply.ts'
import { ExchangeScope } from '../http/scope.ts'
import type { Shares } from '../http/shares.ts'
import { socketEndpoint, upgradeIngress } from './socket-access.ts'
import type { Upgrade } from './socket-access.ts'
import type { SocketOptions } from './socket-peer.ts'
import { RelayPeer, refuseOpen } from './socket-relay.ts'

export interface SocketServerOptions extends SocketOptions {
  readonly shares: Shares
  readonly closing: () => boolean
}

/** An upgrade that has not been answered. */
interface Upgrading {
  readonly request: IncomingMessage
  readonly stream: Duplex
  readonly head: Buffer
  readonly upgrade: Upgrade
  readonly share: ByteBudget
}

/** The WebSocket servers: one for sockets that are relayed, one for sockets that only receive an error. */
interface Servers {
  readonly open: WebSocketServer
  readonly door: WebSocketServer
}

/** Sockets that are one exchange each. */
export class SocketExchanges {
  readonly #options: SocketServerOptions
  readonly #servers: Servers
  readonly #join: (socket: WebSocket, peer: RelayPeer) => void
  /** Exchanges whose socket is not open yet. */
  readonly #opening = new Set<ExchangeScope>()
  /** Headers of answers to upgrades. */
  readonly #headers = new WeakMap<IncomingMessage, Readonly<Record<string, string>>>()

  /** @param join called with each socket that has opened */
  constructor(options: SocketServerOptions, servers: Servers, join: (socket: WebSocket, peer: RelayPeer) => void) {
    this.#options = options
    this.#servers = servers
    this.#join = join
    const complete = (lines: string[], request: IncomingMessage) => {
      const headers = Object.entries(this.#headers.get(request) ?? {})
      lines.push(...headers.map(([name, value]) => `${name}: ${value}`))
    }
    servers.open.on('headers', complete)
    servers.door.on('headers', complete)
  }

  /** Aborts the exchanges whose socket is not open yet. */
  stop(): void {
    for (const scope of this.#opening) scope.abort(new GatewayError('draining', {}, { retryAfter: 1 }))
  }

  /** Runs one exchange for a whole socket. The socket opens after every stage has run, if only to send an error. */
  async run(asking: Upgrading): Promise<void> {
    const { live } = this.#options
    const snapshot = live.acquire()
    const scope = new ExchangeScope()
    const { stream, upgrade } = asking
    const early = new Early(stream, asking.head, () => scope.abort(new GatewayError('client_closed')))
    this.#opening.add(scope)
    try {
      const { pipeline, codec, ...endpoint } = socketEndpoint(snapshot, upgrade.path)
      const ingress = upgradeIngress(upgrade, { pipeline, codec, ...endpoint })
      await runExchange(pipeline, codec, { ingress }, scope, (reply, headers, error) => {
        this.#opening.delete(scope)
        refuseUntold(reply)
        this.#headers.set(asking.request, headers)
        return this.#answer({ ...asking, head: early.end() }, codec, reply, error)
      })
    } finally {
      early.end()
      this.#opening.delete(scope)
      live.release(snapshot)
    }
  }

  /** Opens a socket for the reply of its exchange. Resolves when the socket has closed. */
  #answer(
    { request, stream, head, ...asking }: Upgrading,
    codec: AnyClientCodec | undefined,
    reply: Reply,
    refusal: GatewayError | undefined,
  ): Promise<Sent> {
    return new Promise((resolve) => {
      const gone = () => resolve({ bytes: 0, firstByte: undefined, left: true })
      if (stream.destroyed) return gone()
      // The library calls no callback for a connection that closes before the upgrade is done.
      stream.once('close', gone)
      const { body } = reply
      const server = body.kind === 'socket' ? this.#servers.open : this.#servers.door
      server.handleUpgrade(request, stream, head, (socket) => {
        stream.off('close', gone)
        const relayed = { ...asking, socket, stream, codec, done: resolve }
        const { closing } = this.#options
        const closeReason = closing() && reply.status === 503 ? stopping : reasonOfStatus(reply.status, refusal?.code)
        if (body.kind !== 'socket') return refuseOpen(relayed, reply, closeReason, this.#options)
        try {
          const peer = new RelayPeer(relayed, body, this.#options)
          this.#join(socket, peer)
          if (this.#options.closing()) peer.leave(stopping)
        } catch (thrown) {
          const error = asGatewayError(thrown)
          const refused = errorReply(error, { codec, id: '', scrub: this.#options.live.scrub })
          const done = (sent: Sent) => resolve({ ...sent, broken: error })
          refuseOpen({ ...relayed, done }, refused, reasonOfError(error), this.#options)
        }
      })
    })
  }
}

/** Throws for a whole or streamed reply, which a relayed socket cannot send, and cancels its source. */
function refuseUntold({ body }: Reply): void {
  if (body.kind !== 'stream' && body.kind !== 'bytes') return
  const error = new Error(`a reply of kind "${body.kind}" is not for routes with "socket: relay"`)
  if (body.kind === 'stream') body.source.open(deaf).cancel(error)
  throw error
}

const deaf: Sink = { data: () => undefined, end: () => undefined, fail: () => undefined }

/** Maximum bytes read from a client before its socket is open; it should send nothing yet. */
const earlyLimit = 64 * 1024

/** Buffers the bytes of a client that waits for its socket. Only reading shows that the client has disconnected. */
class Early {
  readonly #stream: Duplex
  readonly #left: () => void
  #head: Buffer

  constructor(stream: Duplex, head: Buffer, left: () => void) {
    this.#stream = stream
    this.#head = head
    this.#left = left
    stream.on('data', this.#take).once('end', left).once('close', left)
  }

  /** The socket is open, so both sides exchange close frames from now on. Returns the buffered bytes. */
  end(): Buffer {
    this.#stream.off('data', this.#take).off('end', this.#left).off('close', this.#left)
    this.#stream.resume()
    const head = this.#head
    this.#head = Buffer.alloc(0)
    return head
  }

  readonly #take = (chunk: Buffer): void => {
    this.#head = Buffer.concat([this.#head, chunk])
    if (this.#head.length > earlyLimit) this.#stream.pause()
  }
}
