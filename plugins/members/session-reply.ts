import type { JsonObject } from '../../engine/index.ts'
import { shape, timeText } from '../../engine/kit.ts'
import type { Issued } from './member-sessions.ts'
import type { Member } from './member.ts'

/** JSON Schema of a new session. */
export const sessionShape = shape.object({
  token: shape.text('The token, which requests show as "authorization: Bearer".'),
  expires_at: shape.time('When it ends.'),
  user: shape.object(
    {
      id: shape.text('His id.'),
      username: shape.text('His name.'),
      role: shape.word(['admin', 'viewer'], 'What he may do.'),
      must_change_password: shape.flag('Whether he must change the password first.'),
    },
    {},
    'The member who is signed in.',
  ),
})

/** A new session for the client that holds it from now on. */
export function shownSession(
  { token, expiresAt }: Issued,
  { id, username, role, mustChangePassword }: Member,
): JsonObject {
  const user = { id, username, role, must_change_password: mustChangePassword }
  return { token, expires_at: timeText(expiresAt), user }
}
