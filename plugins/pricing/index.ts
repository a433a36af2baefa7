import { definePlugin } from '../../engine/index.ts'
import price from './price.ts'
import prices from './prices.ts'

export default definePlugin({
  name: 'pricing',
  summary: 'Computes usage and cost.',
  stability: 'stable',
  services: [prices],
  stages: [price],
})
