import { GatewayError, Refusal, defineStage } from '../../engine/index.ts'
import type { Ingress, Principal, Services } from '../../engine/index.ts'
import type { Sessions } from './sessions.ts'

type Headers = Ingress['headers']
type Keys = Pick<Services['api_keys'], 'find' | 'search'>

/**
 * Finds out who asks: by the API key in `authorization: Bearer` or `x-api-key` or, as browsers cannot set headers of a
 * WebSocket, among its subprotocols, of which the first that is valid counts; or by the token of a session in
 * `authorization: Bearer` alone. Neither is ever read from the query or a cookie: addresses end up in logs, and pages of
 * other sites send cookies along.
 */
export default defineStage({
  name: 'auth',
  summary: 'Find out who asks, or refuse.',
  config: {
    type: 'object',
    additionalProperties: false,
    properties: {
      with: {
        enum: ['key', 'session', 'either'],
        default: 'key',
        description: 'What the client shows: an API key, the token of a session, or either of them.',
      },
      role: {
        enum: ['viewer', 'admin'],
        description: 'What a member has to be at least; an admin may do all that a viewer may. Unset: anybody.',
      },
    },
  } as const,
  uses: ['sessions', 'api_keys'],
  needs: ['ingress'],
  provides: ['principal'],
  build: ({ with: shows, role }, _host, { sessions, api_keys: keys }) => {
    if (role !== undefined && shows === 'key')
      throw new Refusal('API keys have no role; say "with: session" or "with: either"', ['role'])
    if (shows === 'key') return ({ ingress: { headers } }) => byKey(headers, keys)
    return async ({ ingress: { headers } }) => {
      const principal =
        shows === 'session' ? await bySession(headers, sessions) : await byEither(headers, keys, sessions)
      if (role !== undefined && !hasRole(principal, role)) throw new GatewayError('forbidden')
      return { principal }
    }
  },
})

const roles: readonly (string | undefined)[] = ['viewer', 'admin']

function hasRole({ role }: Principal, wanted: string): boolean {
  return roles.includes(role) && roles.indexOf(role) >= roles.indexOf(wanted)
}

type Found = { readonly principal: Principal }

function byKey(headers: Headers, keys: Keys): Found | Promise<Found> {
  const shown = keysOf(headers)
  if (shown.length === 0) throw new GatewayError('invalid_api_key', {}, { message: noKey })
  return known(shown, keys) ?? searched(shown, keys).then((found) => found ?? refuseKey())
}

async function bySession({ authorization }: Headers, sessions: Sessions): Promise<Principal> {
  const token = bearer(authorization)
  if (!isShown(token)) throw new GatewayError('invalid_token', bearerScheme, { message: noToken })
  const holder = await sessions.find(token)
  if (holder === undefined) throw new GatewayError('invalid_token', bearerScheme)
  return holder
}

async function byEither(headers: Headers, keys: Keys, sessions: Sessions): Promise<Principal> {
  const shown = keysOf(headers)
  const found = known(shown, keys) ?? (await searched(shown, keys))
  return found ? found.principal : bySession(headers, sessions)
}

const noKey = 'No API key was sent. Send it as "authorization: Bearer <key>" or as "x-api-key: <key>".'
const noToken = 'Nobody has signed in. Send the token of a session as "authorization: Bearer <token>".'

/** How a client shows who it is (RFC 9110, section 11.6.1). */
const bearerScheme = { authenticate: 'Bearer' }

function keysOf(headers: Headers): readonly string[] {
  const shown = [bearer(headers.authorization), single(headers['x-api-key'])].filter(isShown)
  const offered = headers['sec-websocket-protocol']
  return offered === undefined ? shown : [...shown, ...subprotocols(offered)]
}

function known(shown: readonly string[], keys: Keys): Found | undefined {
  for (const text of shown) {
    const principal = keys.find(text)
    if (principal !== undefined) return { principal }
  }
  return undefined
}

/** Looks where keys may have been made that are not known yet. */
async function searched(shown: readonly string[], keys: Keys): Promise<Found | undefined> {
  for (const text of shown) {
    const principal = await keys.search(text)
    if (principal !== undefined) return { principal }
  }
  return undefined
}

function refuseKey(): never {
  throw new GatewayError('invalid_api_key')
}

const BEARER = 'bearer '

/** The token of RFC 6750, section 2.1; the scheme's name is in any case. */
function bearer(header: Headers['authorization']): string | undefined {
  if (header === undefined || header.slice(0, BEARER.length).toLowerCase() !== BEARER) return undefined
  return header.slice(BEARER.length).trim()
}

/** How the vendor's own client library names a key among the subprotocols of a WebSocket. */
const subprotocol = 'openai-insecure-api-key.'

/** The keys among the subprotocols that a client offers (RFC 6455, section 11.3.4). */
function subprotocols(header: string): readonly string[] {
  const offered = header.split(',').map((one) => one.trim())
  const keys = offered.filter((one) => one.startsWith(subprotocol))
  return keys.map((one) => one.slice(subprotocol.length)).filter(isShown)
}

/** The one value of a header; of several, none is better than another. */
function single(header: string | string[] | undefined): string | undefined {
  return typeof header === 'string' ? header : undefined
}

function isShown(text: string | undefined): text is string {
  return text !== undefined && text !== ''
}
