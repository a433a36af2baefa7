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
    (_config, _host, { metrics }) =>
    async () => {
      if (!metrics.enabled) throw new GatewayError('not_found')
      const bytes = Buffer.from(await metrics.text())
      return { reply: { status: 200, headers: { 'cache-control': 'no-store' }, body: { kind: 'bytes', bytes, type } } }
    },
})
