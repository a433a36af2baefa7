import { defineAction } from '../../engine/index.ts'
import { shape } from '../../engine/kit.ts'

/** Tells whether the first member must still be made. */
export default defineAction({
  name: 'show-setup',
  summary: 'Answer whether the first admin must still be made.',
  route: 'GET /api/auth/setup-status',
  access: { public: true, reason: 'nobody can sign in before there is a member' },
  answer: shape.object({ needed: shape.flag('Whether there is no member yet.') }),
  uses: ['members'],
  run: async (_input, { members }) => ({ needed: !(await members.store.hasMembers()) }),
})
