import { defineStage, noConfig } from '../../engine/index.ts'
import { jsonReply, readQuery } from '../../engine/kit.ts'

/** Verifies the whole audit trail. Flaws are part of the answer, which is always 200. */
export default defineStage({
  name: 'verify-audit',
  summary: 'Verify the audit trail.',
  config: noConfig,
  needs: ['ingress'],
  provides: ['reply'],
  timeout: '10m',
  uses: ['audit'],
  build:
    (_config, _host, { audit }) =>
    async ({ ingress }) => {
      readQuery(ingress.query)
      return { reply: jsonReply({ ...(await audit.verify()) }) }
    },
})
