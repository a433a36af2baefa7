import { defineAction } from '../../engine/index.ts'
import type { Budget, JsonObject } from '../../engine/index.ts'
import { budgetStateSchema, listOf, periodStart, shape, timeText } from '../../engine/kit.ts'
import { ownKeysOf, timeFields } from './filter.ts'
import { groupNames } from './group-names.ts'
import { cellsOf, windowIn } from './sums-asked.ts'
import type { Cell } from './sums-query.ts'
import { shownSum, sumFields, totalOf, windowFields } from './sums-shown.ts'
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
export default defineAction({
  name: 'get-spend',
  summary: 'Answer what each API key has spent.',
  route: 'GET /api/api-keys/spend-summary',
  access: { role: 'viewer' },
  query: listOf({
    filters: {
      ...timeFields,
      period: { enum: ['day', 'week', 'month', 'total'], default: 'month', description: 'Where the window begins.' },
    },
    sorts: Object.keys(sorts),
    usual: '-cost',
  }),
  answer: shape.object({
    ...windowFields,
    total: shape.object(sumFields, {}, 'The sum of all keys.'),
    data: shape.list(
      shape.object({
        key: shape.orNull(
          shape.object({ id: shape.text('Its id.'), name: shape.text('Its name.') }, {}, 'The API key.'),
        ),
        owner: shape.orNull(
          shape.object({ id: shape.text('Its id.'), username: shape.text('Its name.') }, {}, 'The owner of the key.'),
        ),
        budget: budgetStateSchema,
        ...sumFields,
      }),
      'The keys of the page.',
    ),
    next_cursor: shape.orNull(shape.text('The cursor of the next page; null at the end.')),
  }),
  errors: ['window_too_large', 'invalid_cursor'],
  uses: ['requests', 'api_keys', 'members', 'limits'],
  async run({ query: list, principal }, { limits, ...naming }) {
    const period = list.text('period') as Budget['period']
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
    return { ...times, total: shownSum(totalOf(ofKeys)), data: shown, next_cursor }
  },
})
