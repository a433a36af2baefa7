import { defineAction } from '../../engine/index.ts'
import { versionsIn } from '../../engine/kit.ts'

/** Deletes a member: the sessions end, and the member's keys are disabled. */
export default defineAction({
  name: 'delete-member',
  summary: 'Delete a member.',
  route: 'DELETE /api/team/members/:id',
  access: { role: 'admin' },
  errors: ['own_account', 'last_admin', 'stale_version'],
  writes: 'own audit row',
  uses: ['team'],
  run: ({ params: { id }, by, ingress }, { team }) => team.remove(id, { by }, versionsIn(ingress).versions),
})
