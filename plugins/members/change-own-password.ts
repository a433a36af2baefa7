import { GatewayError, defineStage, noConfig } from '../../engine/index.ts'
import { readQuery, requesterOf } from '../../engine/kit.ts'
import { memberOf } from './member.ts'
import { checkPassword, passwordSchema } from './password-rules.ts'
import { normal } from './password.ts'
import { sessionReply } from './session-reply.ts'

/** Changes the password of the member who asks. All sessions end, and a new one begins. */
export default defineStage({
  name: 'change-own-password',
  summary: 'Change the password of the member who asks.',
  config: noConfig,
  body: {
    type: 'object',
    additionalProperties: false,
    required: ['current_password', 'new_password'],
    properties: {
      current_password: { ...passwordSchema, title: 'Current password', description: 'The password until now.' },
      new_password: { ...passwordSchema, title: 'New password', description: 'The password from now on.' },
    },
  } as const,
  needs: ['ingress', 'principal'],
  provides: ['reply'],
  uses: ['members', 'member_sessions', 'team'],
  build:
    (_config, _host, { members, member_sessions: sessions, team }) =>
    async ({ input, ingress, principal }, scope) => {
      readQuery(ingress.query)
      const { id, name: username } = principal
      const { current_password: current, new_password: password } = input
      await checkPassword(password, { username, least: members.leastPassword, param: 'new_password' })
      // Otherwise a password that must be changed, which its maker knows, could stay.
      if (normal(password) === normal(current))
        throw new GatewayError('invalid_field', { param: 'new_password', reason: 'must differ from the current one' })
      await members.confirm(id, current, ingress.remote)
      const by = requesterOf(scope, { ingress, principal })
      const row = await team.changeOwn(id, { password, action: 'me.password' }, { by })
      const member = memberOf(row)
      return { reply: sessionReply(sessions.issue(member), member) }
    },
})
