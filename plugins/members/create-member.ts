import { defineAction } from '../../engine/index.ts'
import { creationBody } from './member-body.ts'
import type { MemberFields } from './member-body.ts'
import { answeredMember, renewedShape } from './member-reply.ts'

interface CreationBody extends MemberFields {
  readonly password?: string
  readonly current_password?: string
}

/** Creates a member. Without a password in the body, one is made and answered, only here. */
export default defineAction({
  name: 'create-member',
  summary: 'Create a member.',
  route: 'POST /api/team/members',
  access: { role: 'admin' },
  body: creationBody,
  answer: renewedShape,
  status: 201,
  errors: ['name_taken', 'invalid_reference', 'wrong_password'],
  writes: 'own audit row',
  uses: ['members', 'team', 'api_keys', 'limits'],
  async run(input, { members, team, ...facts }) {
    const { by, ingress } = input
    const { password, current_password: current, ...fields } = input.body as unknown as CreationBody
    const confirmed = await members.isConfirmed(input, current)
    const { row, temporary } = await team.create(fields, password, { by, confirmed })
    const more = temporary === undefined ? {} : { temporary_password: temporary }
    return answeredMember(row, facts, { location: `${ingress.path}/${row.id}`, more })
  },
})
