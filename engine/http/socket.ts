import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { WebSocketServer } from 'ws'
import type { WebSocket } from 'ws'
import type { AnyCodec } from '../spec/codec.ts'
import { GatewayError, asGatewayError } from '../spec/error.ts'
import type { Principal } from '../spec/slots.ts'
import { Shares } from './arrivals.ts'
import { hasBody } from './body.ts'
import { part, refusedBy, stopping } from './goodbye.ts'
import type { Goodbye } from './goodbye.ts'
import { suspicious } from './guard.ts'
import { refuseRaw } from './raw.ts'
import { ExchangeScope } from './scope.ts'
import { admit, isCrossSite, routeAt, upgradeOf } from './socket-access.ts'
import type { Upgrade } from './socket-access.ts'
import { Peer } from './socket-peer.ts'
import type { SocketOptions } from './socket-peer.ts'
import { Tally } from './tally.ts'

export interface SocketServerOptions extends SocketOptions {
  readonly draining: () => boolean
}

/** Whether a request asks for a WebSocket; any other upgrade is ignored, as RFC 9110 (section 7.8) allows. */
export function wantsSocket({ method, headers: { upgrade } }: IncomingMessage): boolean {
  return method === 'GET' && upgrade?.toLowerCase() === 'websocket'
}

/** Accepts WebSockets for the pipelines with a `WS` route, and keeps count of them. */
export class Sockets {
  readonly #options: SocketServerOptions
  readonly #server: WebSocketServer
  readonly #peers = new Set<Peer>()
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
    this.#server = new WebSocketServer({
      noServer: true,
      clientTracking: false,
      maxPayload: message,
      perMessageDeflate: false,
    })
    this.#strangers = new Tally(strangers)
    this.#addresses = new Tally(perAddress)
    this.#keys = new Tally(perKey)
    this.#shares = new Shares(unfinished)
    this.#beating = setInterval(() => this.#peers.forEach((peer) => peer.beat()), beat).unref()
    this.#rechecking = setInterval(() => this.#peers.forEach((peer) => void peer.recheck()), recheck).unref()
  }

  /** Takes an `upgrade` of the server. */
  upgrade(request: IncomingMessage, stream: Duplex, head: Buffer): void {
    stream.on('error', () => stream.destroy())
    this.#welcome(request, stream, head).catch((error: unknown) => {
      this.#options.log.error({ err: error }, 'an upgrade failed')
      stream.destroy()
    })
  }

  /** Closes each socket after its answer under way; after `deadline` milliseconds these are cut. */
  async close(deadline: number): Promise<void> {
    clearInterval(this.#beating)
    clearInterval(this.#rechecking)
    if (this.#peers.size === 0) return
    const gone = new Promise<void>((resolve) => (this.#emptied = resolve))
    for (const peer of this.#peers) peer.leave(stopping)
    const cut = () => this.#peers.forEach((peer) => peer.cut(new GatewayError('draining')))
    const cutting = setTimeout(cut, deadline)
    await gone
    clearTimeout(cutting)
  }

  async #welcome(request: IncomingMessage, stream: Duplex, head: Buffer): Promise<void> {
    const { live, limits, log } = this.#options
    const upgrade = upgradeOf(request)
    const { error, codec } = this.#refusal(request, upgrade)
    if (error) return refuseRaw(stream, error, codec)
    const known = this.#strangers.add(upgrade.remote)
    if (!known) return refuseRaw(stream, new GatewayError('overloaded', {}, { retryAfter: 1 }), codec)
    const scope = new ExchangeScope()
    stream.once('close', () => {
      known()
      scope.abort(new GatewayError('client_closed'))
    })
    const admitted = await admit(live, upgrade, scope).then(
      (principal) => ({ principal }),
      (thrown: unknown) => ({ error: asGatewayError(thrown) }),
    )
    this.#server.handleUpgrade(request, stream, head, (socket) => {
      const goodbye =
        'error' in admitted ? this.#denied(admitted.error) : this.#open(socket, stream, upgrade, admitted.principal)
      if (!goodbye) return known()
      socket.on('error', (error) => log.debug({ err: error }, 'a refused socket broke'))
      part(socket, goodbye, limits.farewell)
      // Nothing is read from a client that is not wanted.
      socket.pause()
    })
  }

  /** Why an upgrade is not even considered, and the protocol spoken at its path. */
  #refusal(request: IncomingMessage, upgrade: Upgrade): { readonly error?: GatewayError; readonly codec?: AnyCodec } {
    const { live, limits, draining } = this.#options
    const wrong = suspicious(request) ?? (hasBody(request) ? 'an upgrade has no body' : undefined)
    if (wrong !== undefined)
      return { error: new GatewayError('invalid_request', { reason: `The request cannot be read safely: ${wrong}.` }) }
    if (draining()) return { error: new GatewayError('draining', {}, { retryAfter: 1 }) }
    const route = routeAt(live, upgrade.path)
    const spoken = route.codec ? { codec: route.codec } : {}
    if ('error' in route) return { error: route.error, ...spoken }
    return isCrossSite(upgrade, limits.origins) ? { error: new GatewayError('origin_not_allowed'), ...spoken } : spoken
  }

  #denied(error: GatewayError): Goodbye {
    const goodbye = refusedBy(error)
    if (goodbye.code === 1011)
      this.#options.log.error({ err: error.cause ?? error, at: error.at }, 'a socket could not be opened')
    return goodbye
  }

  /** Opens a socket for a client that may be here, or says why not. */
  #open(socket: WebSocket, stream: Duplex, upgrade: Upgrade, principal: Principal | undefined): Goodbye | undefined {
    if (this.#options.draining()) return stopping
    const counted = [this.#addresses.add(upgrade.remote), principal ? this.#keys.add(principal.keyId) : () => undefined]
    const uncount = () => counted.forEach((remove) => remove?.())
    if (counted.includes(undefined)) {
      uncount()
      return { code: 1013, reason: 'too many sockets' }
    }
    const share = this.#shares.of(principal ? `key ${principal.keyId}` : `address ${upgrade.remote}`)
    const peer = new Peer(socket, stream, upgrade, share, this.#options)
    this.#peers.add(peer)
    socket.on('close', () => {
      uncount()
      this.#peers.delete(peer)
      if (this.#peers.size === 0) this.#emptied()
    })
    return undefined
  }
}
