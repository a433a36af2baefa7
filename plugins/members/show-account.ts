import { defineStage, noConfig } from '../../engine/index.ts'
import { jsonReply, readQuery } from '../../engine/kit.ts'
import { ownRow, shownAccount } from './own-account.ts'

/** Returns the account of the member who asks, and the session. */
export default defineStage({
  name: 'show-account',
  summary: 'Return the account of the member who asks.',
  config: noConfig,
  needs: ['ingress', 'principal'],
  provides: ['reply'],
  uses: ['team', 'member_sessions', 'key_policy'],
  build:
    (_config, _host, { team, ...facts }) =>
    async ({ ingress, principal }) => {
      readQuery(ingress.query)
      return { reply: jsonReply(await shownAccount(await ownRow(team, principal), ingress, facts)) }
    },
})
