import { defineStage, noConfig } from '../../engine/index.ts'
import { readQuery } from '../../engine/kit.ts'
import { memberReply } from './member-reply.ts'

/** Returns a member, by the path's `:id`. */
export default defineStage({
  name: 'get-member',
  summary: 'Return a member.',
  config: noConfig,
  needs: ['ingress'],
  provides: ['reply'],
  uses: ['team', 'api_keys', 'limits'],
  build:
    (_config, _host, { team, ...facts }) =>
    async ({ ingress }) => {
      readQuery(ingress.query)
      return { reply: await memberReply(await team.get(ingress.params['id'] ?? ''), facts) }
    },
})
