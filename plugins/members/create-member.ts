import { defineStage, noConfig } from '../../engine/index.ts'
import { readQuery, requesterOf } from '../../engine/kit.ts'
import { creationBody } from './member-body.ts'
import type { MemberFields } from './member-body.ts'
import { memberReply } from './member-reply.ts'

/** Creates a member. Without a password in the body, one is made and returned, only here. */
export default defineStage({
  name: 'create-member',
  summary: 'Create a member.',
  config: noConfig,
  body: () => creationBody,
  needs: ['ingress', 'principal'],
  provides: ['reply'],
  uses: ['team', 'api_keys', 'limits'],
  build:
    (_config, _host, { team, ...facts }) =>
    async ({ input, ...slots }, scope) => {
      readQuery(slots.ingress.query)
      const { password, ...fields } = input as unknown as MemberFields & { readonly password?: string }
      const { row, temporary } = await team.create(fields, password, { by: requesterOf(scope, slots) })
      const reply = await memberReply(row, facts, {
        status: 201,
        headers: { location: `${slots.ingress.path}/${row.id}` },
        ...(temporary !== undefined && { more: { temporary_password: temporary } }),
      })
      return { reply }
    },
})
