import { GatewayError, defineAction } from '../../engine/index.ts'
import { memberEntry } from './member-entry.ts'
import { memberOf } from './member.ts'
import { passwordSchema } from './password-rules.ts'
import { sessionShape, shownSession } from './session-reply.ts'

/**
 * Opens a session for a username and its password. Rejects with `invalid_credentials` after the same time, whether the
 * name is unknown, the password is wrong or the member is disabled.
 */
export default defineAction({
  name: 'sign-in',
  summary: 'Open a session for a username and a password.',
  route: 'POST /api/auth/login',
  access: { public: true, reason: 'a session begins here' },
  body: {
    type: 'object',
    additionalProperties: false,
    required: ['username', 'password'],
    properties: {
      username: { type: 'string', maxLength: 256, description: 'Username, in upper or lower case.' },
      password: { ...passwordSchema, description: 'Password of the member.' },
    },
  },
  answer: sessionShape,
  errors: ['invalid_credentials', 'too_many_attempts'],
  writes: 'own audit row',
  uses: ['members', 'member_sessions', 'audit'],
  async run({ ingress, by, body: { username, password } }, { members, member_sessions: sessions, audit }, scope) {
    const { store, passwords, attempts, refused } = members
    let id: string | undefined
    const member = await attempts.run({ username, address: ingress.remote }, async () => {
      const row = await store.read(username)
      id = row?.id
      const isRight = await passwords.isRight(password, row?.password)
      if (row === undefined || !isRight || row.disabled !== 0) return undefined
      // Unless the password or the access has changed meanwhile.
      const member = memberOf(row)
      const isCurrent = await store.noteLogin(row, (transaction) =>
        audit.append(transaction, memberEntry('auth.login', member, { ingress, scope })),
      )
      return isCurrent ? member : undefined
    })
    if (member === undefined) {
      refused.note({ username: username.toLowerCase(), id, by })
      throw new GatewayError('invalid_credentials')
    }
    return shownSession(sessions.issue(member), member)
  },
})
