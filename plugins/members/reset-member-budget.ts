import { defineAction } from '../../engine/index.ts'
import { versionsIn } from '../../engine/kit.ts'
import { answeredMember, memberShape } from './member-reply.ts'

/** Forgets what a member has spent in the running period. */
export default defineAction({
  name: 'reset-member-budget',
  summary: 'Forget what a member has spent.',
  route: 'POST /api/team/members/:id/reset-budget',
  access: { role: 'admin' },
  body: { type: 'object', additionalProperties: false, properties: {} },
  answer: memberShape,
  errors: ['stale_version'],
  writes: 'own audit row',
  uses: ['team', 'api_keys', 'limits'],
  async run({ params: { id }, by, ingress }, { team, ...facts }) {
    return answeredMember(await team.resetBudget(id, { by }, versionsIn(ingress).versions), facts)
  },
})
