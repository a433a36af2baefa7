import { defineStage, noConfig } from '../../engine/index.ts'
import type { ListKey } from '../../engine/kit.ts'
import { jsonReply, readList } from '../../engine/kit.ts'
import { shownMembers } from './member-reply.ts'
import type { MemberRow } from './member-changes.ts'

/** Returns the members that match the query, page by page. */
export default defineStage({
  name: 'list-member',
  summary: 'Return members.',
  config: noConfig,
  needs: ['ingress'],
  provides: ['reply'],
  uses: ['team', 'api_keys', 'limits'],
  build:
    (_config, _host, { team, ...facts }) =>
    async ({ ingress }) => {
      const list = readList(ingress.query, {
        filters: { role: ['admin', 'viewer'], disabled: 'boolean', search: 'text' },
        sorts: ['username', 'created_at', 'last_login_at'],
        usualSort: 'username',
      })
      const [roles, disabled] = [list.values('role'), list.flag('disabled')]
      const members = (await team.list()).filter(
        (row) =>
          roles?.includes(row.role) !== false &&
          (disabled === undefined || (row.disabled !== 0) === disabled) &&
          row.username.includes(list.search),
      )
      const keyOf = (row: MemberRow): ListKey => [row[list.sort as 'username'], row.id]
      const { data, next_cursor } = list.page(members, keyOf)
      return { reply: jsonReply({ data: await shownMembers(data, facts), next_cursor }) }
    },
})
