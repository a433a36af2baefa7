import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { WebSocketServer } from 'ws'
import type { WebSocket } from 'ws'
import type { AnyClientCodec } from '../spec/codec.ts'
import { GatewayError, asGatewayError } from '../spec/error.ts'
import type { Principal } from '../spec/slots.ts'
import { Shares } from './arrivals.ts'
import { hasBody } from './body.ts'
import type { ByteBudget } from '../spec/source.ts'
import type { Edge } from './edge.ts'
import { part, reasonOf, stopping, tooMany } from './close-reason.ts'
import type { CloseReason } from './close-reason.ts'
import { suspicious } from './guard.ts'
import { refuseRaw } from './raw.ts'
import { ExchangeScope } from './scope.ts'
import { admit, currentEdge, isCrossSite, routeAt, upgradeOf } from './socket-access.ts'
import type { Upgrade } from './socket-access.ts'
import { Peer } from './socket-peer.ts'
import { SocketExchanges } from './socket-exchange.ts'
import type { SocketServerOptions } from './socket-exchange.ts'
import { Tally } from './tally.ts'

/** Whether a request asks for a WebSocket; any other upgrade is ignored, as RFC 9110 (section 7.8) allows. */
export function wantsSocket({ method, headers: { upgrade } }: IncomingMessage): boolean {
  return method === 'GET' && upgrade?.toLowerCase() === 'websocket'
}

/** Who asks for a socket: a client with its share of unfinished messages, or somebody who gets none, and why. */
type Visitor = { readonly share: ByteBudget } | { readonly refused: GatewayError; readonly closeReason: CloseReason }

/** What is known of an upgrade before anybody has asked who it is. */
interface Asked {
  readonly error?: GatewayError
  readonly codec?: AnyClientCodec
  /** Its socket is one exchange. */
  readonly relay?: boolean
}

/** What an open socket can be told. */
interface AnyPeer {
  leave(closeReason: CloseReason): void
  cut(error: GatewayError): void
  beat(): void
  recheck(): Promise<void>
}

/** Longest message that is read of a client that is refused, in bytes: longer ones are dropped as they come. */
const refusedMessage = 1024

/** Accepts WebSockets for the pipelines with a `WS` route, and keeps count of them. */
export class Sockets {
  readonly #options: SocketServerOptions
  readonly #server: WebSocketServer
  /** Where sockets open only to hear why they are closed: a browser is told the reason in no other way. */
  readonly #door: WebSocketServer
  readonly #peers = new Set<AnyPeer>()
  readonly #exchanges: SocketExchanges
  readonly #strangers: Tally
  readonly #addresses: Tally
  readonly #keys: Tally
  readonly #shares: Shares
  readonly #beating: NodeJS.Timeout
  readonly #rechecking: NodeJS.Timeout
  #emptied: () => void = () => undefined

  constructor(options: SocketServerOptions) {
    const { message, strangers, perAddress, perKey, unfinished, beat, recheck } = options.limits
    this.#options = options
    // Compression costs memory per socket and helps little with short events.
    const shared = { noServer: true, clientTracking: false, perMessageDeflate: false, handleProtocols: chosen }
    this.#server = new WebSocketServer({ ...shared, maxPayload: message })
    this.#door = new WebSocketServer({ ...shared, maxPayload: refusedMessage })
    const servers = { open: this.#server, door: this.#door }
    this.#exchanges = new SocketExchanges(options, servers, (socket, peer) => this.#join(socket, peer))
    this.#strangers = new Tally(strangers)
    this.#addresses = new Tally(perAddress)
    this.#keys = new Tally(perKey)
    this.#shares = new Shares(unfinished)
    this.#beating = setInterval(() => this.#peers.forEach((peer) => peer.beat()), beat).unref()
    this.#rechecking = setInterval(() => this.recheck(), recheck).unref()
  }

  /** Takes an `upgrade` of the server. */
  upgrade(request: IncomingMessage, stream: Duplex, head: Buffer): void {
    stream.on('error', () => stream.destroy())
    this.#welcome(request, stream, head).catch((error: unknown) => {
      this.#options.log.error({ err: error }, 'an upgrade failed')
      stream.destroy()
    })
  }

  /** Looks whether the client of each socket may still be here. */
  recheck(): void {
    for (const peer of this.#peers) void peer.recheck()
  }

  /** Closes each socket after its answer under way; after `deadline` milliseconds these are cut. */
  async close(deadline: number): Promise<void> {
    clearInterval(this.#beating)
    clearInterval(this.#rechecking)
    this.#exchanges.stop()
    if (this.#peers.size === 0) return
    const gone = new Promise<void>((resolve) => (this.#emptied = resolve))
    for (const peer of this.#peers) peer.leave(stopping)
    const cut = () => this.#peers.forEach((peer) => peer.cut(new GatewayError('draining')))
    const cutting = setTimeout(cut, deadline)
    await gone
    clearTimeout(cutting)
  }

  async #welcome(request: IncomingMessage, stream: Duplex, head: Buffer): Promise<void> {
    const { live } = this.#options
    const { scrub } = live
    const edge = currentEdge(live)
    const upgrade = upgradeOf(request, edge)
    const { error, codec, relay } = this.#refusal(request, upgrade, edge)
    if (error) return refuseRaw(stream, error, scrub, codec)
    const scope = new ExchangeScope()
    stream.once('close', () => scope.abort(new GatewayError('client_closed')))
    const visitor = await this.#visitor(stream, upgrade, scope)
    if (!('refused' in visitor)) {
      const { share } = visitor
      if (relay) return this.#exchanges.run({ request, stream, head, upgrade, share })
      this.#server.handleUpgrade(request, stream, head, (socket) =>
        this.#join(socket, new Peer(socket, stream, upgrade, share, this.#options)),
      )
      return
    }
    const counted = this.#strangers.add(upgrade.remote)
    if (!counted) return refuseRaw(stream, visitor.refused, scrub, codec)
    stream.once('close', counted)
    this.#door.handleUpgrade(request, stream, head, (socket) => {
      socket.on('error', (broken) => this.#options.log.debug({ err: broken }, 'a refused socket broke'))
      part(socket, visitor.closeReason, this.#options.limits.farewell)
    })
  }

  /** Why an upgrade is not even considered, and what is at its path. */
  #refusal(request: IncomingMessage, upgrade: Upgrade, { cors }: Edge): Asked {
    const { live, closing } = this.#options
    const wrong = suspicious(request) ?? (hasBody(request) ? 'an upgrade has no body' : undefined)
    if (wrong !== undefined)
      return { error: new GatewayError('invalid_request', { reason: `The request cannot be read safely: ${wrong}.` }) }
    if (closing()) return { error: new GatewayError('draining', {}, { retryAfter: 1 }) }
    const route = routeAt(live, upgrade.path)
    const spoken = route.codec ? { codec: route.codec } : {}
    if ('error' in route) return { error: route.error, ...spoken }
    if (isCrossSite(upgrade, cors)) return { error: new GatewayError('origin_not_allowed'), ...spoken }
    return { ...spoken, relay: route.pipeline.relays }
  }

  /** Finds out who asks for a socket, and counts it until its connection is closed. */
  async #visitor(stream: Duplex, upgrade: Upgrade, scope: ExchangeScope): Promise<Visitor> {
    const { live, log, closing } = this.#options
    let principal: Principal | undefined
    try {
      principal = await admit(live, upgrade, scope)
    } catch (thrown) {
      const refused = asGatewayError(thrown)
      const closeReason = reasonOf(refused)
      if (closeReason.code === 1011)
        log.error({ err: refused.cause ?? refused, at: refused.at }, 'a socket could not be opened')
      return { refused, closeReason }
    }
    if (closing()) return { refused: new GatewayError('draining', {}, { retryAfter: 1 }), closeReason: stopping }
    const who = principal && `${principal.kind} ${principal.id}`
    const counted = [this.#addresses.add(upgrade.remote), who === undefined ? () => undefined : this.#keys.add(who)]
    const uncount = () => counted.forEach((remove) => remove?.())
    if (counted.includes(undefined)) {
      uncount()
      return { refused: new GatewayError('overloaded', {}, { retryAfter: 1 }), closeReason: tooMany }
    }
    stream.once('close', uncount)
    return { share: this.#shares.of(who ?? `address ${upgrade.remote}`) }
  }

  #join(socket: WebSocket, peer: AnyPeer): void {
    this.#peers.add(peer)
    socket.on('close', () => {
      this.#peers.delete(peer)
      if (this.#peers.size === 0) this.#emptied()
    })
  }
}

/**
 * The subprotocol that is chosen of those a client offers: the first that is one word. What follows a dot may be a key,
 * as browsers have no other place for one, and is repeated to nobody.
 */
function chosen(offered: ReadonlySet<string>): string | false {
  return offered.values().find((one) => !one.includes('.')) ?? false
}
