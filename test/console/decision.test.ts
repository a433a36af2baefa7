import { expect } from 'chai'
import { complexityOf, fromBlock, fromPreview, gainOf } from '../../console/src/parts/decision.ts'
import type { RoutingBlock, RoutingPreview } from '../../console/src/parts/decision.ts'
import { noteOf, words } from '../../console/src/parts/decision-words.ts'
import { askedIn } from '../../console/src/screens/playground/asked.ts'
import { imageOf } from '../../console/src/screens/playground/image.ts'
import { isWhole, questionOf } from '../../console/src/screens/playground/question.ts'
import { densityOf } from '../../console/src/screens/routing/density.ts'
import { judgeBlock, routingBlock } from '../routing/seeing/rig.ts'

const blockOf = (fields: Parameters<typeof routingBlock>[0] = {}) => routingBlock(fields) as unknown as RoutingBlock

describe('console: a decision as it is drawn', () => {
  it('is that of a row, with what the signals said where something changed it', () => {
    const drawn = fromBlock(blockOf())
    expect(drawn).to.include({ mode: 'auto', tier: 'MEDIUM', complexity: 0.412, blended: 0.3, chosen: 'm-mid' })
    expect(drawn).to.include({ served: 'm-mid', savings: 0.00251, votes: null, wouldAsk: null, error: null })
    expect(drawn.candidates).to.deep.equal([{ model: 'm-mid' }, { model: 'm-large' }])
    expect(fromBlock(blockOf({ ensemble: { complexity: 0.412, tier: 'MEDIUM' } })).blended).to.equal(null)
  })

  it('says in words what a dearer model gains, and nothing that is untrue near the borders of tiers', () => {
    const said = (complexity: number, benefit?: number) => {
      const { benefit: _, ...before } = blockOf({ complexity })
      const gain = gainOf(fromBlock(benefit === undefined ? before : blockOf({ complexity, benefit })))
      return gain && words.gain[gain]((benefit ?? 0).toFixed(2).replace(/^0/, ''))
    }
    expect(said(0.9, 0.1)).to.equal('Benefit .10: it is hard, but the dear one would hardly do better.')
    expect(said(0.5, 0.32)).to.equal('Benefit .32: it is not easy, but the dear one would hardly do better.')
    const [less, about, more] = ['less than', 'about what', 'more than'].map(
      (much) => (benefit: string) => `Benefit ${benefit}: a dearer model gains ${much} the complexity tells.`,
    )
    // It gains much of a hard prompt, a little less than that, and of an easy one it never gained much.
    expect([said(0.9, 0.67), said(0.9, 0.34), said(0.3, 0.1)]).to.deep.equal([
      less?.('.67'),
      less?.('.34'),
      less?.('.10'),
    ])
    // On both sides of a border, but hardly apart.
    expect([said(0.68, 0.66), said(0.34, 0.32), said(0.66, 0.68)]).to.deep.equal([
      about?.('.66'),
      about?.('.32'),
      about?.('.68'),
    ])
    expect([said(0.3, 0.7), said(0.7, 0.95)]).to.deep.equal([more?.('.70'), more?.('.95')])
    expect(said(0.9)).to.equal(undefined)
  })

  it('has scores and excluded models where diagnostics kept them, each model once', () => {
    const votes = { structural: { complexity: 0.41, confidence: 0.8, weight: 0.1, share: 1, reasons: ['code'] } }
    const diagnostics = {
      signal_votes: votes,
      gates: [{ gate: 'images', left: 2, removed: ['m-tiny', 'm-odd'] }],
      scorecards: [
        { model: 'm-mid', score: 0.58 },
        { model: 'm-tiny', excluded: 'images' },
      ],
    }
    const drawn = fromBlock(blockOf({ diagnostics }))
    expect(drawn.votes).to.deep.equal(votes)
    expect(drawn.candidates).to.deep.equal([...diagnostics.scorecards, { model: 'm-odd', excluded: 'images' }])
  })

  it('is that of a preview, whose reasoning is in parts', () => {
    const preview: RoutingPreview = {
      mode: 'best',
      tier: null,
      complexity: null,
      confidence: 0.4,
      chosen: null,
      estimate: null,
      reasoning: 'tier=MEDIUM | structural=0.41 | floor=vision:MEDIUM | chosen=m-mid',
      votes: null,
      gates: [],
      judge: { would_ask: false, because: 'off' },
      candidates: [],
      error: { status: 400, code: 'no_available_models', message: 'None.' },
    }
    const drawn = fromPreview(preview)
    expect(drawn.notes).to.deep.equal(['structural=0.41', 'floor=vision:MEDIUM'])
    expect(drawn).to.deep.include({ wouldAsk: preview.judge, error: preview.error, served: null, judge: null })
  })

  it('has the judge where its probabilities put it, otherwise in the middle of its tier', () => {
    const judge = (fields: object) => complexityOf(judgeBlock(fields as never) as never)
    const distribution = { SIMPLE: 0.1, MEDIUM: 0.8, COMPLEX: 0.1 }
    expect(judge({ verdict: 'MEDIUM', distribution })).to.be.closeTo(0.5, 1e-9)
    expect(judge({ verdict: 'COMPLEX', distribution: null })).to.equal(0.835)
    expect(judge({ verdict: null, distribution: null, error: 'deadline' })).to.equal(undefined)
  })

  it('has a sentence for each note of the gateway, and leaves the rest as text', () => {
    const said = (part: string) => noteOf(part)?.sentence
    expect(said('floor=vision:MEDIUM')).to.equal('At least MEDIUM, because the last message has an image.')
    expect(said('cap=routine_success:MEDIUM')).to.include('At most MEDIUM')
    expect(said('degraded=context')).to.include('largest')
    expect(said('sticky=m-large')).to.equal('m-large goes on with the work that it began.')
    for (const why of ['gate', 'circuit', 'tier']) expect(noteOf(`sticky=broken:${why}`)?.tag).to.equal('switched')
    expect(said('explore=trial:m-mid')).to.include('m-mid is tried')
    expect(said('circuit=reed')).to.include('reed fails')
    expect(said('judge=COMPLEX')).to.include('COMPLEX')
    expect(said('judge-held=COMPLEX(0.48)')).to.include('COMPLEX(0.48)')
    expect(said('continuity=unavailable')).to.be.a('string')
    expect(noteOf('structural=0.41')).to.equal(undefined)
    expect(noteOf('unclassified')).to.equal(undefined)
  })
})

describe('console: the density of what was learned', () => {
  it('is highest at the mode, and holds 90 % within its band', () => {
    const { heights, low, high } = densityOf(8, 4)
    expect(heights.indexOf(Math.max(...heights)) / 96).to.be.closeTo(0.7, 0.01)
    // Quantiles of Beta(8, 4): 0.4356 and 0.8649.
    expect(low).to.be.closeTo(0.436, 0.02)
    expect(high).to.be.closeTo(0.865, 0.02)
  })

  it('is finite where it has no highest value', () => {
    const { heights, high } = densityOf(4.5, 0.5)
    expect(heights.every((height) => height >= 0 && height <= 1)).to.equal(true)
    expect(high).to.be.at.most(1)
  })
})

describe('console: requests of the playground', () => {
  it('ask the questions as they are typed, and only whole ones', () => {
    const question = { id: 1, instructions: 'Which?', lines: ' zebra \n\napple' }
    expect(questionOf({ ...question, kind: 'choice' })).to.deep.equal({
      type: 'choice',
      instructions: 'Which?',
      choices: [{ value: 'zebra' }, { value: 'apple' }],
    })
    expect(questionOf({ ...question, kind: 'score' })).to.deep.include({
      levels: [{ label: 'zebra' }, { label: 'apple' }],
    })
    expect(questionOf({ ...question, kind: 'predicate' })).to.deep.equal({ type: 'predicate', instructions: 'Which?' })
    expect(isWhole({ ...question, kind: 'score' })).to.equal(true)
    expect(isWhole({ ...question, kind: 'score', lines: 'one' })).to.equal(false)
    expect(isWhole({ ...question, kind: 'predicate', instructions: ' ' })).to.equal(false)
  })

  it('show data that begins like a picture, and nothing else', () => {
    expect(imageOf('iVBORw0KGgoAAA')).to.equal('data:image/png;base64,iVBORw0KGgoAAA')
    expect(imageOf('/9j/4AAQ')).to.match(/^data:image\/jpeg/)
    expect(imageOf('PHN2ZyBvbmxvYWQ9')).to.equal(undefined)
  })

  it('begin with what a captured request asked, in each protocol', () => {
    const parts = [{ type: 'text', text: 'Hello' }, { type: 'image_url' }]
    const cases: readonly [object, object][] = [
      [
        {
          messages: [
            { role: 'system', content: 'Be kind.' },
            { role: 'user', content: parts },
          ],
        },
        { system: 'Be kind.', text: 'Hello' },
      ],
      [
        {
          system: 'Be kind.',
          messages: [
            { role: 'user', content: 'Hello' },
            { role: 'assistant', content: 'Hi' },
          ],
        },
        { system: 'Be kind.', text: 'Hello' },
      ],
      [
        { instructions: 'Be kind.', input: 'Hello' },
        { system: 'Be kind.', text: 'Hello' },
      ],
      [{ input: [{ role: 'user', content: [{ type: 'input_text', text: 'Hello' }] }] }, { system: '', text: 'Hello' }],
    ]
    for (const [body, asked] of cases) expect(askedIn(JSON.stringify(body))).to.deep.equal(asked)
    for (const text of ['', '{"messages": [', 'null', '{"prompt": "a cat"}']) expect(askedIn(text)).to.equal(undefined)
  })
})
