import { definePlugin } from '../../engine/index.ts'
import health from './health.ts'

export default definePlugin({
  name: 'health',
  summary: 'Reports the health of the process.',
  stability: 'stable',
  stages: [health],
})
