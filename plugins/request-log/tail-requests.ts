import { defineAction } from '../../engine/index.ts'
import { asGatewayError, bearerToken, parsedObject } from '../../engine/kit.ts'
import type { Ingress, Services } from '../../engine/index.ts'
import { filterFields, filterOf, ownKeysOf } from './filter.ts'
import { itemShape } from './shown.ts'

/** Answers new rows of the request log as they are written, for as long as the session of the reader lasts. */
export default defineAction({
  name: 'tail-requests',
  summary: 'Answer new rows of the request log as server-sent events.',
  route: 'GET /api/logs/tail',
  access: { role: 'viewer' },
  query: filterFields,
  errors: ['rate_limit_exceeded'],
  stream: 'events',
  answer: itemShape,
  uses: ['requests', 'api_keys', 'sessions'],
  run({ ingress, query, principal }, { requests, api_keys: keys, sessions }, scope) {
    const filter = filterOf(query)
    return requests.tail(principal.id, scope, {
      filter: () => ({ ...filter, ownKeys: ownKeysOf(principal, keys) }),
      lastId: lastIdOf(ingress),
      over: () => overOf(ingress, sessions),
    })
  },
})

function lastIdOf({ headers }: Ingress): string | undefined {
  const id = headers['last-event-id']
  return typeof id === 'string' && id !== '' ? id : undefined
}

/** Why a session has ended; undefined: it has not, or nobody can tell at present. */
async function overOf(
  { headers }: Ingress,
  sessions: Services['sessions'],
): Promise<'expired' | 'revoked' | undefined> {
  const token = bearerToken(headers) ?? ''
  try {
    if (await sessions.find(token)) return undefined
  } catch (error) {
    if (asGatewayError(error).failure.status !== 401) return undefined
  }
  const { exp } = parsedObject(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) ?? {}
  return typeof exp === 'number' && exp * 1000 <= Date.now() ? 'expired' : 'revoked'
}
