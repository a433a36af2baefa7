import { GatewayError, defineStage, noConfig } from '../../engine/index.ts'

/** The text format of Prometheus 0.0.4. */
const type = 'text/plain; version=0.0.4; charset=utf-8'

/** Answers the metrics of all processes, for Prometheus. */
export default defineStage({
  name: 'show-metrics',
  summary: 'Answer the metrics of the gateway in the text format of Prometheus.',
  config: noConfig,
  needs: [],
  provides: ['reply'],
  uses: ['metrics'],
  build:
    (_config, { status, version, keyValue }, { metrics }) =>
    async () => {
      if (!metrics.enabled) throw new GatewayError('not_found')
      const { degraded } = status
      const stores = {
        database: !degraded.includes('database'),
        ...(keyValue.shared && { key_value: !degraded.includes('key_value') }),
      }
      const bytes = Buffer.from(await metrics.text({ version, stores }))
      return { reply: { status: 200, headers: { 'cache-control': 'no-store' }, body: { kind: 'bytes', bytes, type } } }
    },
})
