import { defineAction } from '../../engine/index.ts'
import { bearerToken } from '../../engine/kit.ts'
import { memberEntry } from './member-entry.ts'

/** Ends the session of the client, or all sessions of its member. Succeeds with any token, and without one. */
export default defineAction({
  name: 'sign-out',
  summary: 'End the session of the client.',
  route: 'POST /api/auth/logout',
  access: { public: true, reason: 'whoever has a token that has ended signs out, too' },
  body: {
    type: 'object',
    additionalProperties: false,
    properties: {
      everywhere: { type: 'boolean', default: false, description: 'Whether all sessions of the member end.' },
    },
  },
  writes: 'own audit row',
  uses: ['members', 'member_sessions', 'audit'],
  async run({ ingress, body: { everywhere } }, { members, member_sessions: sessions, audit }, scope) {
    const { store } = members
    const session = await sessions.find(bearerToken(ingress.headers) ?? '')
    if (session === undefined) return
    await store.change(async (transaction) => {
      await sessions.end(transaction, session)
      if (everywhere) await store.endSessions(transaction, session.member.id)
      const entry = memberEntry('auth.logout', session.member, { ingress, scope, details: { everywhere } })
      await audit.append(transaction, entry)
    })
  },
})
