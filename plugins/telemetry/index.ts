import { definePlugin } from '../../engine/index.ts'
import metrics from './metrics.ts'
import showMetrics from './show-metrics.ts'
import traceLinks from './trace-links.ts'

export default definePlugin({
  name: 'telemetry',
  summary: 'Tells Prometheus what the gateway does.',
  stability: 'stable',
  services: [metrics, traceLinks],
  stages: [showMetrics],
})
