import { definePlugin } from '../../engine/index.ts'
import limits from './limits.ts'

export default definePlugin({
  name: 'limits',
  summary: 'Budgets and rate limits.',
  services: [limits],
})
