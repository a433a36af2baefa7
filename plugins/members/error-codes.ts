import { defineErrors } from '../../engine/index.ts'
import type { CodesOf } from '../../engine/index.ts'

const errors = defineErrors({
  invalid_credentials: {
    status: 401,
    message: 'The username or the password is wrong.',
    advice: 'Check the username and the password; an admin can reset the password.',
  },
  invalid_setup_token: {
    status: 401,
    message: 'The setup token is wrong. The gateway prints the right one at its start.',
    advice: 'Open the setup link that the gateway prints at its start, until there is a member.',
  },
  session_over: {
    status: 401,
    message: 'The session has reached its longest life; sign in again.',
    advice: 'Sign in again; security.session_max says how long a session may last.',
  },
  wrong_password: {
    status: 401,
    message: 'The password is wrong.',
    advice: 'Send the current password of the account that asks.',
  },
  own_account: {
    status: 403,
    message: 'Nobody may change {param} of their own account.',
    advice: 'Ask another admin to change it.',
  },
  password_change_required: {
    status: 403,
    message: 'Change the password first.',
    advice: 'Change the password by POST /api/me/password.',
    refuses: 'pending',
  },
  last_admin: {
    status: 409,
    message: 'This is the last admin who can sign in.',
    advice: 'Make another member an admin first.',
  },
  setup_done: {
    status: 409,
    message: 'The gateway is set up already; sign in.',
    advice: 'Sign in; an admin makes further members.',
  },
  too_many_attempts: {
    status: 429,
    type: 'rate_limit_error',
    message: 'There were too many attempts; try again later.',
    advice: 'Wait as long as retry-after says.',
  },
})

declare module '../../engine/index.ts' {
  interface ErrorCodes extends CodesOf<typeof errors> {}
}

export default errors
