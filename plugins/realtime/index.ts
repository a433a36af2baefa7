import { definePlugin } from '../../engine/index.ts'
import codec from './codec.ts'

export default definePlugin({
  name: 'realtime',
  summary: 'Sessions of text and audio over a WebSocket, relayed to a provider.',
  codecs: [codec],
})
