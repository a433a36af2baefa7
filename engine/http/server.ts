import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import Koa from 'koa'
import type { Logger } from 'pino'
import { GatewayError } from '../spec/error.ts'
import type { ConfigurationSource, ServedConfiguration } from './configuration-source.ts'
import { administer, isAdministrative } from './administrative.ts'
import { discardBody, hasBody } from './body.ts'
import { isPreflight } from './cors.ts'
import { byteBudgetOf } from '../stream/byte-budget.ts'
import type { Room } from '../stream/byte-budget.ts'
import type { Bag } from '../pipeline/bag.ts'
import { edgeOf } from './edge.ts'
import type { Edge } from './edge.ts'
import { errorReply, noReply, runExchange } from './exchange.ts'
import type { Send } from './exchange.ts'
import { suspicious } from './guard.ts'
import { HttpIngress } from './ingress.ts'
import type { ConnectionTimes, HttpLimits } from '../config/limits.ts'
import { refuseRaw, refuseUnreadable } from './raw.ts'
import { sendReply } from './reply.ts'
import type { Lasting } from './reply.ts'
import { routesOf } from './routes.ts'
import type { Asked, Matched } from './routes.ts'
import { ExchangeScope } from './scope.ts'
import { Shares } from './shares.ts'
import type { Spool } from './spool.ts'

// Importing this module would evaluate all its exports, among them `fetch` with its dependencies.
const { createServer } = process.getBuiltinModule('node:http')

export interface HttpOptions {
  readonly live: ConfigurationSource
  readonly log: Logger
  readonly limits: HttpLimits
  readonly budget: Room
  /** Files for bodies that are too large for memory. */
  readonly spool: Spool
  /** Makes what accepts WebSockets. `memory` shares the memory of clients; `closing` says whether nothing new is accepted. */
  readonly openUpgrades: (memory: Shares, closing: () => boolean) => Upgrades
  /** Whether the gateway is about to stop. Clients are then asked to close their connections. */
  readonly draining: () => boolean
}

/** What accepts WebSockets. */
export interface Upgrades {
  /** Whether a request asks for a WebSocket; any other upgrade is ignored, as RFC 9110 section 7.8 allows. */
  wants(request: IncomingMessage): boolean
  /** Handles an `upgrade` event of the server. */
  upgrade(request: IncomingMessage, stream: Duplex, head: Buffer): void
  /** Pings every socket each time so many milliseconds have passed. */
  beatEvery(milliseconds: number): void
  /** Checks whether the client of each socket is still authorized. */
  recheck(): void
  /** Closes each socket after its current answer; after `deadline` milliseconds answers are aborted. */
  close(deadline: number): Promise<void>
}

/** A server for HTTP and WebSockets. */
export interface HttpServer {
  readonly server: Server
  /** Follows settings of a new configuration; open connections follow as far as they can. */
  heed(times: ConnectionTimes): void
  /** Checks whether the clients of open sockets are still authorized. */
  recheck(): void
  /** Accepts nothing new and lets running exchanges finish; after `deadline` milliseconds they are aborted. */
  drain(deadline: number): Promise<void>
}

/** The running exchanges of one server. */
interface Running {
  readonly limits: HttpLimits
  /** How clients share the memory and the disk. */
  readonly memory: Shares
  readonly disk: Shares
  readonly spool: Spool
  readonly scopes: Set<ExchangeScope>
  readonly lasting: Lasting
  /** Redacts secrets in a text. */
  readonly scrub: ConfigurationSource['scrub']
}

/** The settings for the requests that one configuration serves. */
interface Serving extends Running {
  readonly silence: string
  readonly edge: Edge
}

/** State of one connection. */
interface Connection {
  /** Its latest response. */
  response?: ServerResponse
  /** It sent an unsafe request, so its further requests are refused unread. */
  unsafe: boolean
}

/** The HTTP server: Koa in front, the pipelines of the current snapshot behind its router. */
export function createHttpServer({
  live,
  log,
  limits,
  budget,
  spool,
  openUpgrades,
  draining,
}: HttpOptions): HttpServer {
  let closing = false
  const memory = new Shares(budget, limits.shares.memory)
  const disk = new Shares(byteBudgetOf(limits.spool), limits.shares.disk)
  const common = { limits, memory, disk, spool, scrub: live.scrub }
  const running: Running = { ...common, scopes: new Set(), lasting: new Set() }
  const connections = new WeakMap<Socket, Connection>()
  const connectionOf = (socket: Socket): Connection => {
    let connection = connections.get(socket)
    if (!connection) connections.set(socket, (connection = { unsafe: false }))
    return connection
  }
  let probe = 60_000
  const upgrades = openUpgrades(memory, () => closing)
  const known = new WeakMap<ServedConfiguration, Serving>()
  const servingOf = (snapshot: ServedConfiguration): Serving => {
    let serving = known.get(snapshot)
    if (!serving) {
      const silence = snapshot.settings.server_config.keepalive.sse_interval
      known.set(snapshot, (serving = { ...running, silence, edge: edgeOf(snapshot, live) }))
    }
    return serving
  }
  const answer: Answer = (request, response, asked, done) => {
    const connection = connectionOf(request.socket)
    if (connection.unsafe) return done()
    connection.response = response
    const snapshot = live.acquire()
    const over = () => {
      live.release(snapshot)
      // A lasting response may have started after the others were told to end.
      if (closing) for (const leave of running.lasting) leave()
      done()
    }
    const broken = (error: unknown) => {
      log.error({ err: error }, 'an exchange ended without a reply')
      response.destroy()
      live.release(snapshot)
      done()
    }
    try {
      if (draining()) response.setHeader('connection', 'close')
      const served = { request, response, path: asked.path, connection, over, broken }
      serve(served, routesOf(snapshot).match(asked), servingOf(snapshot))
    } catch (error) {
      broken(error)
    }
  }
  const others = throughKoa(answer)
  const server = createServer(
    {
      keepAliveTimeout: limits.idle,
      requestTimeout: limits.request,
      headersTimeout: limits.headers,
      connectionsCheckingInterval: limits.look,
      noDelay: true,
      shouldUpgradeCallback: (request) => upgrades.wants(request),
      // The guard refuses it, like every other unsafe request.
      requireHostHeader: false,
    },
    (request, response) => {
      const asked = askedBy(request)
      // What speaks a protocol of models is most of the traffic. Koa would only cost it time.
      if (!closing && routesOf(live.current).speaks(asked)) answer(request, response, asked, nothing)
      else void others(request, response)
    },
  )
  // `onHalfClose`, not Node, decides whether a client has disconnected or only finished sending.
  Object.assign(server, { httpAllowHalfOpen: true })
  server.on('connection', (socket) => {
    const connection = connectionOf(socket)
    socket.setKeepAlive(true, probe)
    socket.once('end', () => onHalfClose(socket, connection.response))
  })
  server.on('upgrade', (request, stream, head) => upgrades.upgrade(request, stream, head))
  server.on('connect', ({ method = '', url = '' }, stream) => {
    const error = new GatewayError('method_not_allowed', { method, path: url.slice(0, 256), allow: 'GET, POST' })
    refuseRaw(stream, error, live.scrub)
  })
  server.on('clientError', (error, stream) =>
    refuseUnreadable(error, stream, connections.get(stream as Socket)?.response, live.scrub),
  )
  return {
    server,
    heed(times) {
      server.keepAliveTimeout = times.idle
      probe = times.probe
      upgrades.beatEvery(times.beat)
    },
    recheck: () => upgrades.recheck(),
    async drain(deadline) {
      closing = true
      for (const leave of running.lasting) leave()
      const cut = () => running.scopes.forEach((scope) => scope.abort(new GatewayError('draining')))
      const busy = () => running.scopes.size > 0
      await Promise.all([
        drain(server, { busy, deadline, cut, abortTimeout: limits.abortTimeout }),
        upgrades.close(deadline),
      ])
    },
  }
}

/** Answers a request; `done` is called after its exchange. */
type Answer = (request: IncomingMessage, response: ServerResponse, asked: Asked, done: () => void) => void

const nothing = () => undefined

/** Koa in front of an answer that writes to the response itself. */
function throughKoa(answer: Answer) {
  const app = new Koa()
  app.silent = true
  app.use((context) => {
    // Koa's handling of bodies ends before a stream does.
    context.respond = false
    return new Promise<void>((resolve) => answer(context.req, context.res, askedBy(context.req), resolve))
  })
  return app.callback()
}

/** A request, and its end: one of the two functions is called, once. */
interface Served {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly path: string
  readonly connection: Connection
  readonly over: () => void
  readonly broken: (error: unknown) => void
}

function serve(served: Served, matched: Matched, serving: Serving): void {
  const { request, response, path, over, broken } = served
  const { limits, scopes, lasting, silence } = serving
  const { cors } = serving.edge
  const scope = new ExchangeScope()
  const asksBefore = isPreflight(request)
  const shared = asksBefore ? cors.preflight(path, request.headers) : cors.headers(path, request.headers.origin)
  const send: Send = (given, headers) => {
    if (shared) share(headers, shared)
    const reply = isAdministrative(path) ? administer(headers, given, request) : given
    const within = { unread: limits.unread, silence }
    if (reply.body.kind === 'stream' && reply.body.lasting) scopes.delete(scope)
    if (request.complete || !hasBody(request)) return sendReply(response, reply, headers, within, lasting)
    // The server would parse the bytes of an unread body as the next request.
    headers['connection'] = 'close'
    return sendReply(response, reply, headers, within, lasting, () => discardBody(request, limits))
  }
  const wrong = suspicious(request)
  if (wrong === undefined && asksBefore) return void send(noReply, { 'x-request-id': scope.id }).then(over, broken)
  if (wrong !== undefined || 'error' in matched) {
    const error =
      wrong === undefined && 'error' in matched
        ? matched.error
        : new GatewayError('invalid_request', { reason: `The request cannot be read safely: ${wrong}.` })
    const reply = errorReply(error, { codec: matched.codec, id: scope.id, scrub: serving.scrub })
    const headers: Record<string, string> = { ...reply.headers, 'x-request-id': scope.id }
    if (matched.codec?.idHeader !== undefined) headers[matched.codec.idHeader] = scope.id
    if (wrong !== undefined) {
      served.connection.unsafe = true
      headers['connection'] = 'close'
    }
    return void send(reply, headers).then(over, broken)
  }
  const slots: Bag = {}
  const ingress = new HttpIngress(request, matched, serving, scope, slots)
  slots.ingress = ingress
  scopes.add(scope)
  response.on('close', () => {
    scopes.delete(scope)
    if (!response.writableFinished) scope.abort(new GatewayError('client_closed'))
  })
  // Its body is released last: stages that run at the end of an exchange may still read it.
  runExchange(matched.pipeline, matched.codec, slots, scope, send).then(
    () => {
      ingress.release()
      over()
    },
    (error) => {
      ingress.release()
      broken(error)
    },
  )
}

/** Adds CORS headers to those of a response. */
function share(headers: Record<string, string>, { vary = '', ...others }: Readonly<Record<string, string>>): void {
  const { vary: own } = headers
  headers['vary'] = own === undefined ? vary : `${own}, ${vary}`
  Object.assign(headers, others)
}

/** The method, path and headers by which routes match a request. */
function askedBy({ method = 'GET', url = '/', headers }: IncomingMessage): Asked {
  const mark = url.indexOf('?')
  return { method, path: mark < 0 ? url : url.slice(0, mark), headers }
}

/** Milliseconds between two sweeps of idle connections. */
const sweep = 250

interface DrainOptions {
  /** Whether any request is being answered. A request whose headers have not arrived does not count. */
  readonly busy: () => boolean
  /** Milliseconds that running requests have to finish. */
  readonly deadline: number
  /** Aborts the requests that still run at the deadline, so that their clients receive an error. */
  readonly cut: () => void
  /** Milliseconds for these errors to be sent before the connections are closed. */
  readonly abortTimeout: number
}

/** Stops accepting connections, lets running requests finish, and closes each connection as it becomes idle. */
export function drain(server: Server, { busy, deadline, cut, abortTimeout }: DrainOptions): Promise<void> {
  return new Promise((resolve) => {
    let quiet = false
    const sweeping = setInterval(() => {
      // Not on the first quiet sweep: the last bytes of a response may still be in a buffer.
      if (quiet) server.closeAllConnections()
      else server.closeIdleConnections()
      quiet = !busy()
    }, sweep)
    let ending = setTimeout(() => {
      cut()
      ending = setTimeout(() => server.closeAllConnections(), abortTimeout)
    }, deadline)
    server.close(() => {
      clearInterval(sweeping)
      clearTimeout(ending)
      resolve()
    })
    server.closeIdleConnections()
  })
}

/** Milliseconds between the first two probes, and the maximum between any two. */
const firstPause = 20
const longestPause = 10_000

/**
 * Decides what the end of a connection (FIN) means for the response in progress. A client may close its sending side
 * after the request and still read; a client that disconnected looks the same. Before the response has started,
 * interim responses (102, RFC 9110 section 15.2) tell them apart: the system of a disconnected client answers with a
 * reset. Afterwards, and in HTTP/1.0, which has no interim responses, the client counts as disconnected.
 */
function onHalfClose(socket: Socket, response: ServerResponse | undefined): void {
  if (!response || response.writableEnded) return
  if (response.headersSent || response.req.httpVersionMinor === 0) {
    socket.destroy()
    return
  }
  probe(response, firstPause)
}

function probe(response: ServerResponse, pause: number): void {
  if (response.headersSent || response.closed) return
  response.writeProcessing()
  const next = setTimeout(probe, pause, response, Math.min(2 * pause, longestPause))
  response.once('close', () => clearTimeout(next))
}
