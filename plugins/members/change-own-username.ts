import { defineStage, noConfig } from '../../engine/index.ts'
import { jsonReply, readQuery, requesterOf } from '../../engine/kit.ts'
import { usernameSchema } from './member.ts'
import { shownAccount } from './own-account.ts'
import { passwordSchema } from './password-rules.ts'

/** Changes the username of the member who asks. */
export default defineStage({
  name: 'change-own-username',
  summary: 'Change the username of the member who asks.',
  config: noConfig,
  body: {
    type: 'object',
    additionalProperties: false,
    required: ['username', 'current_password'],
    properties: {
      username: usernameSchema,
      current_password: { ...passwordSchema, title: 'Current password', description: 'Password of the member.' },
    },
  } as const,
  needs: ['ingress', 'principal'],
  provides: ['reply'],
  uses: ['members', 'member_sessions', 'team', 'key_policy'],
  build:
    (_config, _host, { members, team, ...facts }) =>
    async ({ input: { username, current_password: password }, ingress, principal }, scope) => {
      readQuery(ingress.query)
      await members.confirm(principal.id, password, ingress.remote)
      const by = requesterOf(scope, { ingress, principal })
      const row = await team.changeOwn(principal.id, { username, action: 'me.username' }, { by })
      return { reply: jsonReply(await shownAccount(row, ingress, facts)) }
    },
})
