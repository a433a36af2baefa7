import { definePlugin, defineSlot } from '../../engine/index.ts'
import codec from './codec.ts'
import connectSession from './connect-session.ts'
import limitSessions from './limit-sessions.ts'
import parseSession from './parse-session.ts'
import priceSession from './price-session.ts'
import relaySession from './relay-session.ts'

export default definePlugin({
  name: 'realtime',
  summary: 'Sessions of text and audio over a WebSocket, relayed to a provider.',
  stability: 'stable',
  codecs: [codec],
  slots: [
    defineSlot({ name: 'dialed', summary: 'The open socket to the provider of a realtime session.' }),
    defineSlot({ name: 'session', summary: 'What a realtime session has used.' }),
  ],
  stages: [parseSession, limitSessions, connectSession, relaySession, priceSession],
})
