import { defineStage, noConfig } from '../../engine/index.ts'
import { jsonReply, readQuery } from '../../engine/kit.ts'
import { ownRow } from './own-account.ts'

/** Returns whether the requests of the member who asks are traced. */
export default defineStage({
  name: 'show-own-tracing',
  summary: 'Return whether the requests of the member who asks are traced.',
  config: noConfig,
  needs: ['ingress', 'principal'],
  provides: ['reply'],
  uses: ['team'],
  build:
    (_config, _host, { team }) =>
    async ({ ingress, principal }) => {
      readQuery(ingress.query)
      return { reply: jsonReply({ enabled: (await ownRow(team, principal)).tracing !== 0 }) }
    },
})
