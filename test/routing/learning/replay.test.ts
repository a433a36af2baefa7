import { expect } from 'chai'
import type { Services } from '../../../engine/index.ts'
import { hash01 } from '../../../engine/kit.ts'
import { decide } from '../../../plugins/routing/decide.ts'
import type { Propensity } from '../../../plugins/routing/propensity.ts'
import { Random } from '../../../plugins/routing/random.ts'
import { viewOf } from '../../support/admin.ts'
import { startGateway } from '../../support/gateway.ts'
import type { RunningGateway } from '../../support/gateway.ts'
import { threeModels } from '../core/rig.ts'

/** The choice, from nothing but what the row of a request has. */
function replayed(id: string, { arms, seed, policy, trial_p: share }: Propensity): string | undefined {
  const trial = arms.find((arm) => arm.trial)
  if (trial && hash01(`${id}trial`) < share) return trial.model
  const random = new Random(id, seed)
  const values = arms.map(({ a, b, c, pass }) => {
    const draw = policy === 'ts-1' ? random.beta(a, b) : a / (a + b)
    return pass ? draw - c : -Infinity
  })
  return arms[values.indexOf(Math.max(...values))]?.model
}

describe('a decision', () => {
  let gateway: RunningGateway
  before(async () => {
    gateway = await startGateway({
      providers: [{ name: 'far', type: 'echo' }],
      models: [...threeModels, { ...threeModels[1], name: 'beside' }],
      server_config: { smart_routing: { enabled: true, seed: 'seed' } },
    })
  })
  after(() => gateway.close())

  const decided = (id: string, row: number) => {
    const { engine } = gateway
    const { settings } = viewOf(engine, 'smart_routing')
    const experience: Services['experience'] = viewOf(engine, 'experience')
    const entries = engine.live.current.catalog.models.map((model, index) => ({
      model,
      candidates: [],
      isBroken: index === row % 7,
      cost: null,
    }))
    const shortlist = { entries, notes: [], incumbent: undefined, input: 500 + row, maxOutput: undefined }
    const complexity = (row % 97) / 97
    const tier = complexity < 0.33 ? 'SIMPLE' : complexity < 0.67 ? 'MEDIUM' : 'COMPLEX'
    const mode = (['fast', 'auto', 'best'] as const)[row % 3] ?? 'auto'
    return decide({ id, mode, difficulty: { complexity, tier }, step: 0, shortlist, settings, experience })
  }

  it('can be replayed from its row: 1,000 choices of 1,000 are equal', () => {
    const chosen = new Map<string, number>()
    let trials = 0
    for (let row = 0; row < 1000; row++) {
      const id = `request ${row}`
      const { order, propensity, notes } = decided(id, row)
      const stored = JSON.parse(JSON.stringify(propensity)) as Propensity
      expect(replayed(id, stored), id).to.equal(order[0].model)
      expect(decided(id, row).order.map(({ model }) => model)).to.deep.equal(order.map(({ model }) => model))
      chosen.set(order[0].model, (chosen.get(order[0].model) ?? 0) + 1)
      trials += Number(notes.some((note) => note.startsWith('explore=trial')))
    }
    expect([...chosen.keys()]).to.have.members(['small', 'mid', 'large', 'beside'])
    expect(trials).to.be.above(10)
  })
})
