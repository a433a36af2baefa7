import { GatewayError, defineStage, noConfig } from '../../engine/index.ts'
import { readQuery, requesterOf, versionsIn } from '../../engine/kit.ts'
import { changeBody } from './member-body.ts'
import { memberReply } from './member-reply.ts'

/** Changes a member, by the path's `:id`, with a merge patch (RFC 7396). */
export default defineStage({
  name: 'change-member',
  summary: 'Change a member.',
  config: noConfig,
  body: () => changeBody,
  needs: ['ingress', 'principal'],
  provides: ['reply'],
  uses: ['team', 'audit', 'api_keys', 'limits'],
  build:
    (_config, host, { team, audit, ...facts }) =>
    async ({ input, ...slots }, scope) => {
      const { query, params } = slots.ingress
      readQuery(query)
      const by = requesterOf(scope, slots)
      const changing = team.change(params['id'] ?? '', input, { by }, versionsIn(slots.ingress).versions)
      const row = await changing.catch(async (error: unknown) => {
        if (error instanceof GatewayError && error.code === 'own_account')
          await audit.refused({ by, action: host.pipeline.name, code: error.code })
        throw error
      })
      return { reply: await memberReply(row, facts) }
    },
})
