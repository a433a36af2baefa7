import { defineCommand } from '../../engine/index.ts'
import { timeText } from '../../engine/kit.ts'
import { memberOf } from './member.ts'
import type { Member } from './member.ts'

/** Prints a session token of a member, for scripts on the machine of the gateway. */
export default defineCommand({
  name: 'token create',
  summary: 'Print a session token of a member, for scripts that call the admin API.',
  group: 'Manage session tokens.',
  options: {
    type: 'object',
    additionalProperties: false,
    required: ['username'],
    properties: { username: { type: 'string', description: 'Name of the member, in upper or lower case.' } },
  } as const,
  uses: ['members', 'member_sessions', 'audit'],
  async run({ username }, { members, member_sessions: sessions, audit }, { json, out, error }) {
    const row = await members.store.read(username)
    const member = row && memberOf(row)
    if (member === undefined || problemOf(member) !== undefined) {
      error(`sluice: ${member ? problemOf(member) : `there is no member "${username}"`}`)
      return 1
    }
    const target = { type: 'member', id: member.id, name: member.username }
    await audit.record({ action: 'token.create', actor: { type: 'cli' }, target })
    const { token, expiresAt } = sessions.issue(member)
    const expires = timeText(expiresAt)
    out(json ? JSON.stringify({ token, expires_at: expires, username: member.username, role: member.role }) : token)
    error(`It expires at ${expires}, unless it is renewed with POST /api/auth/renew.`)
    return 0
  },
})

/** Why a token of a member would be refused. */
function problemOf({ username, disabled, mustChangePassword }: Member): string | undefined {
  if (disabled) return `the member "${username}" is disabled`
  return mustChangePassword ? `the member "${username}" must change the password first` : undefined
}
