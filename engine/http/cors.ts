import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import type { Sections } from '../config/server-settings.ts'
import { speaksToClients } from '../config/speaking.ts'
import type { Registry } from '../config/registry.ts'
import { duration } from '../spec/duration.ts'
import { isAdministrative } from './administrative.ts'

type Headers = Readonly<Record<string, string>>

/** Access for pages of other origins: the CORS protocol (Fetch standard, section 3.2). */
export interface Cors {
  /** Whether pages of this origin may send requests to a path. */
  admits(path: string, origin: string): boolean
  /** CORS headers of a response; undefined if no other origin has access. A page without access gets a response without them. */
  headers(path: string, origin: string | undefined): Headers | undefined
  /** Headers of the response to a preflight. */
  preflight(path: string, asked: IncomingHttpHeaders): Headers
}

/** Request headers that clients of any protocol send. In the headers of a codec, a final `*` matches any rest. */
const sent = [
  'accept',
  'authorization',
  'content-type',
  'idempotency-key',
  'if-match',
  'traceparent',
  'tracestate',
  'x-api-key',
  'x-conversation-id',
  'x-request-id',
  'x-routing-*',
]
/** Response headers that scripts read, and that browsers would otherwise hide from them. */
const read = [
  'etag',
  'location',
  'retry-after',
  'server-timing',
  'x-gateway-budget-remaining',
  'x-gateway-limit',
  'x-gateway-losses',
  'x-gateway-model',
  'x-gateway-provider',
  'x-next-cursor',
  'x-ratelimit-limit-requests',
  'x-ratelimit-limit-tokens',
  'x-ratelimit-remaining-requests',
  'x-ratelimit-remaining-tokens',
  'x-ratelimit-reset-requests',
  'x-ratelimit-reset-tokens',
  'x-request-id',
  'x-should-retry',
]
const methods = 'GET, HEAD, POST, PUT, PATCH, DELETE'

export function corsOf(settings: Sections['cors'], { codecs }: Pick<Registry, 'codecs'>): Cors {
  const { credentials, max_age: age, allow_headers: allowed, expose_headers: exposed } = settings
  const clients = new Set(settings.origins)
  const admins = new Set(settings.admin_origins)
  const speaking = [...codecs.values()].filter(speaksToClients)
  const sendable = [
    ...sent,
    ...speaking.flatMap(({ clientHeader = [], headers = [] }) => [...headers, ...[clientHeader].flat()]),
    ...allowed,
  ].map((name) => name.toLowerCase())
  const own = speaking.flatMap(({ idHeader = [], answerHeaders = [] }) => [...[idHeader].flat(), ...answerHeaders])
  const readable = [...new Set([...read, ...own, ...exposed])].join(', ')
  const originsAt = (path: string) => (isAdministrative(path) ? admins : clients)
  const maySend = (name: string) =>
    sendable.some((one) => (one.endsWith('*') ? name.startsWith(one.slice(0, -1)) : name === one))
  const admits: Cors['admits'] = (path, origin) => originsAt(path).has(origin) || originsAt(path).has('*')
  const admission = (path: string, origin: string): Headers => ({
    'access-control-allow-origin': originsAt(path).has('*') ? '*' : origin,
    ...(credentials ? { 'access-control-allow-credentials': 'true' } : {}),
  })
  return {
    admits,
    headers(path, origin) {
      if (originsAt(path).size === 0) return undefined
      const vary = { vary: 'origin' }
      if (origin === undefined || !admits(path, origin)) return vary
      return { ...vary, ...admission(path, origin), 'access-control-expose-headers': readable }
    },
    preflight(path, { origin = '', 'access-control-request-headers': wanted = '' }) {
      const vary = { vary: 'origin, access-control-request-method, access-control-request-headers' }
      if (!admits(path, origin)) return vary
      const names = wanted.split(',').map((name) => name.trim().toLowerCase())
      return {
        ...vary,
        ...admission(path, origin),
        'access-control-allow-methods': methods,
        'access-control-allow-headers': names.filter(maySend).join(', '),
        'access-control-max-age': String(Math.floor(duration(age) / 1000)),
      }
    },
  }
}

/** Whether a request is a CORS preflight. */
export function isPreflight({ method, headers }: IncomingMessage): boolean {
  return method === 'OPTIONS' && headers.origin !== undefined && headers['access-control-request-method'] !== undefined
}
