import { expect } from 'chai'
import type { JsonObject, Services, Slots } from '../../../engine/index.ts'
import { tierOf } from '../../../engine/kit.ts'
import { decidedBlock } from '../../../plugins/routing/block.ts'
import { decide } from '../../../plugins/routing/decide.ts'
import type { Choice } from '../../../plugins/routing/choose.ts'
import { viewOf } from '../../support/admin.ts'
import { startGateway } from '../../support/gateway.ts'
import type { RunningGateway } from '../../support/gateway.ts'
import { threeModels } from '../core/rig.ts'

interface Decided {
  readonly id: string
  readonly choice: Choice
  /** As the row of the request has it. */
  readonly block: JsonObject
}

const modes = ['fast', 'auto', 'best'] as const

/** A gateway of some models, which decides without being asked. */
class Deciding {
  readonly gateway: RunningGateway

  constructor(gateway: RunningGateway) {
    this.gateway = gateway
  }

  static async start(models: readonly object[], settings: object = {}): Promise<Deciding> {
    const smart_routing = { enabled: true, seed: 'seed', ...settings }
    const providers = [{ name: 'far', type: 'echo' }]
    return new Deciding(await startGateway({ providers, models, server_config: { smart_routing } }))
  }

  get routing(): Services['smart_routing'] {
    return viewOf(this.gateway.engine, 'smart_routing')
  }

  get experience(): Services['experience'] {
    return viewOf(this.gateway.engine, 'experience')
  }

  /**
   * Decides a request of which everything follows from a number.
   * @param gained whether its benefit differs from its complexity
   */
  decide(row: number, gained = true): Decided {
    const { settings } = this.routing
    const id = `request ${row}`
    const mode = modes[row % 3] ?? 'auto'
    const complexity = (row % 97) / 97
    const difficulty = { complexity, tier: tierOf(complexity), benefit: gained ? ((row * 31) % 89) / 89 : complexity }
    const step = row % 5 === 0 ? 1 : 0
    const { models } = this.routing
    const incumbent = {
      model: models[row % models.length]?.name ?? '',
      complexity: 0.4,
      tier: row % 10 === 0 ? ('SIMPLE' as const) : ('MEDIUM' as const),
      cached: 0.5,
      turns: 1,
    }
    const shortlist = {
      entries: models.map((model, index) => ({ model, candidates: [], isBroken: index === row % 7, cost: null })),
      notes: row % 11 === 0 ? ['degraded=context'] : [],
      gates: [],
      incumbent: row % 2 === 0 ? incumbent : undefined,
      input: 500 + row,
      maxOutput: undefined,
      conversation: undefined,
    }
    const choice = decide({ id, key: null, mode, difficulty, step, shortlist, settings, experience: this.experience })
    const block = decidedBlock({
      mode,
      difficulty,
      ensemble: { ...ensembleOf(complexity, step), benefit: difficulty.benefit },
      notes: [...shortlist.notes, ...choice.notes],
      conversation: undefined,
      shortlist,
      choice,
      estimate: { ...choice.order[0].forecast, baseline: null, baseline_cost: null },
      settings,
      isDiagnosed: true,
    })
    return { id, choice, block: JSON.parse(JSON.stringify(block)) as JsonObject }
  }
}

function ensembleOf(complexity: number, step: number): Slots['ensemble'] {
  return {
    complexity,
    tier: tierOf(complexity),
    confidence: 0.5,
    confidenceRaw: 0.5,
    map: 'dev-1',
    weightsVersion: null,
    votes: {},
    notes: [],
    facts: { step },
    features: null,
    ask: '',
    earlier: () => [],
  }
}

describe('a decision', () => {
  let deciding: Deciding
  afterEach(() => deciding.gateway.close())

  const models = [...threeModels, { ...threeModels[1], name: 'beside', context_length: 8_000 }]

  it('is made again from its row: 1,000 choices of 1,000 are equal', async () => {
    deciding = await Deciding.start(models)
    const { experience, routing } = deciding
    for (const model of ['small', 'mid'])
      for (let count = 0; count < 20; count++)
        experience.seen({
          tries: [{ model, isAnswered: count % 3 > 0 }],
          answer: { model, tier: 'MEDIUM', firstByte: 200 + count, output: 50 * count, input: null },
        })
    const chosen = new Map<string, number>()
    const seen = new Map<string, number>()
    for (let row = 0; row < 1000; row++) {
      const { id, block, choice } = deciding.decide(row)
      const { propensity, notes } = choice
      expect(propensity.arms).to.have.length(4)
      const would = routing.replay({ id, block }, { settings: routing.settings, experience })
      expect(would, `${id}: ${JSON.stringify(block['notes'])}`).to.deep.include({
        model: choice.order[0].model,
        because: 'same',
      })
      chosen.set(choice.order[0].model, (chosen.get(choice.order[0].model) ?? 0) + 1)
      for (const note of notes) {
        const kind = /^[a-z]+=(?:trial|broken:[a-z]+)?/.exec(note)?.[0] ?? ''
        seen.set(kind, (seen.get(kind) ?? 0) + 1)
      }
    }
    expect([...chosen.keys()]).to.have.members(['small', 'mid', 'large', 'beside'])
    for (const kind of ['explore=trial', 'sticky=', 'sticky=broken:tier', 'sticky=broken:circuit'])
      expect(seen.get(kind), kind).to.be.above(10)
  })

  it('of before there were two numbers is made again by its complexity', async () => {
    deciding = await Deciding.start(models)
    const { experience, routing } = deciding
    const { settings } = routing
    for (let row = 0; row < 300; row++) {
      const { id, block } = deciding.decide(row, false)
      const { benefit, ...before } = block
      expect(benefit).to.equal(block['complexity'])
      expect(routing.replay({ id, block: before }, { settings, experience })).to.deep.include({
        model: block['chosen'],
        because: 'same',
      })
      // Other floors decide anew what the signals saw.
      const floors = { ...settings.floors, vision: 'COMPLEX' as const }
      const [one, other] = [before, block].map((known) =>
        routing.replay({ id, block: known }, { settings: { ...settings, floors }, experience }),
      )
      expect(one).to.deep.equal(other)
    }
  })

  it('leaves the draws of the others as they were when a model is gone', async () => {
    deciding = await Deciding.start(models)
    const before = Array.from({ length: 300 }, (_, row) => deciding.decide(row))
    await deciding.gateway.close()
    deciding = await Deciding.start(models.filter(({ name }) => name !== 'beside'))
    const { experience, routing } = deciding
    let gone = 0
    for (const { id, block } of before) {
      const would = routing.replay({ id, block }, { settings: routing.settings, experience })
      if (block['chosen'] === 'beside') {
        expect(would?.because, id).to.equal('gone')
        gone += 1
      } else expect(would?.model, id).to.equal(block['chosen'])
    }
    expect(gone).to.be.above(10)
  })

  it('says so when its row has no room for all models', async () => {
    const many = Array.from({ length: 250 }, (_, index) => ({
      ...threeModels[index % 3],
      name: `model-${'x'.repeat(90)}-${index}`,
    }))
    deciding = await Deciding.start(many)
    const { experience, routing } = deciding
    let trials = 0
    for (let row = 0; row < 30; row++) {
      const { id, block, choice } = deciding.decide(row)
      expect(Buffer.byteLength(JSON.stringify(block))).to.be.at.most(15_360)
      const { arms, terms } = block['propensity'] as {
        readonly arms: readonly JsonObject[]
        readonly terms: JsonObject
      }
      expect(terms['left_out']).to.equal(250 - arms.length)
      const names = arms.map(({ model }) => model)
      expect(names).to.include(block['chosen'])
      const trial = choice.propensity.arms.find((arm) => arm.trial)
      if (trial) expect(names).to.include(trial.model)
      trials += Number(trial !== undefined)
      const would = routing.replay({ id, block }, { settings: routing.settings, experience })
      expect(would).to.deep.include({ model: block['chosen'], tier: block['tier'], because: 'partial' })
    }
    expect(trials).to.be.above(5)
  })
})
