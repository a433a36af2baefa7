import { defineStage, noConfig } from '../../engine/index.ts'
import type { Budget, JsonObject } from '../../engine/index.ts'
import { jsonReply, periodStart, readList, timeText } from '../../engine/kit.ts'
import { ownKeysOf, timeFields } from './filter.ts'
import { groupNames } from './group-names.ts'
import { cellsOf, windowIn } from './sums-asked.ts'
import type { Cell } from './sums-query.ts'
import { shownSum, totalOf } from './sums-shown.ts'
import { HOUR } from './sums.ts'

/** Most keys of an answer and its further pages. */
const most = 100_000

const sorts = {
  cost: ({ sum }: Cell) => sum.cost_micros,
  requests: ({ sum }: Cell) => sum.requests,
  failed: ({ sum }: Cell) => sum.failed,
}

/**
 * Answers what each API key with requests in a window has spent, with its budget: by default in the present month. A
 * viewer sees own API keys. The sums are those of hours, so the window is extended to whole hours.
 */
export default defineStage({
  name: 'get-spend',
  summary: 'Answer what each API key has spent.',
  config: noConfig,
  needs: ['ingress', 'principal'],
  provides: ['reply'],
  uses: ['requests', 'api_keys', 'members', 'limits'],
  build:
    (_config, _host, { limits, ...naming }) =>
    async ({ ingress, principal }) => {
      const list = readList(ingress.query, {
        filters: { ...timeFields, period: ['day', 'week', 'month', 'total'] },
        sorts: Object.keys(sorts),
        usualSort: '-cost',
      })
      const period = (list.text('period') ?? 'month') as Budget['period']
      const window = windowIn(list, (until) => periodStart(period, until - 1))
      const since = Math.floor(window.since / HOUR) * HOUR
      const until = Math.ceil(window.until / HOUR) * HOUR
      const { requests, api_keys: keys, members } = naming
      const filter = { since, until, ownKeys: ownKeysOf(principal, keys) }
      const cells = await cellsOf(requests, { filter, by: ['key'], untimed: true }, most)
      const ofKeys = cells.filter(({ group }) => group.key !== '')
      const { data, next_cursor } = list.page(ofKeys, (cell) => [
        sorts[list.sort as keyof typeof sorts](cell),
        cell.group.key ?? '',
      ])
      const groupOf = await groupNames(data, ['key'], naming)
      const known = data.map(({ group }) => keys.get(group.key ?? ''))
      const budgeted = known.flatMap((key) => (key?.budget ? [[key.id, key.budget] as const] : []))
      const states = await limits.budgetsOf(budgeted.map(([id, budget]) => [{ kind: 'key', id }, budget]))
      const budgets = new Map(budgeted.map(([id], index) => [id, states[index]]))
      const shown = data.map((cell, index): JsonObject => {
        const owner = members.find(known[index]?.owner ?? '')
        const budget = budgets.get(cell.group.key ?? '')
        return {
          ...groupOf(cell),
          owner: owner ? { id: owner.id, username: owner.username } : null,
          budget: budget ? { ...budget } : null,
          ...shownSum(cell.sum),
        }
      })
      const times = { since: timeText(since), until: timeText(until) }
      return { reply: jsonReply({ ...times, total: shownSum(totalOf(ofKeys)), data: shown, next_cursor }) }
    },
})
