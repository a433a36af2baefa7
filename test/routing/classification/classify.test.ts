import { expect } from 'chai'
import type { Vote } from '../../../engine/index.ts'
import { blend } from '../../../plugins/classification/blend.ts'
import { logistic, logit } from '../../../plugins/classification/odds.ts'
import { classifying, said } from './rig.ts'
import type { Rig } from './rig.ts'

describe('routing/classification: classify', () => {
  let rig: Rig
  before(async () => {
    rig = await classifying('{ signals: { metadata: 0.50, acme-shout: 0.10 }, deadline: 10s }')
  })
  after(() => rig.close())

  it('blends the votes of the signals that have something to say, weighted by their confidence', async () => {
    const alone = await rig.classify(said('PROVE IT'))
    expect(alone.votes).to.deep.equal({
      metadata: { abstained: true, reasons: [] },
      'acme-shout': { complexity: 0.9, confidence: 1, weight: 0.1, share: 1, reasons: ['capitals'] },
    })
    expect(alone.complexity).to.be.closeTo(0.9, 1e-9)
    expect(alone).to.deep.include({ tier: 'COMPLEX', notes: ['acme-shout=0.90'], confidenceRaw: alone.complexity })
    const both = await rig.classify({ ...said('PROVE IT'), reasoning_effort: 'minimal' })
    const { metadata, 'acme-shout': shout } = both.votes as Record<string, { share: number; complexity: number }>
    expect(metadata?.share).to.be.closeTo((0.5 * 0.3) / (0.5 * 0.3 + 0.1), 1e-9)
    expect(both.complexity)
      .to.be.lessThan(0.9)
      .and.greaterThan(metadata?.complexity ?? 1)
    expect((metadata?.share ?? 0) + (shout?.share ?? 0)).to.be.closeTo(1, 1e-9)
  })

  it('pools what is gained as it pools the complexity, and takes one number for both from a signal that has one', () => {
    const vote = (said: Partial<Vote>): Vote => ({ complexity: 0.5, confidence: 1, reasons: [], ...said })
    const weights = { one: 0.3, other: 0.1 }
    const pooled = (one: Partial<Vote>, other: Partial<Vote>) => {
      const votes = new Map([
        ['one', vote(one)],
        ['other', vote(other)],
      ])
      return blend(weights, votes, 'failed', 0.5)
    }
    const both = pooled({ complexity: 0.8, benefit: 0.2 }, { complexity: 0.8 })
    expect(both.complexity).to.be.closeTo(0.8, 1e-9)
    expect(both.benefit).to.be.closeTo(logistic(0.75 * logit(0.2) + 0.25 * logit(0.8)), 1e-9)
    expect(both.votes['one']).to.deep.include({ complexity: 0.8, benefit: 0.2 })
    expect(both.votes['other']).not.to.have.property('benefit')
    expect(pooled({ complexity: 0.3, benefit: 0.02 }, { confidence: 0 })).to.deep.include({ benefit: 0 })
    const none = pooled({ confidence: 0, benefit: 0.9 }, { confidence: 0 })
    expect(none).to.deep.include({ complexity: 0.5, benefit: 0.5, notes: ['unclassified'] })
  })

  it('takes the complexity of the settings when nobody votes', async () => {
    expect(await rig.classify(said('prove it'))).to.deep.include({
      complexity: 0.5,
      benefit: 0.5,
      tier: 'MEDIUM',
      confidence: 0,
      confidenceRaw: 0,
      notes: ['unclassified'],
      features: null,
      weightsVersion: null,
    })
  })

  it('names a signal that fails, and goes on without it', async () => {
    const failed = await rig.classify(said('THROW'))
    expect(failed.votes['acme-shout']).to.deep.equal({ abstained: true, reasons: ['failed'] })
    expect(failed.notes).to.deep.equal(['acme-shout=failed', 'unclassified'])
  })

  it('hands on the cleaned ask and the cleaned texts before it, oldest first', async () => {
    const shown = await rig.classify(
      said('first', 'a', 'Hi! <b>second</b>', 'b', '<system-reminder>no</system-reminder>third', 'c', 'Thanks. fourth'),
    )
    expect(shown.ask).to.equal('fourth')
    expect(shown.earlier).to.deep.equal(['<b>second</b>', 'third'])
  })

  it('takes a hint of the body or of a header, by a tier or by a model, and refuses another word', async () => {
    const hinted = async (routing: object, headers: Record<string, string> = {}) => {
      const { facts, votes } = await rig.classify({ ...said('prove it'), ...routing }, headers)
      return [facts['hint'], (votes['metadata'] as { confidence: number }).confidence]
    }
    expect(await hinted({ routing: { hint: 'complex' } })).to.deep.equal([0.835, 0.9])
    expect(await hinted({}, { 'x-routing-hint': 'MEDIUM' })).to.deep.equal([0.5, 0.9])
    expect(await hinted({ routing: { hint: 'small' } })).to.deep.equal([0.165, 0.9])
    expect(await hinted({ routing: { hint: 'large' } }, { 'x-routing-hint': 'SIMPLE' })).to.deep.equal([0.835, 0.9])
    for (const [body, headers, param] of [
      [{ routing: { hint: 'huge' } }, {}, 'routing.hint'],
      [{ routing: { hint: 7 } }, {}, 'routing.hint'],
      [{}, { 'x-routing-hint': 'auto' }, 'x-routing-hint'],
    ] as const) {
      const answer = await rig.gateway.post('/judged/chat', { model: 'auto', ...said('hm'), ...body }, headers)
      expect(answer.status).to.equal(400)
      expect(await answer.json()).to.deep.equal({
        error: {
          message: `Invalid value at ${param}: it must be SIMPLE, MEDIUM, COMPLEX, or the name of a model.`,
          type: 'invalid_request_error',
          param,
          code: 'invalid_value',
        },
      })
    }
  })
})

describe('routing/classification: a late signal', () => {
  it('abstains, is named, and holds nobody up', async () => {
    const rig = await classifying('{ signals: { acme-shout: 1 }, deadline: 40ms }')
    try {
      const late = await rig.classify(said('LOOP'))
      expect(late.notes).to.deep.equal(['acme-shout=late', 'unclassified'])
      expect(late).to.deep.include({ complexity: 0.5, tier: 'MEDIUM' })
    } finally {
      await rig.close()
    }
  })

  it('that is not there is a finding at its place', async () => {
    const error = await classifying('{ signals: { metadta: 1 } }').then(
      (rig) => rig.close(),
      (thrown: Error) => thrown,
    )
    expect(String(error)).to.match(/no signal named "metadta"; did you mean "metadata"\? \[unknown-signal\]/)
  })
})
