import type { Reply } from '../../engine/index.ts'
import { jsonReply, timeText } from '../../engine/kit.ts'
import type { Issued } from './member-sessions.ts'
import type { Member } from './member.ts'

/** A new session for the client that holds it from now on. */
export function sessionReply(
  { token, expiresAt }: Issued,
  { id, username, role, mustChangePassword }: Member,
  status = 200,
): Reply {
  const user = { id, username, role, must_change_password: mustChangePassword }
  return jsonReply({ token, expires_at: timeText(expiresAt), user }, { status })
}
