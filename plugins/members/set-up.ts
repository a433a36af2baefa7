import { randomUUIDv7, timingSafeEqual } from 'node:crypto'
import { GatewayError, defineStage, noConfig } from '../../engine/index.ts'
import { readQuery } from '../../engine/kit.ts'
import { InTurn } from './in-turn.ts'
import { memberEntry } from './member-entry.ts'
import { memberOf, usernameSchema } from './member.ts'
import { checkPassword, passwordSchema } from './password-rules.ts'
import { sessionReply } from './session-reply.ts'
import type { MembersTable } from './table.ts'

/** Makes the first member, an admin, and signs it in. However many try at the same time, one succeeds. */
export default defineStage({
  name: 'set-up',
  summary: 'Make the first admin, and open a session.',
  config: noConfig,
  body: {
    type: 'object',
    additionalProperties: false,
    required: ['token', 'username', 'password'],
    properties: {
      token: { type: 'string', maxLength: 256, description: 'The setup token, which the gateway prints at its start.' },
      username: usernameSchema,
      password: { ...passwordSchema, description: 'Password of the admin.' },
    },
  } as const,
  needs: ['ingress'],
  provides: ['reply'],
  uses: ['members', 'member_sessions', 'audit'],
  build(_config, _host, { members, member_sessions: sessions, audit }) {
    const turns = new InTurn()
    return async ({ ingress, input: { token, username: name, password } }, scope) => {
      readQuery(ingress.query)
      const { store, passwords, attempts, leastPassword } = members
      const username = name.toLowerCase()
      await checkPassword(password, { username, least: leastPassword, param: 'password' })
      const attempt = { username, address: ingress.remote }
      const isRight = await attempts.run(attempt, async () => isSame(token, members.setupToken()) || undefined)
      if (isRight === undefined) throw new GatewayError('invalid_setup_token')
      const made = await turns.take('', async () => {
        if (await store.hasMembers()) throw new GatewayError('setup_done')
        const row = firstMember(username, await passwords.hash(password))
        const member = memberOf(row)
        await store.change(async (transaction) => {
          // Another process may have been first: changes run one after the other.
          const others = await transaction.selectFrom('members').select('id').limit(1).execute()
          if (others.length > 0) throw new GatewayError('setup_done')
          await transaction.insertInto('members').values(row).execute()
          await audit.append(transaction, memberEntry('auth.setup', member, { ingress, scope }))
        })
        return member
      })
      return { reply: sessionReply(sessions.issue(made), made, 201) }
    }
  },
})

function firstMember(username: string, password: string): MembersTable {
  const now = Date.now()
  return {
    id: randomUUIDv7(),
    username,
    role: 'admin',
    disabled: 0,
    must_change_password: 0,
    models: null,
    budget: null,
    rate_limit: null,
    tracing: 0,
    password,
    session_version: 1,
    version: 1,
    created_at: now,
    last_login_at: now,
  }
}

function isSame(token: string, expected: string): boolean {
  const [given, wanted] = [Buffer.from(token), Buffer.from(expected)]
  return given.length === wanted.length && timingSafeEqual(given, wanted)
}
