import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import type { Sections } from '../config/sections.ts'
import { speaksToClients } from '../config/speaking.ts'
import type { Registry } from '../config/registry.ts'
import { duration } from '../spec/duration.ts'

type Headers = Readonly<Record<string, string>>

/** Which pages of other sites may ask: the CORS protocol (Fetch standard, section 3.2). */
export interface Cors {
  /** Whether pages of this origin may ask at a path. */
  admits(path: string, origin: string): boolean
  /** What an answer says of it; undefined where no other site may ask. A page that may not ask gets the answer without it. */
  headers(path: string, origin: string | undefined): Headers | undefined
  /** What the answer to a preflight says. */
  preflight(path: string, asked: IncomingHttpHeaders): Headers
}

/** Headers that clients of whatever protocol send. A word of a codec that ends in `*` stands for any rest. */
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
/** Headers of answers that scripts read, and that browsers would keep from them. */
const read = [
  'etag',
  'location',
  'retry-after',
  'server-timing',
  'x-gateway-losses',
  'x-gateway-model',
  'x-gateway-provider',
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
  const ids = speaking.flatMap(({ idHeader = [] }) => idHeader)
  const readable = [...new Set([...read, ...ids, ...exposed])].join(', ')
  const originsAt = (path: string) => (path.startsWith('/api/') ? admins : clients)
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

/** Whether a browser asks before a page of another site may ask. */
export function isPreflight({ method, headers }: IncomingMessage): boolean {
  return method === 'OPTIONS' && headers.origin !== undefined && headers['access-control-request-method'] !== undefined
}
