import { GatewayError, definePlugin, defineStage, noConfig } from 'sluice'
import type { Reply } from 'sluice'
import budgets from './budgets.ts'

/** Holds something of the budget until the bill is there. */
const limit = defineStage({
  name: 'acme-limit',
  summary: 'Refuse what there is no money for.',
  config: {
    type: 'object',
    additionalProperties: false,
    properties: { micros: { type: 'integer', default: 2_000, description: 'What is set aside, in micro-USD.' } },
  } as const,
  uses: ['acme_budgets'],
  needs: ['principal'],
  provides: [],
  settles: ['outcome', 'bill'],
  build: ({ micros }, _, { acme_budgets: service }) => {
    return async (_slots, __, settle) => {
      const hold = await service.reserve(micros)
      settle(({ outcome, bill }, { error }) => {
        hold.settle(bill ? bill.cost.micros : undefined)
        service.note(`${outcome.result} ${error?.code ?? 'well'} ${bill?.cost.origin ?? 'without a bill'}`)
      })
      return {}
    }
  },
})

/** Takes one of the places, and leaves it when the client has its answer. */
const place = defineStage({
  name: 'acme-place',
  summary: 'Refuse what there is no place for.',
  config: noConfig,
  uses: ['acme_budgets'],
  needs: [],
  provides: [],
  settles: [],
  build: (_, __, { acme_budgets: service }) => {
    return (_slots, _scope, settle) => {
      const taken = service.enter()
      settle(() => taken.leave())
      return {}
    }
  },
})

/** Notes how each try went, as a breaker of circuits would. */
const breaker = defineStage({
  name: 'acme-breaker',
  summary: 'Watch how each try ends.',
  config: noConfig,
  uses: ['acme_budgets'],
  needs: ['model'],
  reads: ['outcome'],
  provides: [],
  settles: [],
  build: (_, __, { acme_budgets: service }) => {
    return ({ model }, _scope, settle) => {
      service.note(`try ${model.model.name}`)
      settle(({ model: tried, outcome }, { error }) => {
        const tags = error ? error.tags.join(' ') : (outcome?.result ?? 'without an outcome')
        service.note(`tried ${tried.model.name}: ${tags}`)
      })
      return {}
    }
  },
})

/** Like `auth`, for whoever says a name; what it takes, it holds while it finds out. */
const door = defineStage({
  name: 'acme-door',
  summary: 'Find out who asks by a name.',
  config: noConfig,
  uses: ['acme_budgets'],
  needs: ['ingress'],
  provides: ['principal'],
  settles: ['outcome'],
  build: (_, __, { acme_budgets: service }) => {
    return async ({ ingress }, _scope, settle) => {
      const taken = service.enter()
      settle(({ outcome }, { error }) => {
        taken.leave()
        service.note(`door ${outcome.status} ${error?.code ?? outcome.result}`)
      })
      await new Promise(setImmediate)
      const name = ingress.headers['x-name']
      if (typeof name !== 'string') throw new GatewayError('invalid_api_key')
      return { principal: { kind: 'key' as const, id: name, name } }
    }
  },
})

/** Takes as long as somebody wants it to. */
const slow = defineStage({
  name: 'acme-slow',
  summary: 'Wait after the exchange.',
  config: noConfig,
  uses: ['acme_budgets'],
  needs: ['outcome'],
  provides: [],
  build: (_, __, { acme_budgets: service }) => {
    return async () => {
      service.note('finally')
      await service.gate()
      return {}
    }
  },
})

const fails = defineStage({
  name: 'acme-fails',
  summary: 'Fail.',
  config: noConfig,
  needs: [],
  provides: [],
  build: () => () => {
    throw new Error('acme-fails has failed')
  },
})

const state = defineStage({
  name: 'acme-state',
  summary: 'Tell the state, and open or shut the gate.',
  config: noConfig,
  uses: ['acme_budgets'],
  needs: ['ingress'],
  provides: ['reply'],
  build: (_, __, { acme_budgets: service }) => {
    return ({ ingress }): { reply: Reply } => {
      if (ingress.params['gate'] === 'open') service.open()
      if (ingress.params['gate'] === 'shut') service.shut()
      return { reply: { status: 200, headers: {}, body: { kind: 'json', value: structuredClone(service.state) } } }
    }
  },
})

export default definePlugin({
  name: 'acme',
  summary: 'Budgets, as an outsider would write them.',
  services: [budgets],
  stages: [limit, place, breaker, door, slow, fails, state],
})
