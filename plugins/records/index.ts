import { definePlugin } from '../../engine/index.ts'
import log from './log.ts'

export default definePlugin({
  name: 'records',
  summary: 'What is remembered of every exchange.',
  stages: [log],
})
