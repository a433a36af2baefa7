import { defineStage, noConfig } from '../../engine/index.ts'
import { emptyReply, readQuery, requesterOf, versionsIn } from '../../engine/kit.ts'

/** Deletes a member, by the path's `:id`: the sessions end, and the member's keys are disabled. */
export default defineStage({
  name: 'delete-member',
  summary: 'Delete a member.',
  config: noConfig,
  needs: ['ingress', 'principal'],
  provides: ['reply'],
  uses: ['team'],
  build:
    (_config, _host, { team }) =>
    async (slots, scope) => {
      const { query, params } = slots.ingress
      readQuery(query)
      const author = { by: requesterOf(scope, slots) }
      await team.remove(params['id'] ?? '', author, versionsIn(slots.ingress).versions)
      return { reply: emptyReply }
    },
})
