import { definePlugin } from '../../engine/index.ts'
import conversations from './conversations.ts'

export default definePlugin({
  name: 'conversations',
  summary: 'Which conversation a request belongs to, and what served it last.',
  stability: 'stable',
  services: [conversations],
})
