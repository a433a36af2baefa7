import { definePlugin } from '../../engine/index.ts'
import metrics from './metrics.ts'
import showMetrics from './show-metrics.ts'

export default definePlugin({
  name: 'telemetry',
  summary: 'Tells Prometheus what the gateway does.',
  stability: 'stable',
  services: [metrics],
  stages: [showMetrics],
})
