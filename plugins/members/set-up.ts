import { randomUUIDv7, timingSafeEqual } from 'node:crypto'
import { GatewayError, defineAction } from '../../engine/index.ts'
import { InTurn } from './in-turn.ts'
import { memberEntry } from './member-entry.ts'
import { memberOf, usernameSchema } from './member.ts'
import { checkPassword, passwordSchema } from './password-rules.ts'
import { sessionShape, shownSession } from './session-reply.ts'
import type { MembersTable } from './table.ts'

/** Those who try at the same time wait for each other. */
const turns = new InTurn()

/** Makes the first member, an admin, and signs it in. However many try at the same time, one succeeds. */
export default defineAction({
  name: 'set-up',
  summary: 'Make the first admin, with the token that the gateway prints at its start, and open a session.',
  route: 'POST /api/auth/setup',
  access: { public: true, reason: 'nobody can sign in before there is a member' },
  body: {
    type: 'object',
    additionalProperties: false,
    required: ['token', 'username', 'password'],
    properties: {
      token: { type: 'string', maxLength: 256, description: 'The setup token, which the gateway prints at its start.' },
      username: usernameSchema,
      password: { ...passwordSchema, description: 'Password of the admin.' },
    },
  },
  answer: sessionShape,
  status: 201,
  errors: ['setup_done', 'invalid_setup_token', 'too_many_attempts'],
  writes: 'own audit row',
  uses: ['members', 'member_sessions', 'audit'],
  async before(_asked, { members }) {
    if (await members.store.hasMembers()) throw new GatewayError('setup_done')
  },
  async run({ ingress, body: { token, username: name, password } }, services, scope) {
    const { members, member_sessions: sessions, audit } = services
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
    return shownSession(sessions.issue(made), made)
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
