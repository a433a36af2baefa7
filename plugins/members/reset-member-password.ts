import { defineStage, noConfig } from '../../engine/index.ts'
import { readQuery, requesterOf, versionsIn } from '../../engine/kit.ts'
import { chosenPassword } from './member-body.ts'
import { memberReply } from './member-reply.ts'

/** Sets a new password of a member, by the path's `:id`, and ends the sessions. Without one in the body, it is made. */
export default defineStage({
  name: 'reset-member-password',
  summary: 'Set a new password of a member.',
  config: noConfig,
  body: { type: 'object', additionalProperties: false, properties: { password: chosenPassword } } as const,
  needs: ['ingress', 'principal'],
  provides: ['reply'],
  uses: ['team', 'api_keys', 'limits'],
  build:
    (_config, _host, { team, ...facts }) =>
    async ({ input: { password }, ...slots }, scope) => {
      const { query, params } = slots.ingress
      readQuery(query)
      const author = { by: requesterOf(scope, slots) }
      const { versions } = versionsIn(slots.ingress)
      const { row, temporary } = await team.resetPassword(params['id'] ?? '', password, author, versions)
      const more = temporary === undefined ? {} : { temporary_password: temporary }
      return { reply: await memberReply(row, facts, { more }) }
    },
})
