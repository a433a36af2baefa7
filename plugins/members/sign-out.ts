import { defineStage, noConfig } from '../../engine/index.ts'
import { bearerToken, emptyReply, readQuery } from '../../engine/kit.ts'
import { memberEntry } from './member-entry.ts'

/** Ends the session of the client, or all sessions of its member. Succeeds with any token, and without one. */
export default defineStage({
  name: 'sign-out',
  summary: 'End the session of the client.',
  config: noConfig,
  body: {
    type: 'object',
    additionalProperties: false,
    properties: {
      everywhere: { type: 'boolean', default: false, description: 'Whether all sessions of the member end.' },
    },
  } as const,
  needs: ['ingress'],
  provides: ['reply'],
  uses: ['members', 'member_sessions', 'audit'],
  build:
    (_config, _host, { members, member_sessions: sessions, audit }) =>
    async ({ ingress, input: { everywhere } }, scope) => {
      readQuery(ingress.query)
      const { store } = members
      const session = await sessions.find(bearerToken(ingress.headers) ?? '')
      if (session === undefined) return { reply: emptyReply }
      await store.change(async (transaction) => {
        await sessions.end(transaction, session)
        if (everywhere) await store.endSessions(transaction, session.member.id)
        const entry = memberEntry('auth.logout', session.member, { ingress, scope, details: { everywhere } })
        await audit.append(transaction, entry)
      })
      return { reply: emptyReply }
    },
})
