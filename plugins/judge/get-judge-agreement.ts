import { GatewayError, defineStage, noConfig } from '../../engine/index.ts'
import { jsonReply, readQuery, timeText } from '../../engine/kit.ts'

const MONTH = 30 * 86_400_000

/** Answers how often the judge has said what where the signals said what: by default within the last 30 days. */
export default defineStage({
  name: 'get-judge-agreement',
  summary: 'Answer how often the judge agrees with the signals.',
  config: noConfig,
  needs: ['ingress'],
  provides: ['reply'],
  uses: ['judging'],
  build:
    (_config, _host, { judging }) =>
    async ({ ingress }) => {
      const since = readQuery(ingress.query, { since: 'time' }).time('since') ?? Date.now() - MONTH
      const data = await judging.agreement(since).catch((cause: unknown) => {
        throw new GatewayError('store_unavailable', {}, { cause })
      })
      const rows = data.reduce((sum, { count }) => sum + count, 0)
      return { reply: jsonReply({ since: timeText(since), rows, data: data.map((one) => ({ ...one })) }) }
    },
})
