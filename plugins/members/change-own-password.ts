import { GatewayError, defineAction } from '../../engine/index.ts'
import { memberOf } from './member.ts'
import { checkPassword, passwordSchema } from './password-rules.ts'
import { normal } from './password.ts'
import { sessionShape, shownSession } from './session-reply.ts'

/** Changes the password of the member who asks. All sessions end, and a new one begins. */
export default defineAction({
  name: 'change-own-password',
  summary: 'Change the password of the member who asks.',
  route: 'POST /api/me/password',
  access: { role: 'any', also: ['pending'] },
  body: {
    type: 'object',
    additionalProperties: false,
    required: ['current_password', 'new_password'],
    properties: {
      current_password: { ...passwordSchema, title: 'Current password', description: 'The password until now.' },
      new_password: { ...passwordSchema, title: 'New password', description: 'The password from now on.' },
    },
  },
  answer: sessionShape,
  errors: ['wrong_password', 'too_many_attempts'],
  writes: 'own audit row',
  uses: ['members', 'member_sessions', 'team'],
  async run({ body, ingress, principal, by }, { members, member_sessions: sessions, team }) {
    const { id, name: username } = principal
    const { current_password: current, new_password: password } = body
    await checkPassword(password, { username, least: members.leastPassword, param: 'new_password' })
    // Otherwise a password that must be changed, which its maker knows, could stay.
    if (normal(password) === normal(current))
      throw new GatewayError('invalid_field', { param: 'new_password', reason: 'must differ from the current one' })
    await members.confirm(id, current, ingress.remote)
    const row = await team.changeOwn(id, { password, action: 'me.password' }, { by })
    const member = memberOf(row)
    return shownSession(sessions.issue(member), member)
  },
})
