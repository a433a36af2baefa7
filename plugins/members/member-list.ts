import { defineCommand } from '../../engine/index.ts'
import { columns, printJson, timeText } from '../../engine/kit.ts'
import { shownMembers } from './member-reply.ts'
import type { MemberRow } from './member-changes.ts'

/** Prints the members. */
export default defineCommand({
  name: 'member list',
  summary: 'List the members.',
  options: { type: 'object', additionalProperties: false, properties: {} } as const,
  uses: ['team', 'api_keys', 'limits'],
  async run(_options, { team, ...facts }, { json, out }) {
    const rows = (await team.list()).toSorted((left, right) => (left.username < right.username ? -1 : 1))
    if (json) out(printJson(await shownMembers(rows, facts)))
    else if (rows.length === 0) out('There is no member. Create one with "sluice member create --username <name>".')
    else out(columns([['username', 'role', 'state', 'last sign-in', 'id'], ...rows.map(lineOf)]))
    return 0
  },
})

function lineOf({ username, role, disabled, last_login_at: last, id }: MemberRow): string[] {
  return [username, role, disabled ? 'disabled' : 'in use', last === null ? 'never' : timeText(last), id]
}
