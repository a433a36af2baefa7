import { definePlugin } from '../../engine/index.ts'
import health from './health.ts'

export default definePlugin({
  name: 'health',
  summary: 'How the process fares.',
  stages: [health],
})
