import { defineStage, noConfig } from '../../engine/index.ts'
import type { JsonObject } from '../../engine/index.ts'
import { readQuery, requesterOf, versionsIn } from '../../engine/kit.ts'
import { changeBody } from './member-body.ts'
import { memberReply } from './member-reply.ts'
import { noteOwn } from './member-rules.ts'

type ChangeBody = JsonObject & { readonly current_password?: string | null }

/** Changes a member, by the path's `:id`, with a merge patch (RFC 7396). */
export default defineStage({
  name: 'change-member',
  summary: 'Change a member.',
  config: noConfig,
  body: () => changeBody,
  needs: ['ingress', 'principal'],
  provides: ['reply'],
  uses: ['members', 'team', 'audit', 'api_keys', 'limits'],
  build:
    (_config, host, { members, team, audit, ...facts }) =>
    async ({ input, ...slots }, scope) => {
      const { query, params } = slots.ingress
      readQuery(query)
      const by = requesterOf(scope, slots)
      const { versions } = versionsIn(slots.ingress)
      const { current_password: current, ...patch } = input as ChangeBody
      const author = { by, confirmed: await members.isConfirmed(slots, current) }
      const changing = team.change(params['id'] ?? '', patch, author, versions)
      const row = await noteOwn(changing, audit, { by, action: host.pipeline.name })
      return { reply: await memberReply(row, facts) }
    },
})
