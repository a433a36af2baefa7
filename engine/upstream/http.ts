import type { Socket } from 'node:net'
import { Readable } from 'node:stream'
import { duration } from '../spec/duration.ts'
import type { Answer, Call } from '../spec/open-provider.ts'
import type { Body, Flow } from '../spec/source.ts'
import type { Host } from '../spec/host.ts'
import type { Scope } from '../spec/scope.ts'
import { giveBack, isLent } from '../stream/lent.ts'
import { Pool, buildConnector } from './client.ts'
import { UpstreamRequest } from './request.ts'
import { withoutContinue } from './interim.ts'
import type { Timeouts } from './limits.ts'

/** What the settings of a provider say about its connections. Durations as text. */
export interface HttpSettings {
  readonly timeouts?:
    | {
        readonly connect?: string | undefined
        readonly first_byte?: string | undefined
        readonly idle?: string | undefined
        readonly total?: string | undefined
      }
    | undefined
  /** Most connections to one origin at a time; unset: as many as there are requests. */
  readonly max_connections?: number | undefined
}

/** An address with the headers that all requests to it carry. */
export interface Target {
  readonly pool: Pool
  /** Path and query. */
  readonly path: string
  readonly headers: readonly string[]
}

/** What of a call matters to the transport. */
export type Sending = Pick<Call, 'body' | 'contentType' | 'model' | 'publicName' | 'timeouts'> & {
  readonly scope: Pick<Scope, 'onAbort'>
}

/** A request without a body. A limit of 0 is none: a stream may be silent for ever. */
export type Asking = Omit<Sending, 'body' | 'contentType'>

/**
 * The HTTP client of all providers. All requests resolve when the answer's headers are there, whatever its status, and
 * reject with the failures that `transportFailure` tells apart. Redirects are never followed and encoded answers never
 * decoded: both are `upstream_invalid_response`.
 */
export interface Http {
  /** An address to ask; made once, when a provider is opened. `headers`: names and values in turn. */
  target(url: URL, headers: readonly string[]): Target
  /** `headers`: further lines for this one request. */
  post(target: Target, sending: Sending, headers?: readonly string[]): Promise<Answer>
  ask(target: Target, method: 'GET' | 'DELETE', asking: Asking, headers?: readonly string[]): Promise<Answer>
}

/**
 * Opens the client with the limits of one provider. Connections live in one pool per origin and settings, and outlive
 * a reload of the configuration. A limit that the provider sets goes before the pipeline's and the settings'.
 */
export function openHttp(settings: HttpSettings, host: Pick<Host, 'keep' | 'catalog'>): Http {
  const limits = settings.timeouts ?? {}
  const connect = duration(limits.connect ?? host.catalog.settings.resilience.timeouts.connect)
  const own: Partial<Timeouts> = {
    ...(limits.first_byte === undefined ? {} : { firstByte: duration(limits.first_byte) }),
    ...(limits.idle === undefined ? {} : { idle: duration(limits.idle) }),
    ...(limits.total === undefined ? {} : { total: duration(limits.total) }),
  }
  const connections = settings.max_connections ?? null
  // Every call of a stage brings the same timeouts.
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
    headers: string[],
  ) =>
    new Promise<Answer>((resolve, reject) => {
      const name = sending.publicName ?? sending.model
      const exchange = new UpstreamRequest(name, within(sending.timeouts), sending.scope, { resolve, reject })
      if (exchange.over) return
      const body = sending.body && (sending.body.bytes ?? streamed(sending.body, () => exchange.sent()))
      // Without it the length of a stream would not be told.
      if (body instanceof Readable) headers.push('content-length', String(sending.body?.size))
      target.pool.dispatch({ method, path: target.path, body: body ?? null, headers }, exchange)
    })
  return {
    target: (url, headers) => ({
      pool: host.keep(
        `http ${url.origin} connections=${connections} connect=${connect}`,
        () => openPool(url.origin, connections, connect),
        (pool) => pool.destroy(),
      ),
      path: url.pathname + url.search,
      headers: [...headers, 'accept-encoding', 'identity'],
    }),
    post: (target, sending, headers = []) =>
      dispatch(target, 'POST', sending, [...target.headers, 'content-type', sending.contentType, ...headers]),
    ask: (target, method, asking, headers = []) => dispatch(target, method, asking, [...target.headers, ...headers]),
  }
}

/** A body that is not in memory, read as fast as its connection takes it. `sent` hears of each chunk. */
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

function openPool(origin: string, connections: number | null, connect: number): Pool {
  const connector = buildConnector({ timeout: connect, allowH2: false })
  return new Pool(origin, {
    connections,
    connect: (options, opened) =>
      connector(options, (...[error, socket]) =>
        error === null ? opened(null, givingBack(withoutContinue(socket))) : opened(error, null),
      ),
    pipelining: 1,
    allowH2: false,
    keepAliveTimeout: 60_000,
    maxHeaderSize: 16 * 1024,
    // Its own timers are accurate to half a second; `Limits` watches instead.
    headersTimeout: 0,
    bodyTimeout: 0,
  })
}

/** A connection that gives the chunks of large bodies back once they have left. */
function givingBack<S extends Socket>(socket: S): S {
  const write = socket.write.bind(socket)
  socket.write = ((...given: Parameters<typeof write>) => {
    const [chunk] = given
    if (given.length > 1 || !isLent(chunk)) return write(...given)
    return write(chunk, (error) => {
      if (!error) giveBack(chunk)
    })
  }) as S['write']
  return socket
}
