import { GatewayError, defineStage, noConfig } from '../../engine/index.ts'
import { memberOf } from './member.ts'
import { passwordSchema } from './password-rules.ts'
import { sessionReply } from './session-reply.ts'

/**
 * Opens a session for a username and its password. Rejects with `invalid_credentials` after the same time, whether the
 * name is unknown, the password is wrong or the member is disabled.
 */
export default defineStage({
  name: 'sign-in',
  summary: 'Open a session for a username and a password.',
  config: noConfig,
  body: {
    type: 'object',
    additionalProperties: false,
    required: ['username', 'password'],
    properties: {
      username: { type: 'string', maxLength: 256, description: 'Username, in upper or lower case.' },
      password: { ...passwordSchema, description: 'Password of the member.' },
    },
  } as const,
  needs: ['ingress'],
  provides: ['reply'],
  uses: ['members', 'member_sessions'],
  build:
    (_config, _host, { members, member_sessions: sessions }) =>
    async ({ ingress, input: { username, password } }) => {
      const { store, passwords, attempts } = members
      const member = await attempts.run({ username, address: ingress.remote }, async () => {
        const row = await store.read(username)
        const isRight = await passwords.isRight(password, row?.password)
        if (row === undefined || !isRight || row.disabled !== 0) return undefined
        // Unless the password or the access has changed meanwhile.
        const isCurrent = await store.noteLogin(row, Date.now())
        return isCurrent ? memberOf(row) : undefined
      })
      if (member === undefined) throw new GatewayError('invalid_credentials')
      return { reply: sessionReply(sessions.issue(member), member) }
    },
})
