import { defineStage, noConfig } from '../../engine/index.ts'
import { readQuery, requesterOf } from '../../engine/kit.ts'
import { creationBody } from './member-body.ts'
import type { MemberFields } from './member-body.ts'
import { memberReply } from './member-reply.ts'

interface CreationBody extends MemberFields {
  readonly password?: string
  readonly current_password?: string
}

/** Creates a member. Without a password in the body, one is made and returned, only here. */
export default defineStage({
  name: 'create-member',
  summary: 'Create a member.',
  config: noConfig,
  body: () => creationBody,
  needs: ['ingress', 'principal'],
  provides: ['reply'],
  uses: ['members', 'team', 'api_keys', 'limits'],
  build:
    (_config, _host, { members, team, ...facts }) =>
    async ({ input, ...slots }, scope) => {
      readQuery(slots.ingress.query)
      const { password, current_password: current, ...fields } = input as unknown as CreationBody
      const confirmed = await members.isConfirmed(slots, current)
      const { row, temporary } = await team.create(fields, password, { by: requesterOf(scope, slots), confirmed })
      const reply = await memberReply(row, facts, {
        status: 201,
        headers: { location: `${slots.ingress.path}/${row.id}` },
        ...(temporary !== undefined && { more: { temporary_password: temporary } }),
      })
      return { reply }
    },
})
