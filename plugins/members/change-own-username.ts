import { defineAction } from '../../engine/index.ts'
import { usernameSchema } from './member.ts'
import { accountShape, shownAccount } from './own-account.ts'
import { passwordSchema } from './password-rules.ts'

/** Changes the username of the member who asks. */
export default defineAction({
  name: 'change-own-username',
  summary: 'Change the username of the member who asks.',
  route: 'POST /api/me/username',
  access: { role: 'any' },
  body: {
    type: 'object',
    additionalProperties: false,
    required: ['username', 'current_password'],
    properties: {
      username: usernameSchema,
      current_password: { ...passwordSchema, title: 'Current password', description: 'Password of the member.' },
    },
  },
  answer: accountShape,
  errors: ['wrong_password', 'name_taken', 'too_many_attempts'],
  writes: 'own audit row',
  uses: ['members', 'member_sessions', 'team', 'key_policy'],
  async run({ body: { username, current_password: password }, ingress, principal, by }, { members, team, ...facts }) {
    await members.confirm(principal.id, password, ingress.remote)
    const row = await team.changeOwn(principal.id, { username, action: 'me.username' }, { by })
    return shownAccount(row, ingress, facts)
  },
})
