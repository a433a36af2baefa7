import { defineAction } from '../../engine/index.ts'
import { answeredMember, memberShape } from './member-reply.ts'

/** Answers a member. */
export default defineAction({
  name: 'get-member',
  summary: 'Answer a member.',
  route: 'GET /api/team/members/:id',
  access: { role: 'admin' },
  answer: memberShape,
  uses: ['team', 'api_keys', 'limits'],
  run: async ({ params: { id } }, { team, ...facts }) => answeredMember(await team.get(id), facts),
})
