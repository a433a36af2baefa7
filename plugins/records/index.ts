import { definePlugin } from '../../engine/index.ts'
import log from './log.ts'
import price from './price.ts'

export default definePlugin({
  name: 'records',
  summary: 'What is remembered of every exchange.',
  stages: [price, log],
})
