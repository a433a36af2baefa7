import { defineAction } from '../../engine/index.ts'
import { versionsIn } from '../../engine/kit.ts'
import { chosenPassword, currentPassword } from './member-body.ts'
import { answeredMember, renewedShape } from './member-reply.ts'
import { noteOwn } from './member-rules.ts'

/** Sets a new password of a member, and ends the sessions. Without one in the body, it is made. */
export default defineAction({
  name: 'reset-member-password',
  summary: 'Set a new password of a member.',
  route: 'POST /api/team/members/:id/reset-password',
  access: { role: 'admin' },
  body: {
    type: 'object',
    additionalProperties: false,
    properties: { password: chosenPassword, current_password: currentPassword },
  },
  answer: renewedShape,
  errors: ['own_account', 'stale_version', 'wrong_password'],
  writes: 'own audit row',
  uses: ['members', 'team', 'audit', 'api_keys', 'limits'],
  async run(input, { members, team, audit, ...facts }) {
    const { by, params, ingress, body } = input
    const { versions } = versionsIn(ingress)
    const author = { by, confirmed: await members.isConfirmed(input, body.current_password) }
    const resetting = team.resetPassword(params.id, body.password, author, versions)
    const { row, temporary } = await noteOwn(resetting, audit, { by, action: 'reset-member-password' })
    return answeredMember(row, facts, { more: temporary === undefined ? {} : { temporary_password: temporary } })
  },
})
