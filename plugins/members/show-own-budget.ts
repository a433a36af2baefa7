import { defineAction } from '../../engine/index.ts'
import { budgetStateSchema, shape } from '../../engine/kit.ts'

/** Answers what is left of the budgets that bind the member who asks: the own one, those of the keys, the gateway's. */
export default defineAction({
  name: 'show-own-budget',
  summary: 'Answer the budgets that bind the member who asks.',
  route: 'GET /api/me/budget',
  access: { role: 'any' },
  answer: shape.object({
    budget: budgetStateSchema,
    keys: shape.list(
      shape.object({
        id: shape.text('Its id.'),
        name: shape.text('Its name.'),
        budget: budgetStateSchema,
        spent: shape.number('What it has spent, in USD.'),
      }),
      'The own API keys.',
    ),
    server: shape.orNull(
      shape.object({ exhausted: shape.flag('Whether nothing is left.') }, {}, 'The budget of the gateway; null: none.'),
    ),
  }),
  uses: ['members', 'api_keys', 'limits'],
  async run({ principal }, { members, api_keys: keys, limits }) {
    const own = members.find(principal.id)?.budget
    const owned = keys.ownedBy(principal.id).flatMap((id) => keys.get(id) ?? [])
    const [budget = null] = own ? await limits.budgetsOf([[{ kind: 'member', id: principal.id }, own]]) : []
    const total = { usd: 0, period: 'total' } as const
    const states = await limits.budgetsOf(
      owned.map(({ id, budget: limit = total }) => [{ kind: 'key', id }, limit] as const),
    )
    const server = await limits.serverBudget()
    return {
      budget: budget && { ...budget },
      keys: owned.map(({ id, name, budget: limit }, index) => {
        const state = states[index]
        return { id, name, budget: limit && state ? { ...state } : null, spent: state?.spent ?? 0 }
      }),
      server: server ? { exhausted: server.spent >= server.usd } : null,
    }
  },
})
