import { defineStage, noConfig } from '../../engine/index.ts'
import { readQuery, requesterOf, versionsIn } from '../../engine/kit.ts'
import { chosenPassword, currentPassword } from './member-body.ts'
import { memberReply } from './member-reply.ts'
import { noteOwn } from './member-rules.ts'

/** Sets a new password of a member, by the path's `:id`, and ends the sessions. Without one in the body, it is made. */
export default defineStage({
  name: 'reset-member-password',
  summary: 'Set a new password of a member.',
  config: noConfig,
  body: {
    type: 'object',
    additionalProperties: false,
    properties: { password: chosenPassword, current_password: currentPassword },
  } as const,
  needs: ['ingress', 'principal'],
  provides: ['reply'],
  uses: ['members', 'team', 'audit', 'api_keys', 'limits'],
  build:
    (_config, host, { members, team, audit, ...facts }) =>
    async ({ input: { password, current_password: current }, ...slots }, scope) => {
      const { query, params } = slots.ingress
      readQuery(query)
      const by = requesterOf(scope, slots)
      const { versions } = versionsIn(slots.ingress)
      const author = { by, confirmed: await members.isConfirmed(slots, current) }
      const resetting = team.resetPassword(params['id'] ?? '', password, author, versions)
      const { row, temporary } = await noteOwn(resetting, audit, { by, action: host.pipeline.name })
      const more = temporary === undefined ? {} : { temporary_password: temporary }
      return { reply: await memberReply(row, facts, { more }) }
    },
})
