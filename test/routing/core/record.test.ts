import { expect } from 'chai'
import type { JsonObject } from '../../../engine/index.ts'
import { viewOf } from '../../support/admin.ts'
import { say, startRouting, threeModels } from './rig.ts'
import type { Routing, RoutingOptions } from './rig.ts'

const fields =
  `v mode tier complexity benefit confidence confidence_raw map weights_version ensemble notes conversation incumbent
  candidates chosen served explored estimate actual propensity judge features error`.split(/\s+/)

describe('routing/record', () => {
  let rig: Routing
  afterEach(() => rig.close())
  const start = async (options: RoutingOptions = {}) => {
    rig = await startRouting(options)
  }
  const hard = (complexity: number, model = 'auto') => say(`complexity ${complexity}, a secret plan`, model)

  it('tells all of a decision, and never the prompt', async () => {
    await start({ routing: { seed: 'abc' } })
    const { metadata, routing, headers } = await rig.ask(hard(0.41, 'AUTO'))
    expect(Object.keys(routing)).to.deep.equal(fields)
    expect(routing).to.deep.include({
      v: 1,
      mode: 'auto',
      tier: 'MEDIUM',
      complexity: 0.41,
      benefit: 0.41,
      confidence: 0.8,
      confidence_raw: 0.7,
      map: 'dev-1',
      weights_version: 's-1',
      ensemble: { complexity: 0.41, tier: 'MEDIUM' },
      notes: [],
      incumbent: null,
      chosen: 'mid',
      served: 'mid',
      explored: false,
      judge: null,
      error: null,
    })
    expect(routing['conversation']).to.match(/^[0-9a-f]{64}$/)
    expect(routing['features']).to.have.nested.property('facts.turn', 1)
    const propensity = routing['propensity'] as { readonly arms: readonly JsonObject[] } & JsonObject
    expect(propensity).to.deep.include({ policy: 'mean-1', seed: 'abc', trial_p: 0 })
    expect(propensity.arms.map(({ model }) => model)).to.deep.equal(['large', 'mid', 'small'])
    expect(Object.keys(propensity.arms[0] ?? {})).to.deep.equal(['model', 'a', 'b', 'c', 'pass'])
    expect(metadata).to.deep.include({
      routing_complexity: 0.41,
      routing_confidence: 0.8,
      routing_reasoning: 'tier=MEDIUM | structural=0.41 | chosen=mid',
      routing_tier: 'MEDIUM',
      resolved_model: 'mid',
    })
    expect(headers.get('x-gateway-reason')).to.equal('tier=MEDIUM | structural=0.41 | chosen=mid')
    expect(headers.get('x-gateway-model')).to.equal('mid')
    const [row] = await rig.gateway.rows()
    expect(JSON.stringify(row)).not.to.include('secret plan')
  })

  it('takes at most 2 KB with three candidates, beside what every request notes', async () => {
    await start({ plugins: [], routing: { exploration: { enabled: true } } })
    // Longer texts are judged in a thread, which may be late.
    for (const ask of ['Say OK.', 'Prove that there are infinitely many primes, and find the flaw. '.repeat(25)]) {
      const { metadata, routing } = await rig.ask(say(ask))
      const own = Object.entries(metadata).filter(([name]) => /^(routing|resolved_model)/.test(name))
      expect(own).to.have.length(8)
      expect(Object.keys(routing)).to.deep.equal(fields)
      expect(routing['candidates']).to.have.length(3)
      expect((routing['features'] as JsonObject)['text']).to.have.length.above(25)
      expect(JSON.stringify(Object.fromEntries(own)).length).to.be.at.most(2_048)
      const { arms } = routing['propensity'] as { readonly arms: readonly { readonly a: number; readonly c: number }[] }
      // More digits say nothing more, and the decision was made of these.
      for (const { a, c } of arms) for (const value of [a, c]) expect(value).to.equal(Number(value.toPrecision(7)))
    }
  })

  it('shows clients the first three parts of the reasoning', async () => {
    await start({
      models: threeModels.map((model) => ({ ...model, routing_assignments: ['fast'] })),
      routing: { graceful_degradation: true },
    })
    const { headers, metadata } = await rig.ask(hard(0.5))
    expect(headers.get('x-gateway-reason')).to.equal('tier=MEDIUM | structural=0.5 | degraded=assignment')
    expect(metadata['routing_reasoning']).to.match(/ \| degraded=assignment \| chosen=\w+$/)
  })

  it('tells with diagnostics what the decision was made of', async () => {
    await start({ routing: { diagnostics: true } })
    const { routing } = await rig.ask({ ...hard(0.5), routing: { deny: ['small'] } })
    const diagnostics = routing['diagnostics'] as JsonObject
    expect(Object.keys(diagnostics)).to.deep.equal(['signal_votes', 'weights', 'guardrails', 'gates', 'scorecards'])
    expect(diagnostics['signal_votes']).to.have.nested.property('structural.complexity', 0.5)
    expect(diagnostics['weights']).to.deep.equal({ quality: 0.79, gate: 0.6, need: 0.5 })
    expect(diagnostics['gates']).to.deep.equal([{ gate: 'constraints', left: 2, removed: ['small'] }])
    const cards = diagnostics['scorecards'] as readonly JsonObject[]
    expect(cards.map(({ model }) => model)).to.deep.equal(['mid', 'large', 'small'])
    expect(Object.keys(cards[0] ?? {})).to.deep.equal(
      'model level cost c mean draw observations pulls reliability latency continuity score'.split(' '),
    )
    const { arms } = routing['propensity'] as { readonly arms: readonly JsonObject[] }
    for (const { model, c } of arms)
      expect(cards.find((card) => card['model'] === model)?.['c']).to.be.closeTo(c as number, 1e-6)
    expect(cards.map(({ c }) => c)).to.deep.include(0)
    expect(cards[2]).to.deep.equal({ model: 'small', excluded: 'constraints' })
    const refused = await rig.ask({ ...hard(0.5), routing: { allow: [] } })
    expect(refused.routing['diagnostics']).to.deep.equal({
      gates: [{ gate: 'constraints', left: 0, removed: ['small', 'mid', 'large'] }],
    })
  })

  it('stays small, however many models there are', async () => {
    const many = Array.from({ length: 300 }, (_, index) => ({
      ...threeModels[index % 3],
      name: `model-${'x'.repeat(200)}-${index}`,
    }))
    await start({ models: many, routing: { diagnostics: true } })
    const { routing, status } = await rig.ask(hard(0.5))
    expect(status).to.equal(200)
    expect(JSON.stringify(routing)).to.have.length.below(16_385)
    expect((routing['diagnostics'] as { readonly scorecards: unknown[] }).scorecards).to.have.length.within(1, 20)
    expect((routing['candidates'] as unknown[])[0]).to.equal(routing['chosen'])
  })

  it('explores no more once that has cost its share', async () => {
    const twins = [1, 2].map((input) => ({
      ...threeModels[1],
      name: `costs-${input}`,
      pricing: { input, output: input },
    }))
    const exploration = { enabled: true, trial_share: 1, warmup_pulls: 1, budget_share: 0.05 }
    await start({ models: twins, routing: { exploration } })
    const chosen: unknown[] = []
    for (let count = 0; count < 10; count++) {
      const { extra, routed } = viewOf(rig.gateway.engine, 'experience').spent
      const { routing } = await rig.ask(hard(0.5))
      const { policy } = routing['propensity'] as JsonObject
      expect(policy, JSON.stringify({ extra, routed })).to.equal(extra <= 0.05 * routed ? 'ts-1' : 'mean-1')
      chosen.push(policy === 'ts-1' ? 'explored' : routing['chosen'])
    }
    // The trial has cost half of all spend.
    expect(chosen).to.deep.equal(['explored', ...Array.from({ length: 9 }, () => 'costs-1')])
  })

  it('explores: lots are drawn from the id of the request, and new models are tried', async () => {
    await start({ routing: { exploration: { enabled: true, trial_share: 1, budget_share: 1 } } })
    const first = await rig.ask(hard(0.5))
    const { trial_p: share, policy, arms } = first.routing['propensity'] as JsonObject
    expect([policy, share]).to.deep.equal(['ts-1', 1])
    const trial = (arms as readonly { readonly model: string; readonly trial?: boolean }[]).find((arm) => arm.trial)
    expect(first.routing).to.deep.include({ chosen: trial?.model, explored: true })
    expect(first.routing['notes']).to.deep.equal([`explore=trial:${trial?.model}`])
    // Steps of agents explore nothing.
    const call = { id: 'c', type: 'function', function: { name: 'look', arguments: '{}' } }
    const step = [
      ...hard(0.5).messages,
      { role: 'assistant', content: null, tool_calls: [call] },
      { role: 'tool', tool_call_id: 'c', content: 'Nothing.' },
    ]
    const { routing } = await rig.ask({ messages: step })
    expect(routing['propensity']).to.include({ policy: 'mean-1', trial_p: 0 })
    expect(routing['explored']).to.equal(false)
  })
})
