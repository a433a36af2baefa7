import { defineAction } from '../../engine/index.ts'
import type { JsonObject } from '../../engine/index.ts'
import { versionsIn } from '../../engine/kit.ts'
import { changeBody } from './member-body.ts'
import { answeredMember, memberShape } from './member-reply.ts'
import { noteOwn } from './member-rules.ts'

type ChangeBody = JsonObject & { readonly current_password?: string | null }

/** Changes a member with a merge patch (RFC 7396). */
export default defineAction({
  name: 'change-member',
  summary: 'Change a member with a merge patch (RFC 7396).',
  route: 'PATCH /api/team/members/:id',
  access: { role: 'admin' },
  body: changeBody,
  answer: memberShape,
  errors: ['own_account', 'last_admin', 'name_taken', 'invalid_reference', 'stale_version', 'wrong_password'],
  writes: 'own audit row',
  uses: ['members', 'team', 'audit', 'api_keys', 'limits'],
  async run(input, { members, team, audit, ...facts }) {
    const { by, params, ingress } = input
    const { versions } = versionsIn(ingress)
    const { current_password: current, ...patch } = input.body as ChangeBody
    const author = { by, confirmed: await members.isConfirmed(input, current) }
    const row = await noteOwn(team.change(params.id, patch, author, versions), audit, { by, action: 'change-member' })
    return answeredMember(row, facts)
  },
})
