import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import type { Logger } from 'pino'
import { GatewayError, asGatewayError } from '../spec/error.ts'
import type { Ingress, Outcome, Session } from '../spec/slots.ts'
import type { Principal } from '../spec/principal.ts'
import type { ConfigurationSource, ServedConfiguration } from '../http/configuration-source.ts'
import type { Bag } from '../pipeline/bag.ts'
import type { CompiledPipeline } from '../pipeline/run.ts'
import type { BodyReader } from '../spec/source.ts'
import { BytesBody, readHeld } from '../stream/body.ts'
import { toldOf } from '../http/exchange.ts'
import type { Cors } from '../http/cors.ts'
import { clientAddress, edgeOf } from '../http/edge.ts'
import type { Edge } from '../http/edge.ts'
import { routesOf } from '../http/routes.ts'
import type { Endpoint, Matched } from '../http/routes.ts'
import { reasonOf } from '../http/close-reason.ts'
import { ExchangeScope } from '../http/scope.ts'
import type { SocketMessage } from './socket-message.ts'

/** The parts of an upgrade request that matter later. */
export interface Upgrade {
  readonly path: string
  readonly query: URLSearchParams
  readonly headers: IncomingHttpHeaders
  readonly remote: string
}

export function upgradeOf(request: IncomingMessage, edge: Pick<Edge, 'proxies' | 'untrusted'>): Upgrade {
  const { url = '/', headers } = request
  const mark = url.indexOf('?')
  return {
    path: mark < 0 ? url : url.slice(0, mark),
    query: new URLSearchParams(mark < 0 ? '' : url.slice(mark + 1)),
    headers,
    remote: clientAddress(request, edge),
  }
}

/** The running configuration's settings for identifying clients of sockets. */
export function currentEdge(live: ConfigurationSource): Edge {
  const snapshot = live.acquire()
  const edge = edgeOf(snapshot, live)
  live.release(snapshot)
  return edge
}

/** Where sockets of a path are routed now; the error `not_found` when no route has the path. */
export function routeAt(live: ConfigurationSource, path: string): Matched {
  const snapshot = live.acquire()
  const route = socketRoute(snapshot, path)
  live.release(snapshot)
  return route
}

function socketRoute(snapshot: ServedConfiguration, path: string): Matched {
  const matched = routesOf(snapshot).match({ method: 'WS', path })
  if (!('error' in matched)) return matched
  return { ...matched, error: new GatewayError('not_found', { method: 'WS', path: path.slice(0, 256) }) }
}

/** Where sockets of a path are routed. Throws `not_found` when no route has the path. */
export function socketEndpoint(snapshot: ServedConfiguration, path: string): Endpoint {
  const matched = socketRoute(snapshot, path)
  if ('error' in matched) throw matched.error
  return matched
}

/**
 * One message as a request: the upgrade's headers and path, with the message as its body. Without a message it has no
 * body.
 */
export function messageIngress(
  upgrade: Upgrade,
  endpoint: Endpoint,
  session: Session,
  { fields, body, error }: SocketMessage,
): Ingress {
  const read = (limit: number, reader?: BodyReader) =>
    error ? Promise.reject(error) : readHeld(new BytesBody(body), limit, reader)
  return { ...asked(upgrade, endpoint), session, message: fields, body: read }
}

/** The upgrade itself as a request. */
export function upgradeIngress(upgrade: Upgrade, endpoint: Endpoint): Ingress {
  const body = () => Promise.reject(new GatewayError('invalid_request', { reason: 'An upgrade has no body.' }))
  return { ...asked(upgrade, endpoint), body }
}

/**
 * Runs the stages that authenticate the client, on the upgrade alone. Rejects as they do, and with `not_found` when
 * no route serves sockets at the path.
 */
export async function admit(
  live: ConfigurationSource,
  upgrade: Upgrade,
  scope: ExchangeScope,
): Promise<Principal | undefined> {
  const snapshot = live.acquire()
  try {
    const endpoint = socketEndpoint(snapshot, upgrade.path)
    const slots: Bag = { ingress: upgradeIngress(upgrade, endpoint) }
    await runAccess(endpoint.pipeline, slots, scope)
    return slots.principal
  } finally {
    live.release(snapshot)
  }
}

/** Checks repeatedly whether the client of an open socket is still authorized. */
export class Standing {
  readonly #live: ConfigurationSource
  readonly #log: Logger
  readonly #upgrade: Upgrade
  #looking = false

  constructor(live: ConfigurationSource, log: Logger, upgrade: Upgrade) {
    this.#live = live
    this.#log = log
    this.#upgrade = upgrade
  }

  /** The reason why the client is no longer authorized; undefined when it still is, or when this cannot be checked. */
  async refusal(): Promise<GatewayError | undefined> {
    if (this.#looking) return undefined
    this.#looking = true
    try {
      await admit(this.#live, this.#upgrade, new ExchangeScope())
    } catch (thrown) {
      const error = asGatewayError(thrown)
      if (reasonOf(error).code !== 1011) return error
      this.#log.warn({ err: error.cause ?? error }, 'the client of a socket cannot be checked')
    } finally {
      this.#looking = false
    }
    return undefined
  }
}

/**
 * Runs the access stages and releases what they reserved as soon as the client is known. `finally` runs for messages
 * only.
 */
async function runAccess({ access, scrub }: CompiledPipeline, slots: Bag, scope: ExchangeScope): Promise<void> {
  let error: GatewayError | undefined
  try {
    await access(slots, scope)
  } catch (thrown) {
    error = asGatewayError(thrown)
    throw error
  } finally {
    if (scope.settlement) {
      slots.outcome = accessOutcome(error, scope, scrub)
      await scope.settlement.end(slots, error)
    }
  }
}

/** The outcome of authenticating a socket: 101 when it may open or stay open, otherwise the error. */
function accessOutcome(
  error: GatewayError | undefined,
  scope: ExchangeScope,
  scrub: ConfigurationSource['scrub'],
): Outcome {
  const common = { duration: scope.elapsed(), bytes: 0 }
  if (error === undefined) return { ...common, status: 101, result: 'completed' }
  const { status } = error.failure
  const result = error.code === 'client_closed' ? error.code : 'failed'
  return { ...common, status, result, error: toldOf(error, scrub) }
}

function asked({ query, headers, remote }: Upgrade, { path, params }: Endpoint): Omit<Ingress, 'body'> {
  return { method: 'WS', path, params, query, headers, transport: 'ws', remote }
}

/** Whether a page of another site opens the socket (RFC 6455, section 10.2): its `origin` is neither the requested host nor one with access. */
export function isCrossSite({ path, headers }: Upgrade, cors: Cors): boolean {
  const origin = headers.origin ?? headers['sec-websocket-origin']
  if (origin === undefined) return false
  if (typeof origin !== 'string') return true
  if (cors.admits(path, origin)) return false
  if (!URL.canParse(origin)) return true
  const site = new URL(origin)
  const own = `${site.protocol}//${headers.host}`
  return !/^https?:$/.test(site.protocol) || !URL.canParse(own) || new URL(own).host !== site.host
}
