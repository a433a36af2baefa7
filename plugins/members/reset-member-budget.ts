import { defineStage, noConfig } from '../../engine/index.ts'
import { readQuery, requesterOf, versionsIn } from '../../engine/kit.ts'
import { memberReply } from './member-reply.ts'

/** Forgets what a member, by the path's `:id`, has spent in the running period. */
export default defineStage({
  name: 'reset-member-budget',
  summary: 'Forget what a member has spent.',
  config: noConfig,
  body: { type: 'object', additionalProperties: false, properties: {} } as const,
  needs: ['ingress', 'principal'],
  provides: ['reply'],
  uses: ['team', 'api_keys', 'limits'],
  build:
    (_config, _host, { team, ...facts }) =>
    async (slots, scope) => {
      const { query, params } = slots.ingress
      readQuery(query)
      const author = { by: requesterOf(scope, slots) }
      const row = await team.resetBudget(params['id'] ?? '', author, versionsIn(slots.ingress).versions)
      return { reply: await memberReply(row, facts) }
    },
})
