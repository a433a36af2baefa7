import { GatewayError, defineAction } from '../../engine/index.ts'
import { bearerToken } from '../../engine/kit.ts'
import { sessionShape, shownSession } from './session-reply.ts'

/** Milliseconds for which the old token stays valid: requests with it may be under way. */
const grace = 30_000

/**
 * Replaces the token of a session by a new one. Rejects with `session_over` when the session has reached its longest
 * life.
 */
export default defineAction({
  name: 'renew-session',
  summary: 'Replace the token of a session by a new one.',
  route: 'POST /api/auth/renew',
  access: { role: 'any', also: ['pending', 'over'] },
  body: { type: 'object', additionalProperties: false, properties: {} },
  answer: sessionShape,
  errors: ['session_over'],
  writes: { not: 'a session goes on' },
  uses: ['members', 'member_sessions'],
  async run({ ingress }, { members, member_sessions: sessions }) {
    const session = await sessions.find(bearerToken(ingress.headers) ?? '')
    // It was valid when `auth` looked.
    if (session === undefined) throw new GatewayError('invalid_token', { authenticate: 'Bearer' })
    if (session.endsAt <= Date.now()) throw new GatewayError('session_over', { authenticate: 'Bearer' })
    await members.store.change((transaction) => sessions.retire(transaction, session, grace))
    const { member, claims } = session
    return shownSession(sessions.issue(member, claims), member)
  },
})
