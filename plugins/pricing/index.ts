import { definePlugin } from '../../engine/index.ts'
import price from './price.ts'

export default definePlugin({
  name: 'pricing',
  summary: 'Computes usage and cost.',
  stages: [price],
})
