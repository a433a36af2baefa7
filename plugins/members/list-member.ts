import { defineAction } from '../../engine/index.ts'
import type { ListKey } from '../../engine/kit.ts'
import { listOf, pageOf } from '../../engine/kit.ts'
import { memberShape, shownMembers } from './member-reply.ts'
import type { MemberRow } from './member-changes.ts'

/** Answers the members that match the query, page by page. */
export default defineAction({
  name: 'list-member',
  summary: 'Answer a page of the members.',
  route: 'GET /api/team/members',
  access: { role: 'admin' },
  query: listOf({
    filters: {
      role: { enum: ['admin', 'viewer'], description: 'Members of this role.' },
      disabled: { type: 'boolean', description: 'Those that are disabled, or those that are not.' },
      search: { type: 'string', description: 'Part of the name, case ignored.' },
    },
    sorts: ['username', 'created_at', 'last_login_at'],
    usual: 'username',
  }),
  answer: pageOf(memberShape),
  errors: ['invalid_cursor'],
  uses: ['team', 'api_keys', 'limits'],
  async run({ query: list }, { team, ...facts }) {
    const [roles, disabled] = [list.values('role'), list.flag('disabled')]
    const members = (await team.list()).filter(
      (row) =>
        roles?.includes(row.role) !== false &&
        (disabled === undefined || (row.disabled !== 0) === disabled) &&
        row.username.includes(list.search),
    )
    const keyOf = (row: MemberRow): ListKey => [row[list.sort as 'username'], row.id]
    const { data, next_cursor } = list.page(members, keyOf)
    return { data: await shownMembers(data, facts), next_cursor }
  },
})
