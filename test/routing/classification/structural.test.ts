import { readFileSync, readdirSync, statSync } from 'node:fs'
import { expect } from 'chai'
import fc from 'fast-check'
import { featureNames, features } from '../../../plugins/classification/features.ts'
import { rankIn } from '../../../plugins/classification/structural-model.ts'
import structural from '../../../plugins/classification/structural.ts'
import { effectOf, efforts, forms, judged, sampleOf, wrappers } from '../training/gaming.ts'
import type { Effect } from '../training/gaming.ts'
import { refittedBy } from '../training/refits.ts'
import { printData, train } from '../training/train.ts'
import type { Trained } from '../training/train.ts'
import { expectLinear } from '../../support/work.ts'
import { classifying, said } from './rig.ts'
import type { Rig } from './rig.ts'

describe('routing/classification: the weights of structural', function () {
  this.timeout(0)
  let trained: Trained
  before(() => {
    trained = train()
  })
  const file = (name: string) =>
    readFileSync(new URL(`../../../plugins/classification/${name}.json`, import.meta.url), 'utf8')

  it('are those that training gives again', () => {
    expect(file('structural')).to.equal(printData(trained.model))
    expect(file('benefit')).to.equal(printData(trained.benefit))
    expect(file('confidence')).to.equal(printData(trained.confidence))
  })

  it('take little memory, with all other data of the signals', () => {
    const folder = new URL('../../../plugins/classification/', import.meta.url)
    const data = readdirSync(folder).filter((name) => name.endsWith('.json'))
    expect(data).to.have.members([
      'benefit.json',
      'confidence.json',
      'courtesy.json',
      'injected.json',
      'structural.json',
    ])
    expect(data.reduce((sum, name) => sum + statSync(new URL(name, folder)).size, 0)).to.be.below(32_768)
  })

  it('rank families that they were not trained on', () => {
    const { figures } = trained.model
    expect(figures['pair_1_auc']).to.be.at.least(0.585)
    expect(figures['pair_1_apgr']).to.be.at.least(0.51)
    expect(figures['pair_2_auc']).to.be.at.least(0.65)
    expect(figures['pair_2_apgr']).to.be.at.least(0.58)
    expect(figures['calibration_error']).to.be.at.most(0.06)
  })

  it('rank what is gained as the reference does, in groups that they were not trained on', () => {
    const { figures } = trained.benefit
    expect(figures['pair_1_apgr']).to.be.closeTo(0.55, 0.005)
    expect(figures['pair_2_apgr']).to.be.closeTo(0.662, 0.005)
    // Whoever fails gains most often, but it is not the same.
    expect(figures['pair_1_apgr']).to.be.above((trained.model.figures['pair_1_apgr'] ?? 1) + 0.02)
    expect(figures['pair_2_apgr']).to.be.above((trained.model.figures['pair_2_apgr'] ?? 1) + 0.02)
  })

  it('and 100 ratings calibrate the confidence at a source that they have not seen', () => {
    const { before, after } = refittedBy(100, trained.complexities, trained.examples)
    expect(after.error).to.be.closeTo(0.046, 0.005)
    expect(after.brier).to.be.closeTo(0.165, 0.005)
    expect(before.error).to.be.above(0.15)
  })

  it('give as many rows a high benefit as a high complexity', () => {
    const votes = trained.examples.map(({ prompt }) => judged(prompt))
    const shareOf = (holds: (vote: (typeof votes)[number]) => boolean) => votes.filter(holds).length / votes.length
    for (const border of [0.165, 0.33, 0.5, 0.67])
      expect(shareOf(({ benefit }) => benefit < border)).to.be.closeTo(
        shareOf(({ complexity }) => complexity < border),
        0.01,
      )
  })

  /** No tier changes, the mean moves by less than this, and the benefit of a prompt moves no further than its complexity. */
  const expectStill = ({ flips, shift, gain, moved }: Effect, most: number) => {
    expect(flips).to.equal(0)
    expect(Math.abs(shift)).to.be.below(most)
    expect(Math.abs(gain)).to.be.at.most(Math.abs(shift) + 0.001)
    expect(moved.benefit).to.be.at.most(moved.complexity + 0.001)
  }

  for (const disguise of wrappers)
    it(`do not see what is around an ask: ${disguise.name}`, () => {
      expectStill(effectOf(disguise, sampleOf(trained.examples, 240)), 0.001)
    })

  for (const disguise of efforts)
    it(`are not moved by an appeal to effort: ${disguise.name}`, () => {
      expectStill(effectOf(disguise, sampleOf(trained.examples, 200)), 0.05)
    })

  for (const disguise of forms)
    it(`are not moved by another form: ${disguise.name}`, () => {
      expectStill(effectOf(disguise, sampleOf(trained.examples, 200)), 0.02)
    })
})

describe('routing/classification: structural', () => {
  let rig: Rig
  before(async () => {
    rig = await classifying()
  })
  after(() => rig.close())

  it('judges the last text of the user alone, in every protocol', async () => {
    const ask = 'Prove that the sum of two odd integers is even, then compute 17 * 23.'
    const bare = await rig.classify(said(ask))
    expect(bare.votes['metadata']).to.deep.equal({ abstained: true, reasons: [] })
    expect(bare.votes['structural']).to.deep.include({ weight: 0.1, share: 1 })
    expect(bare).to.deep.include({ weightsVersion: 's-1', map: 'dev-1' })
    expect(bare.features).to.have.length(featureNames.length)
    const tool = { type: 'function', function: { name: 'run', parameters: { type: 'object', properties: {} } } }
    const agent = await rig.classify({
      messages: [
        { role: 'system', content: 'Optimize and refactor. '.repeat(2_000) },
        ...said('Design a compiler.', 'Done.').messages,
        { role: 'user', content: `<system-reminder>\nProve it.\n</system-reminder>\n${ask}` },
      ],
      tools: [tool],
      max_tokens: 32_000,
    })
    const messages = await rig.classify(
      { max_tokens: 100, messages: [{ role: 'user', content: [{ type: 'text', text: ask }] }] },
      {},
      '/judged/messages',
    )
    const responses = await rig.classify({ input: ask }, {}, '/judged/responses')
    for (const same of [agent, messages, responses]) expect(same.complexity).to.equal(bare.complexity)
  })

  it('holds a greeting for the easiest of all', async () => {
    expect(await rig.classify(said('Hi there!'))).to.deep.include({ complexity: 0, benefit: 0, tier: 'SIMPLE' })
    expect(await rig.classify(said('Explain it.', 'So.', 'Thanks a lot!'))).to.deep.include({ complexity: 0 })
  })

  it('has no vote on an image alone', async () => {
    const content = [{ type: 'image_url', image_url: { url: 'https://example.test/cat.png' } }]
    const { votes, facts, notes } = await rig.classify({ messages: [{ role: 'user', content }] })
    expect(votes['structural']).to.deep.equal({ abstained: true, reasons: [] })
    expect([facts['images'], notes]).to.deep.equal([1, ['unclassified']])
  })

  it('never throws, gives numbers between 0 and 1, and takes linear time', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 3_000 }), (text) => {
        const { complexity, benefit = 0, confidence, reasons } = structural({ text })
        for (const value of [complexity, benefit, confidence]) expect(value).to.be.within(0, 1)
        expect(reasons.length).to.be.at.most(3)
        for (const value of features(text)) expect(value).to.satisfy(Number.isFinite)
      }),
      { numRuns: 200 },
    )
    for (const piece of ['a', 'a ', '1,', '_', '```\n', '\u0301', '.', '\u200b', '\n> '])
      expectLinear(64_000, (size) => piece.repeat(size / piece.length), features)
  })

  it('ranks a value in the middle of those that equal it', () => {
    expect([0, 1, 1.5, 2, 5, 9].map((value) => rankIn([1, 2, 2, 2, 8], value))).to.deep.equal([
      0, 0, 0.125, 0.5, 0.875, 1,
    ])
  })
})
