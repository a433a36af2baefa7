import { defineStage, noConfig } from '../../engine/index.ts'
import { jsonReply, readQuery } from '../../engine/kit.ts'

/** Returns what is left of the budgets that bind the member who asks: the own one, those of the keys, the gateway's. */
export default defineStage({
  name: 'show-own-budget',
  summary: 'Return the budgets that bind the member who asks.',
  config: noConfig,
  needs: ['ingress', 'principal'],
  provides: ['reply'],
  uses: ['members', 'api_keys', 'limits'],
  build:
    (_config, _host, { members, api_keys: keys, limits }) =>
    async ({ ingress, principal }) => {
      readQuery(ingress.query)
      const own = members.find(principal.id)?.budget
      const owned = keys.ownedBy(principal.id).flatMap((id) => keys.get(id) ?? [])
      const [budget = null] = own ? await limits.budgetsOf([[{ kind: 'member', id: principal.id }, own]]) : []
      const total = { usd: 0, period: 'total' } as const
      const states = await limits.budgetsOf(
        owned.map(({ id, budget: limit = total }) => [{ kind: 'key', id }, limit] as const),
      )
      const server = await limits.serverBudget()
      const value = {
        budget: budget && { ...budget },
        keys: owned.map(({ id, name, budget: limit }, index) => {
          const state = states[index]
          return { id, name, budget: limit && state ? { ...state } : null, spent: state?.spent ?? 0 }
        }),
        server: server ? { exhausted: server.spent >= server.usd } : null,
      }
      return { reply: jsonReply(value) }
    },
})
