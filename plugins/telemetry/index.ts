import { definePlugin } from '../../engine/index.ts'
import metrics from './metrics.ts'
import showMetrics from './show-metrics.ts'
import telemetry from './telemetry.ts'
import traces from './traces.ts'

export default definePlugin({
  name: 'telemetry',
  summary: 'Tells Prometheus and collectors of OpenTelemetry what the gateway does.',
  stability: 'stable',
  services: [metrics, telemetry, traces],
  stages: [showMetrics],
})
