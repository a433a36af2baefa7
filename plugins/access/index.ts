import { definePlugin } from '../../engine/index.ts'
import allow from './allow.ts'
import auth from './auth.ts'
import refuse from './refuse.ts'
import sessions from './sessions.ts'

export default definePlugin({
  name: 'access',
  summary: 'Who may use the gateway, and which models.',
  services: [sessions],
  stages: [auth, allow, refuse],
})
