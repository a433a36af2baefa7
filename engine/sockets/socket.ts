import { randomUUIDv7 } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { WebSocketServer } from 'ws'
import type { WebSocket } from 'ws'
import type { AnyClientCodec } from '../spec/codec.ts'
import { GatewayError, asGatewayError } from '../spec/error.ts'
import type { Principal } from '../spec/principal.ts'
import type { ToldSocket } from '../spec/telling.ts'
import { hasBody } from '../http/body.ts'
import type { ByteBudget } from '../spec/source.ts'
import type { Edge } from '../http/edge.ts'
import { part, reasonOf, stopping, tooMany } from '../http/close-reason.ts'
import type { CloseReason } from '../http/close-reason.ts'
import { suspicious } from '../http/guard.ts'
import { refuseRaw } from '../http/raw.ts'
import { ExchangeScope } from '../http/scope.ts'
import type { Upgrades } from '../http/server.ts'
import { sockets } from '../telling/channels.ts'
import { admit, currentEdge, isCrossSite, routeAt, upgradeOf } from './socket-access.ts'
import type { Upgrade } from './socket-access.ts'
import { errorMessage } from './socket-message.ts'
import { Peer } from './socket-peer.ts'
import { SocketExchanges } from './socket-exchange.ts'
import type { SocketServerOptions } from './socket-exchange.ts'

/** A client that opens a socket: accepted with its share of the byte budget, or refused with a reason. */
type Visitor = { readonly share: ByteBudget } | { readonly refused: GatewayError; readonly closeReason: CloseReason }

/** What is known about an upgrade before its client is authenticated. */
interface Asked {
  readonly error?: GatewayError
  readonly codec?: AnyClientCodec
  /** Its socket is one exchange. */
  readonly relay?: boolean
}

/** What the server can do with an open socket. */
interface AnyPeer {
  leave(closeReason: CloseReason): void
  cut(error: GatewayError): void
  beat(): void
  recheck(): Promise<void>
}

/** Maximum bytes of a message of a refused client; longer ones are discarded as they arrive. */
const refusedMessage = 1024

/** Accepts WebSockets for the pipelines with a `WS` route, and counts them. */
export class Sockets implements Upgrades {
  readonly #options: SocketServerOptions
  readonly #server: WebSocketServer
  /** Opens sockets that only send the reason of their close: a browser shows no other reason. */
  readonly #door: WebSocketServer
  readonly #peers = new Set<AnyPeer>()
  readonly #exchanges: SocketExchanges
  readonly #refused: Tally
  readonly #addresses: Tally
  readonly #keys: Tally
  #beating: NodeJS.Timeout | undefined
  #beat = 0
  readonly #rechecking: NodeJS.Timeout
  /** The subprotocol that the protocol of an upgrade's route speaks. */
  readonly #subprotocols = new WeakMap<IncomingMessage, string>()
  #emptied: () => void = () => undefined

  constructor(options: SocketServerOptions) {
    const { message, refusedPerAddress, perAddress, perKey, beat, recheck } = options.limits
    this.#options = options
    // Compression costs memory per socket and helps little with short events.
    const shared = {
      noServer: true,
      clientTracking: false,
      perMessageDeflate: false,
      handleProtocols: (offered: ReadonlySet<string>, request: IncomingMessage) =>
        chosen(offered, this.#subprotocols.get(request)),
    }
    this.#server = new WebSocketServer({ ...shared, maxPayload: message })
    this.#door = new WebSocketServer({ ...shared, maxPayload: refusedMessage })
    const servers = { open: this.#server, door: this.#door }
    this.#exchanges = new SocketExchanges(options, servers, (socket, peer) => this.#join(socket, peer, 'relay'))
    this.#refused = new Tally(refusedPerAddress)
    this.#addresses = new Tally(perAddress)
    this.#keys = new Tally(perKey)
    this.beatEvery(beat)
    this.#rechecking = setInterval(() => this.recheck(), recheck).unref()
  }

  wants({ method, headers: { upgrade } }: IncomingMessage): boolean {
    return method === 'GET' && upgrade?.toLowerCase() === 'websocket'
  }

  upgrade(request: IncomingMessage, stream: Duplex, head: Buffer): void {
    stream.on('error', () => stream.destroy())
    this.#welcome(request, stream, head).catch((error: unknown) => {
      this.#options.log.error({ err: error }, 'an upgrade failed')
      stream.destroy()
    })
  }

  beatEvery(milliseconds: number): void {
    if (milliseconds === this.#beat) return
    this.#beat = milliseconds
    clearInterval(this.#beating)
    this.#beating = setInterval(() => this.#peers.forEach((peer) => peer.beat()), milliseconds).unref()
  }

  recheck(): void {
    for (const peer of this.#peers) void peer.recheck()
  }

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
    if (codec?.subprotocol !== undefined) this.#subprotocols.set(request, codec.subprotocol)
    if (error) return refuseRaw(stream, error, scrub, codec)
    const scope = new ExchangeScope()
    stream.once('close', () => scope.abort(new GatewayError('client_closed')))
    const visitor = await this.#visitor(stream, upgrade, scope)
    if (!('refused' in visitor)) {
      const { share } = visitor
      if (relay) return this.#exchanges.run({ request, stream, head, upgrade, share })
      this.#server.handleUpgrade(request, stream, head, (socket) =>
        this.#join(socket, new Peer(socket, stream, upgrade, share, this.#options), 'messages'),
      )
      return
    }
    const counted = this.#refused.add(upgrade.remote)
    if (!counted) return refuseRaw(stream, visitor.refused, scrub, codec)
    stream.once('close', counted)
    this.#door.handleUpgrade(request, stream, head, (socket) => {
      socket.on('error', (broken) => this.#options.log.debug({ err: broken }, 'a refused socket failed'))
      // Clients such as browsers show an error event, and no code of a close.
      const told = errorMessage(visitor.refused, {}, { codec, id: randomUUIDv7(), scrub })
      if (told !== undefined) socket.send(told)
      part(socket, visitor.closeReason, this.#options.limits.closeTimeout)
    })
  }

  /** Why an upgrade is refused before authentication, and the route of its path. */
  #refusal(request: IncomingMessage, upgrade: Upgrade, { cors }: Edge): Asked {
    const { live, closing } = this.#options
    const wrong = suspicious(request) ?? (hasBody(request) ? 'an upgrade has no body' : undefined)
    if (wrong !== undefined)
      return { error: new GatewayError('invalid_request', { reason: `The request cannot be read safely: ${wrong}.` }) }
    const route = routeAt(live, upgrade.path)
    const spoken = route.codec ? { codec: route.codec } : {}
    // The client of a socket that is one exchange learns of it on the open socket.
    if (closing() && !('pipeline' in route && route.pipeline.relays))
      return { error: new GatewayError('draining', {}, { retryAfter: 1 }) }
    if ('error' in route) return { error: route.error, ...spoken }
    if (isCrossSite(upgrade, cors)) return { error: new GatewayError('origin_not_allowed'), ...spoken }
    return { ...spoken, relay: route.pipeline.relays }
  }

  /** Authenticates the client of a socket, and counts the socket until its connection is closed. */
  async #visitor(stream: Duplex, upgrade: Upgrade, scope: ExchangeScope): Promise<Visitor> {
    const { live, log, shares, closing } = this.#options
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
    return { share: shares.of(principal, upgrade.remote) }
  }

  #join(socket: WebSocket, peer: AnyPeer, carries: ToldSocket['carries']): void {
    this.#peers.add(peer)
    const over = sockets.heard ? sockets.begin({ carries }) : undefined
    socket.on('close', () => {
      over?.()
      this.#peers.delete(peer)
      if (this.#peers.size === 0) this.#emptied()
    })
  }
}

/**
 * Chooses a subprotocol of those that a client offers: the one that the route's protocol speaks, otherwise the first
 * that is one word. The part after a dot may be a key, because browsers have no other place for one; it is never
 * repeated.
 */
function chosen(offered: ReadonlySet<string>, spoken: string | undefined): string | false {
  if (spoken !== undefined) return offered.has(spoken) ? spoken : false
  return offered.values().find((one) => !one.includes('.')) ?? false
}

/** Counts per name, up to a limit. */
class Tally {
  readonly #limit: number
  readonly #counts = new Map<string, number>()

  constructor(limit: number) {
    this.#limit = limit
  }

  /** Adds one to `name`. Returns a function that subtracts it again, at most once; undefined at the limit. */
  add(name: string): (() => void) | undefined {
    const count = this.#counts.get(name) ?? 0
    if (count >= this.#limit) return undefined
    this.#counts.set(name, count + 1)
    let counted = true
    return () => {
      if (!counted) return
      counted = false
      const left = (this.#counts.get(name) ?? 0) - 1
      if (left > 0) this.#counts.set(name, left)
      else this.#counts.delete(name)
    }
  }
}
