import { defineAction } from '../../engine/index.ts'
import { accountShape, ownRow, shownAccount } from './own-account.ts'

/** Answers the account of the member who asks, and the session. */
export default defineAction({
  name: 'show-account',
  summary: 'Answer the account of the member who asks, and the session.',
  route: 'GET /api/me',
  access: { role: 'any', also: ['pending'] },
  answer: accountShape,
  uses: ['team', 'member_sessions', 'key_policy'],
  run: async ({ ingress, principal }, { team, ...facts }) =>
    shownAccount(await ownRow(team, principal), ingress, facts),
})
