import { definePlugin } from '../../engine/index.ts'
import price from './price.ts'

export default definePlugin({
  name: 'pricing',
  summary: 'What was used, and what it costs.',
  stages: [price],
})
