import { definePlugin } from '../../engine/index.ts'
import errors from './error-codes.ts'
import charge from './charge.ts'
import limit from './limit.ts'
import limits from './limits.ts'
import reserve from './reserve.ts'
import showLimits from './show-limits.ts'

export default definePlugin({
  name: 'limits',
  summary: 'Budgets and rate limits.',
  stability: 'stable',
  errors,
  services: [limits],
  stages: [limit, showLimits, reserve, charge],
})
