import { definePlugin } from '../../engine/index.ts'
import errors from './error-codes.ts'
import allow from './allow.ts'
import auth from './auth.ts'
import refuse from './refuse.ts'
import sessions from './sessions.ts'

export default definePlugin({
  name: 'access',
  summary: 'Authenticates clients, and restricts the models they may use.',
  stability: 'stable',
  errors,
  services: [sessions],
  stages: [auth, allow, refuse],
})
