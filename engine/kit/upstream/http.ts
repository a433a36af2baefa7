import { lookup } from 'node:dns'
import type { Socket } from 'node:net'
import { Readable } from 'node:stream'
import { duration } from '../../spec/duration.ts'
import type { Answer, Call } from '../../spec/open-provider.ts'
import type { Body, Flow } from '../../spec/source.ts'
import type { Host } from '../../spec/host.ts'
import type { Scope } from '../../spec/scope.ts'
import { giveBack, isLent } from '../../stream/lent.ts'
import { serverAt } from './address.ts'
import { Pool, buildConnector, errors } from './client.ts'
import { guardedLookup, isWithin, literalAddress, notAllowed } from '../../config/reach.ts'
import type { Reach } from '../../config/reach.ts'
import { UpstreamRequest } from './request.ts'
import { withoutContinue } from './interim.ts'
import { notingStale } from './stale.ts'
import type { Timeouts } from './limits.ts'

/** Connection settings of a provider. Durations are texts. */
export interface HttpSettings {
  readonly timeouts?:
    | {
        readonly connect?: string | undefined
        readonly first_byte?: string | undefined
        readonly idle?: string | undefined
        readonly total?: string | undefined
      }
    | undefined
  /** Maximum connections to one origin at a time; unset: unlimited. */
  readonly max_connections?: number | undefined
}

/** An address with the headers of every request to it. */
export interface Target {
  readonly connections: Connections
  /** Path and query. */
  readonly path: string
  readonly server: ReturnType<typeof serverAt>
  readonly headers: readonly string[]
  /** The headers of a request with a JSON body, which nearly all are. */
  readonly ofJson: readonly string[]
}

/** The parts of a call that the transport uses. */
export type Sending = Pick<Call, 'body' | 'contentType' | 'model' | 'publicName' | 'once' | 'timeouts'> & {
  readonly scope: Pick<Scope, 'onAbort' | 'call'>
}

/** A request without a body. A timeout of 0 is none: a stream may then be silent forever. */
export type Asking = Omit<Sending, 'body' | 'contentType'>

/**
 * The HTTP client of all providers. Requests resolve with any status as soon as the response headers have arrived,
 * and reject with the errors of `transportFailure`. Redirects are not followed and encoded bodies are not decoded:
 * both are `upstream_invalid_response`.
 */
export interface Http {
  /**
   * An address for requests, created once when a provider is opened.
   * @param headers names and values in turn
   */
  target(url: URL, headers: readonly string[]): Target
  /** @param headers further lines for this request only */
  post(target: Target, sending: Sending, headers?: readonly string[]): Promise<Answer>
  ask(target: Target, method: 'GET' | 'DELETE', asking: Asking, headers?: readonly string[]): Promise<Answer>
}

/**
 * Opens the client with the settings of one provider. There is one connection pool per origin and settings; it
 * outlives a reload of the configuration. A timeout of the provider takes precedence over those of the pipeline and
 * of the settings.
 */
export function openHttp(settings: HttpSettings, host: Pick<Host, 'keep' | 'catalog' | 'bounds'>): Http {
  const limits = settings.timeouts ?? {}
  const connect = duration(limits.connect ?? host.catalog.settings.resilience.timeouts.connect)
  const idle = duration(host.catalog.settings.keepalive.upstream_idle)
  const own: Partial<Timeouts> = {
    ...(limits.first_byte === undefined ? {} : { firstByte: duration(limits.first_byte) }),
    ...(limits.idle === undefined ? {} : { idle: duration(limits.idle) }),
    ...(limits.total === undefined ? {} : { total: duration(limits.total) }),
  }
  const connections = settings.max_connections ?? null
  // Every call of a stage has the same timeouts object.
  const merged = new WeakMap<object, Timeouts>()
  const within = (given: Sending['timeouts']): Timeouts => {
    let timeouts = merged.get(given)
    if (!timeouts) merged.set(given, (timeouts = { connect, ...given, ...own }))
    return timeouts
  }
  const dispatch = (
    target: Target,
    method: 'GET' | 'POST' | 'DELETE',
    sending: Asking & { readonly body?: Body },
    headers: readonly string[],
  ) =>
    new Promise<Answer>((resolve, reject) => {
      const name = sending.publicName ?? sending.model
      sending.scope.call?.tell({ server: target.server })
      const message = new Message(target, method, sending, headers, resolve, reject)
      const exchange = new UpstreamRequest(name, within(sending.timeouts), sending.scope, message)
      if (!exchange.over) message.dispatch(exchange, target.connections.kept, false)
    })
  return {
    target(url, headers) {
      const { reach = 'private', note } = host.bounds ?? {}
      note?.(url)
      const all = [...headers, 'accept-encoding', 'identity']
      return {
        connections: host.keep(
          `http ${url.origin} connections=${connections} connect=${connect} idle=${idle} reach=${reach}`,
          () => openConnections(url, { connections, connect, idle, reach }),
          async ({ kept, single }) => void (await Promise.all([kept.destroy(), single.destroy()])),
        ),
        path: url.pathname + url.search,
        server: serverAt(url),
        headers: all,
        ofJson: [...all, 'content-type', json],
      }
    },
    post(target, sending, headers = none) {
      const typed =
        sending.contentType === json ? target.ofJson : [...target.headers, 'content-type', sending.contentType]
      return dispatch(target, 'POST', sending, headers.length === 0 ? typed : [...typed, ...headers])
    },
    ask: (target, method, asking, headers = none) => dispatch(target, method, asking, [...target.headers, ...headers]),
  }
}

const json = 'application/json'
const none: readonly string[] = []

/** What is sent, and how it is sent again. */
class Message {
  readonly #target: Target
  readonly #method: 'GET' | 'POST' | 'DELETE'
  readonly #sending: Asking & { readonly body?: Body }
  readonly #headers: readonly string[]
  readonly resolve: (answer: Answer) => void
  readonly reject: (error: Error) => void

  constructor(
    target: Target,
    method: 'GET' | 'POST' | 'DELETE',
    sending: Asking & { readonly body?: Body },
    headers: readonly string[],
    resolve: (answer: Answer) => void,
    reject: (error: Error) => void,
  ) {
    const { body } = sending
    this.#target = target
    this.#method = method
    this.#sending = sending
    // Without its length, the body would be sent chunked.
    this.#headers = body && !body.bytes ? [...headers, 'content-length', String(body.size)] : headers
    this.resolve = resolve
    this.reject = reject
  }

  /** @param reset whether the connection ends after the answer */
  dispatch(exchange: UpstreamRequest, pool: Pool, reset: boolean): void {
    const { body: given } = this.#sending
    const body = given && (given.bytes ?? streamed(given, () => exchange.sent()))
    const { path } = this.#target
    // It reads the headers alone.
    const headers = this.#headers as string[]
    pool.dispatch({ method: this.#method, path, body: body ?? null, headers, reset }, exchange)
  }

  ended(): void {
    leaveUnsent(this.#sending.body?.bytes)
  }

  repeat(exchange: UpstreamRequest): boolean {
    if (this.#sending.once === true) return false
    exchange.restart()
    this.dispatch(exchange, this.#target.connections.single, true)
    return true
  }
}

/** A body outside of memory, read as fast as its connection takes it. `sent` is called for each chunk. */
function streamed(body: Body, sent: () => void): Readable {
  let flow: Flow | undefined
  const open = () =>
    body.open().open({
      data(chunk) {
        sent()
        if (!stream.push(chunk)) flow?.pause()
      },
      end: () => stream.push(null),
      fail: (error) => stream.destroy(error),
    })
  const stream = new Readable({
    read() {
      if (flow) flow.resume()
      else flow = open()
    },
    destroy(error, done) {
      flow?.cancel(error ?? new Error('nobody sends it any more'))
      done(error)
    },
  })
  return stream
}

/** The connections to one origin. */
interface Connections {
  readonly kept: Pool
  /** Connections that carry one request each. */
  readonly single: Pool
}

interface Pooling {
  /** Null: unlimited. */
  readonly connections: number | null
  /** Milliseconds until a connection is open, and until an idle one is closed. */
  readonly connect: number
  readonly idle: number
  readonly reach: Reach
}

/** The connector of a pool. The check of an address covers the very one that the socket connects to. */
function connectorTo(url: URL, { connect: timeout, reach }: Pooling): ReturnType<typeof buildConnector> {
  const options = { timeout, allowH2: false }
  if (reach === 'any') return buildConnector(options)
  // Sockets resolve no IP address, so a literal one is checked here.
  const address = literalAddress(url)
  if (address !== undefined && !isWithin(reach, address)) return (_options, opened) => opened(notAllowed(), null)
  return buildConnector({ ...options, lookup: guardedLookup(lookup, reach) })
}

function openConnections(url: URL, pooling: Pooling): Connections {
  return { kept: openPool(url, pooling), single: openPool(url, pooling) }
}

function openPool(url: URL, pooling: Pooling): Pool {
  const { connections, idle } = pooling
  const connector = connectorTo(url, pooling)
  return new Pool(url.origin, {
    connections,
    connect: (options, opened) =>
      connector(options, (...[error, socket]) =>
        error === null
          ? opened(null, givingBack(withoutContinue(notingStale(hearingOut(socket)))))
          : opened(error, null),
      ),
    pipelining: 1,
    allowH2: false,
    keepAliveTimeout: idle,
    // A server may shorten it, and never extend it.
    keepAliveMaxTimeout: idle,
    maxHeaderSize: 16 * 1024,
    // undici's own timers are accurate to half a second; `Limits` is used instead.
    headersTimeout: 0,
    bodyTimeout: 0,
  })
}

/** Bytes from which a body may not have left the process when its answer has ended. */
const long = 16 * 1024

/** The connection that was given a long body. */
const carriers = new WeakMap<Uint8Array, Socket>()

/**
 * Closes the connection of a body whose answer has ended before it was sent: a server that refuses a body may read no
 * more of it, and the next request would wait behind it.
 */
function leaveUnsent(body: Uint8Array | undefined): void {
  const socket = body && carriers.get(body)
  if (socket && socket.writableLength > 0) socket.destroy(new errors.InformationalError('the answer came first'))
}

/** A connection that returns the chunks of large bodies to the pool once they have been sent. */
function givingBack<S extends Socket>(socket: S): S {
  const write = socket.write.bind(socket)
  socket.write = ((...given: Parameters<typeof write>) => {
    const [chunk] = given
    if (typeof chunk !== 'string' && chunk.length >= long) carriers.set(chunk, socket)
    if (given.length > 1 || !isLent(chunk)) return write(...given)
    return write(chunk, (error) => {
      if (!error) giveBack(chunk)
    })
  }) as S['write']
  return socket
}

/** The codes of a failed write to a connection that its peer has closed. */
const closed: ReadonlySet<string | undefined> = new Set(['EPIPE', 'ECONNRESET'])

type Done = (error?: Error | null) => void

/**
 * Lets all that has arrived be read before a failed write destroys a connection. A server that refuses an upload may
 * close the connection at once, and its answer is then in front of the reset that makes the next write fail.
 */
function hearingOut<S extends Socket>(socket: S): S {
  const afterAll =
    (done: Done): Done =>
    (error) => {
      if (!error || !closed.has((error as NodeJS.ErrnoException).code) || socket.readableEnded) return done(error)
      const tell = () => {
        socket.off('end', tell).off('close', tell)
        done(error)
      }
      socket.on('end', tell).on('close', tell)
    }
  const write = socket._write.bind(socket)
  const writeAll = socket._writev?.bind(socket)
  socket._write = (chunk, encoding, done) => write(chunk, encoding, afterAll(done))
  if (writeAll) socket._writev = (chunks, done) => writeAll(chunks, afterAll(done))
  return socket
}
