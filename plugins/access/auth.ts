import { GatewayError, Refusal, defineStage } from '../../engine/index.ts'
import { bearerToken, isOfRole, requesterOf } from '../../engine/kit.ts'
import type { Ingress, Principal, Scope, Services, Slots } from '../../engine/index.ts'
import type { Also, Sessions } from './sessions.ts'

type Headers = Ingress['headers']
type Keys = Pick<Services['api_keys'], 'find' | 'search'>
type Limits = Pick<Services['limits'], 'refusedKeys'>

/**
 * Authenticates the client. An API key is read from `authorization: Bearer`, `x-api-key` or `x-goog-api-key`. Browsers
 * cannot set headers of a WebSocket, so keys are also read from its subprotocols, of which the first valid one counts.
 * The token of a session is read from `authorization: Bearer` alone. Neither is ever read from the query or a cookie:
 * URLs end up in logs, and browsers send cookies with requests from other sites.
 */
export default defineStage({
  name: 'auth',
  summary: 'Authenticate the client, or reject the request.',
  config: {
    type: 'object',
    additionalProperties: false,
    properties: {
      with: {
        enum: ['key', 'session', 'either', 'action', 'scraper'],
        default: 'key',
        description:
          'Credentials to accept: an API key, the token of a session, either, or those that the action of the request says; nobody is asked for a public one. "scraper": a session, or an API key that may read metrics; nobody is asked while telemetry.metrics.access is open.',
      },
      role: {
        enum: ['viewer', 'admin'],
        description: 'Lowest role of the member; an admin may do everything that a viewer may. Unset: any role.',
      },
      also: {
        type: 'array',
        items: { enum: ['pending', 'over'] },
        minItems: 1,
        uniqueItems: true,
        description:
          'Sessions to accept that are refused elsewhere: "pending", of a member who must change the password first; "over", which has reached its longest life.',
      },
    },
  } as const,
  uses: ['sessions', 'api_keys', 'limits', 'metrics'],
  needs: ['ingress'],
  provides: [],
  gives: ['principal'],
  assures: ({ with: shows }) => (shows === 'action' ? [] : ['principal']),
  check({ with: shows }, { usersOf }, report) {
    if (shows === 'key' || usersOf('sessions').length > 0) return
    report(['with'], 'nobody can sign in: no plugin brings a service that uses "sessions" and says who holds one')
  },
  build({ with: shows, role, also }, { pipeline, refused }, { sessions, api_keys: keys, limits, metrics }) {
    if (role !== undefined && shows === 'key')
      throw new Refusal('API keys have no role; say "with: session" or "with: either"', ['role'])
    if (also !== undefined && shows === 'key') throw new Refusal('API keys have no sessions', ['also'])
    const member = async ({ ingress }: Pick<Slots, 'ingress'>, scope: Scope, wanted: Wanted) => {
      const { headers, method } = ingress
      const refuse = async (principal: Principal, error: GatewayError) => {
        const by = requesterOf(scope, { ingress, principal })
        if (!['GET', 'HEAD'].includes(method)) await refused({ by, action: wanted.action, code: error.code })
        throw error
      }
      const more: Also = new Set(wanted.also)
      const open = async () =>
        shows === 'session' || shows === 'action'
          ? bySession(headers, sessions, more)
          : byEither(headers, keys, sessions, more)
      const principal = await open().catch(async (error: unknown) => {
        const isPending = error instanceof GatewayError && error.code === 'password_change_required'
        const pending = isPending ? await sessions.find(bearerToken(headers) ?? '', anySession) : undefined
        return isPending && pending ? refuse(pending, error) : Promise.reject(error)
      })
      return isOfRole(principal, wanted.role) ? { principal } : refuse(principal, new GatewayError('forbidden'))
    }
    if (shows === 'key') return ({ ingress }) => byKey(ingress, keys, limits)
    if (shows === 'scraper')
      return async (slots, scope) => {
        // What is switched off is not there for anybody.
        if (metrics.access === 'open' || !metrics.enabled) return { principal: anyone }
        const found = await member(slots, scope, { action: pipeline.name })
        if (found.principal.kind === 'key' && found.principal.metrics !== true) throw new GatewayError('forbidden')
        return found
      }
    if (shows !== 'action') return (slots, scope) => member(slots, scope, { action: pipeline.name, role, also })
    if ((role ?? also) !== undefined) throw new Refusal('the action says who may run it', [role ? 'role' : 'also'])
    const { actionAt } = pipeline
    if (!actionAt) throw new Refusal('this pipeline does not run one action per route; it needs one "act"', ['with'])
    return (slots, scope) => {
      const { ingress } = slots
      const { name, access } = actionAt(ingress) ?? {}
      if (name === undefined || access === undefined) throw new GatewayError('internal_error')
      if ('public' in access) return {}
      return 'key' in access ? byKey(ingress, keys, limits) : member(slots, scope, { action: name, ...access })
    }
  },
})

/** Which members may pass, and what the audit trail calls a refusal of others. */
interface Wanted {
  readonly action: string
  readonly role?: Parameters<typeof isOfRole>[1] | undefined
  readonly also?: readonly ('pending' | 'over')[] | undefined
}

/** Who reads metrics that are open to anybody. */
const anyone: Principal = { kind: 'key', id: 'anyone', name: 'anyone' }

const anySession: Also = new Set(['pending', 'over'])

type Found = { readonly principal: Principal }

function byKey(ingress: Ingress, keys: Keys, limits: Limits): Found | Promise<Found> {
  const { headers } = ingress
  // Nearly every client sends one key, as a bearer token.
  const token = bearerToken(headers)
  const principal = isShown(token) ? keys.find(token) : undefined
  if (principal) return { principal }
  const shown = keysOf(headers)
  if (shown.length === 0) {
    const message = ingress.query.has('key') ? keyInAddress : noKey
    throw new GatewayError('invalid_api_key', bearerScheme, { message })
  }
  return known(shown, keys) ?? searchedFrom(ingress.remote, shown, keys, limits)
}

/** Looks for an unknown key. An address that has sent too many of them gets 429 instead. */
async function searchedFrom(address: string, shown: readonly string[], keys: Keys, limits: Limits): Promise<Found> {
  const takeBack = await limits.refusedKeys.count(address)
  const found = await searched(shown, keys)
  if (!found) throw new GatewayError('invalid_api_key', bearerScheme)
  await takeBack()
  return found
}

async function bySession(headers: Headers, sessions: Sessions, also: Also): Promise<Principal> {
  const token = bearerToken(headers)
  if (!isShown(token)) throw new GatewayError('invalid_token', bearerScheme, { message: noToken })
  const holder = await sessions.find(token, also)
  if (holder === undefined) throw new GatewayError('invalid_token', bearerScheme)
  return holder
}

async function byEither(headers: Headers, keys: Keys, sessions: Sessions, also: Also): Promise<Principal> {
  const shown = keysOf(headers)
  const found = known(shown, keys) ?? (await searched(shown, keys))
  return found ? found.principal : bySession(headers, sessions, also)
}

const noKey = 'No API key was sent. Send it as "authorization: Bearer <key>" or as "x-api-key: <key>".'
const keyInAddress =
  'API keys are not read from the address, because addresses end up in logs. Send yours as "x-goog-api-key: <key>" or as "authorization: Bearer <key>".'
// A longer word would look like a token, and be hidden.
const noToken = 'No session token was sent. Send it as "authorization: Bearer <jwt>".'

/** The challenge of a 401 response (RFC 9110, section 11.6.1). */
const bearerScheme = { authenticate: 'Bearer' }

/** Further headers with a key, of the official clients of two vendors. */
const keyHeaders = ['x-api-key', 'x-goog-api-key'] as const

function keysOf(headers: Headers): readonly string[] {
  const shown = [bearerToken(headers), ...keyHeaders.map((name) => single(headers[name]))].filter(isShown)
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

/** Searches for keys that another process may just have made. */
async function searched(shown: readonly string[], keys: Keys): Promise<Found | undefined> {
  for (const text of shown) {
    const principal = await keys.search(text)
    if (principal !== undefined) return { principal }
  }
  return undefined
}

/** Prefix with which the vendor's official client sends a key as a WebSocket subprotocol. */
const subprotocol = 'openai-insecure-api-key.'

/** The keys among the subprotocols that a client offers (RFC 6455, section 11.3.4). */
function subprotocols(header: string): readonly string[] {
  const offered = header.split(',').map((one) => one.trim())
  const keys = offered.filter((one) => one.startsWith(subprotocol))
  return keys.map((one) => one.slice(subprotocol.length)).filter(isShown)
}

/** The value of a header; undefined if the header was sent more than once. */
function single(header: string | string[] | undefined): string | undefined {
  return typeof header === 'string' ? header : undefined
}

function isShown(text: string | undefined): text is string {
  return text !== undefined && text !== ''
}
