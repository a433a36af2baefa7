import { definePlugin } from '../../engine/index.ts'
import memberSessions from './member-sessions.ts'
import members from './members.ts'
import renewSession from './renew-session.ts'
import requireSetup from './require-setup.ts'
import setUp from './set-up.ts'
import showSetup from './show-setup.ts'
import signIn from './sign-in.ts'
import signOut from './sign-out.ts'
import tokenCreate from './token-create.ts'

export default definePlugin({
  name: 'members',
  summary: 'The people who may sign in, and their sessions.',
  services: [members, memberSessions],
  stages: [showSetup, requireSetup, setUp, signIn, renewSession, signOut],
  commands: [tokenCreate],
})
