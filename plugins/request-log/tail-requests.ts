import { defineStage, noConfig } from '../../engine/index.ts'
import { asGatewayError, bearerToken, parsedObject, readQuery } from '../../engine/kit.ts'
import type { Ingress, Services } from '../../engine/index.ts'
import { filterFields, filterOf, ownKeysOf } from './filter.ts'

/** Answers new rows of the request log as they are written, for as long as the session of the reader lasts. */
export default defineStage({
  name: 'tail-requests',
  summary: 'Answer new rows of the request log as server-sent events.',
  config: noConfig,
  needs: ['ingress', 'principal'],
  provides: ['reply'],
  uses: ['requests', 'api_keys', 'sessions'],
  build:
    (_config, _host, { requests, api_keys: keys, sessions }) =>
    ({ ingress, principal }, scope) => {
      const filter = filterOf(readQuery(ingress.query, filterFields))
      const source = requests.tail(principal.id, scope, {
        filter: () => ({ ...filter, ownKeys: ownKeysOf(principal, keys) }),
        lastId: lastIdOf(ingress),
        over: () => overOf(ingress, sessions),
      })
      return {
        reply: {
          status: 200,
          headers: { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' },
          body: { kind: 'stream', source, type: 'text/event-stream', lasting: true, keepalive: () => comment },
        },
      }
    },
})

/** A comment of server-sent events: browsers ignore it, and nobody closes the silent connection. */
const comment = Buffer.from(':\n\n')

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
