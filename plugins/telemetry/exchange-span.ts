import type { Ingress, ToldExchange } from '../../engine/index.ts'
import { errorOfExchange } from './error-type.ts'
import { names, session, user } from './semantic-conventions.ts'
import type { Attributes } from './tracer.ts'

/** Where clients reach the gateway. */
export interface Door {
  readonly scheme: string
  readonly host: string
  readonly port: number
}

/** Whether it is the request of a client, and no part of another exchange. */
export function isRequest({ parent, transport }: ToldExchange): boolean {
  return parent === undefined && transport !== undefined
}

export function nameOf(exchange: ToldExchange): string {
  if (!isRequest(exchange)) return `pipeline ${exchange.pipeline}`
  return `${methodOf(exchange)} ${exchange.route ?? exchange.path ?? ''}`.trim()
}

/** A WebSocket begins as a GET. */
function methodOf({ method = '', transport }: ToldExchange): string {
  return transport === 'ws' ? 'GET' : method
}

/** What is known when an exchange begins; a sampler may read it. */
export function startOf(exchange: ToldExchange, { scheme }: Pick<Door, 'scheme'>, scrub: Scrub): Attributes {
  const { route, path } = exchange
  const attributes: Attributes = { [names.requestId]: exchange.id, [names.pipeline]: exchange.pipeline }
  if (!isRequest(exchange)) return attributes
  attributes[names.method] = methodOf(exchange)
  attributes[names.scheme] = scheme
  if (route !== undefined) attributes[names.route] = route
  if (path !== undefined) attributes[names.path] = path === route ? path : clean(path, scrub, longestPath)
  return attributes
}

/** What the settings take of a request's headers. */
export interface FromRequest {
  /** Attribute by header. */
  readonly headers: ReadonlyMap<string, string>
  readonly clientAddress: boolean
  readonly door: Door
}

/** Redacts secrets. */
type Scrub = (text: string) => string

/** Most characters of what a client writes, and of a path. */
const most = 256
const longestPath = 2_048

/** What a client writes: without secrets, also one that the cut would spoil. */
export function clean(text: string, scrub: Scrub, length = most): string {
  return scrub(text.slice(0, 4 * length)).slice(0, length)
}

/** What the headers of a request say. */
export function requestAttributes(
  { headers, remote, httpVersion }: Ingress,
  from: FromRequest,
  scrub: Scrub,
): Attributes {
  const attributes: Attributes = {}
  const { door } = from
  const { address, port } = placeOf(headers.host, door)
  attributes[names.serverAddress] = address
  attributes[names.serverPort] = port
  if (httpVersion !== undefined) attributes[names.protocolVersion] = httpVersion
  const agent = headers['user-agent']
  if (agent !== undefined && agent !== '') attributes[names.userAgent] = clean(agent, scrub)
  if (from.clientAddress) attributes[names.clientAddress] = remote
  for (const [attribute, header] of from.headers) {
    const value = headers[header]
    const text = Array.isArray(value) ? value.join(', ') : value
    if (text !== undefined && text !== '') attributes[attribute] = clean(text, scrub)
  }
  return attributes
}

/** Where a client has reached the gateway. */
interface Place {
  readonly address: string
  readonly port: number
}

/** The last one that was read: nearly all requests name the same, and reading a URL takes microseconds. */
let last: { readonly host: string | undefined; readonly door: Door; readonly place: Place } | undefined

function placeOf(host: string | undefined, door: Door): Place {
  if (last === undefined || last.host !== host || last.door !== door)
    last = { host, door, place: readPlace(host, door) }
  return last.place
}

function readPlace(host: string | undefined, door: Door): Place {
  const url = URL.parse(`${door.scheme}://${host ?? ''}`)
  const usualPort = door.scheme === 'https' ? 443 : 80
  return {
    address: url?.hostname || door.host,
    port: Number(url?.port) || (url?.hostname ? usualPort : door.port),
  }
}

/** Most tags of an API key. */
const mostTags = 16

/** What Langfuse wants at the spans of a job, which the job cannot know: the name of its trace, its session, its user. */
export function labelsOf(pipeline: string, request: Attributes): Readonly<Record<string, string>> {
  const { [session]: ofSession, [user]: ofUser } = request
  return {
    [names.traceName]: pipeline,
    ...(typeof ofSession === 'string' ? { [session]: ofSession } : {}),
    ...(typeof ofUser === 'string' ? { [user]: ofUser } : {}),
  }
}

/** What Langfuse wants at every span of a trace. */
export function langfuseOf(pipeline: string, tags: ToldExchange['tags'], request: Attributes): Attributes {
  const list = Object.entries(tags ?? {}).slice(0, mostTags)
  const [ofSession, ofUser] = [request[session], request[user]]
  return {
    [names.traceName]: request[names.traceName] ?? pipeline,
    ...(list.length > 0 ? { [names.traceTags]: list.map(([name, value]) => `${name}:${value}`) } : {}),
    ...(ofSession === undefined ? {} : { [names.traceSession]: ofSession }),
    ...(ofUser === undefined ? {} : { [names.traceUser]: ofUser }),
  }
}

/**
 * Says of an exchange what is known at its end. Absent values are absent attributes.
 * @param tried the provider that was asked last: of an exchange that failed, nothing else names it
 */
export function describeExchange(
  attributes: Attributes,
  exchange: ToldExchange,
  tried: string | undefined,
  scrub: Scrub,
): void {
  const { key, tags, bill, losses } = exchange
  const put = (name: string, value: string | number | undefined) => {
    if (value !== undefined && value !== '') attributes[name] = value
  }
  if (isRequest(exchange)) put(names.status, exchange.status)
  put(names.protocol, exchange.protocol)
  put(names.keyId, key?.id)
  put(names.keyName, key?.name)
  put(names.member, exchange.member)
  put(names.requested, exchange.requested && clean(exchange.requested, scrub, 128))
  put(names.served, exchange.model)
  put(names.providerRecord, exchange.provider ?? tried)
  put(names.tries, exchange.tries)
  if (bill) put(names.costOrigin, bill.cost.origin)
  if (bill?.cost.micros !== undefined) put(names.costUsd, bill.cost.micros / 1e6)
  put(names.savings, exchange.savings)
  if (losses !== undefined && losses.length > 0) attributes[names.losses] = [...losses]
  put(names.tier, exchange.tier)
  put(names.configVersion, exchange.configVersion)
  if (tags) for (const [name, value] of Object.entries(tags).slice(0, mostTags)) put(`${names.tag}${name}`, value)
  put(names.errorType, errorOfExchange(exchange))
}

/** Mistakes of clients are no errors of the gateway, and neither is a client that leaves. A broken stream is one. */
export function isError({ result, error, status = 0 }: ToldExchange): boolean {
  if (result === 'client_closed') return false
  return status >= 500 || (error !== undefined && status < 400)
}
