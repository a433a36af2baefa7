import { GatewayError, defineStage, noConfig } from '../../engine/index.ts'
import { bearerToken, readQuery } from '../../engine/kit.ts'
import { sessionReply } from './session-reply.ts'

/** Milliseconds for which the old token stays valid: requests with it may be under way. */
const grace = 30_000

/**
 * Replaces the token of a session by a new one. Rejects with `session_over` when the session has reached its longest
 * life.
 */
export default defineStage({
  name: 'renew-session',
  summary: 'Replace the token of a session by a new one.',
  config: noConfig,
  body: { type: 'object', additionalProperties: false, properties: {} } as const,
  needs: ['ingress', 'principal'],
  provides: ['reply'],
  uses: ['members', 'member_sessions'],
  build:
    (_config, _host, { members, member_sessions: sessions }) =>
    async ({ ingress }) => {
      readQuery(ingress.query)
      const session = await sessions.find(bearerToken(ingress.headers) ?? '')
      // It was valid when `auth` looked.
      if (session === undefined) throw new GatewayError('invalid_token', { authenticate: 'Bearer' })
      if (session.endsAt <= Date.now()) throw new GatewayError('session_over', { authenticate: 'Bearer' })
      await members.store.change((transaction) => sessions.retire(transaction, session, grace))
      const { member, claims } = session
      return { reply: sessionReply(sessions.issue(member, claims), member) }
    },
})
