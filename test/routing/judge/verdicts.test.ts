import { expect } from 'chai'
import { decides, evaluates, noted, startJudged } from './rig.ts'
import type { Judged } from './rig.ts'

/** Probabilities of SIMPLE, MEDIUM, COMPLEX and UNCLEAR. */
type Masses = readonly [number, number, number, number?]

const shown = [
  'model',
  'request_id',
  'shadow',
  'gate_fired',
  'sampled',
  'sample_p',
  'asked',
  'verdict',
  'mass',
  'escalation',
  'distribution',
  'applied',
  'held',
  'latency_ms',
  'input_tokens',
  'cost',
  'cost_origin',
  'error',
]

describe('verdicts of the judge', function () {
  this.timeout(60_000)
  let judged: Judged
  before(async () => (judged = await startJudged()))
  after(() => judged.close())
  beforeEach(() => judged.begin())

  it('replace the tier of the signals, by one call with a row of its own', async () => {
    judged.judge.answer(decides('COMPLEX', [0.05, 0.24, 0.71]))
    const answer = await judged.ask()
    expect(answer.status).to.equal(200)
    expect(judged.calls()).to.deep.equal({ judge: 1, main: 1 })
    const { own, judged: row } = await judged.rows()
    const told = await judged.told()
    expect(told).to.deep.include({ tier: 'COMPLEX', complexity: 0.7211, notes: ['judge=COMPLEX'], cost: 0.000188 })
    expect(told.block).to.have.all.keys(shown)
    expect(Object.keys(told.block ?? {})).to.deep.equal(shown)
    const { latency_ms: latency, ...block } = told.block ?? {}
    expect(latency).to.be.a('number')
    expect(block).to.deep.equal({
      model: 'jury',
      request_id: row?.id,
      shadow: false,
      gate_fired: true,
      sampled: false,
      sample_p: 1,
      asked: true,
      verdict: 'COMPLEX',
      mass: 0.71,
      escalation: 0.71,
      distribution: { SIMPLE: 0.05, MEDIUM: 0.24, COMPLEX: 0.71 },
      applied: true,
      held: false,
      input_tokens: 188,
      cost: 0.000188,
      cost_origin: 'model',
      error: null,
    })
    expect(row).to.deep.include({
      parent: own.id,
      type: 'judge',
      requested: 'jury',
      model: 'jury',
      provider: 'judges',
      protocol: 'decisions',
      upstream_protocol: 'decisions',
      key_id: own.key_id,
      key_name: 'test',
      status: 200,
      result: 'completed',
      attempts: 1,
      input_tokens: 188,
      output_tokens: 4,
      // Billed for its input alone.
      cost_micros: 188,
    })
    expect(noted(row ?? own)).to.deep.include({ shadow: false, gate_fired: true, sampled: false })
    expect(noted(row ?? own)).not.to.have.any.keys('error', 'warm')
  })

  const tiers: readonly (readonly [string, Masses, number])[] = [
    ['SIMPLE', [1, 0, 0], 0.165],
    ['SIMPLE', [0.45, 0.15, 0.4], 0.329],
    ['MEDIUM', [0.1, 0.8, 0.1], 0.5],
    ['MEDIUM', [0.51, 0.49, 0], 0.33],
    ['COMPLEX', [0.4, 0, 0.6], 0.67],
    ['COMPLEX', [0, 0, 1], 0.835],
    // Without what nobody can tell.
    ['MEDIUM', [0.1, 0.4, 0, 0.5], 0.433],
  ]
  for (const [tier, masses, complexity] of tiers)
    it(`of ${tier} with ${masses.join('/')} stand for the complexity ${complexity}`, async () => {
      judged.judge.answer(decides(tier, masses))
      await judged.ask()
      expect(await judged.told()).to.deep.include({ tier, complexity })
    })

  it('are the chosen tier even if another one is more probable', async () => {
    judged.judge.answer(decides('SIMPLE', [0.2, 0.7, 0.1]))
    await judged.ask()
    const { tier, block } = await judged.told()
    expect({ tier, mass: block?.['mass'], escalation: block?.['escalation'] }).to.deep.equal({
      tier: 'SIMPLE',
      mass: 0.2,
      escalation: 0.1,
    })
  })

  const silent: readonly (readonly [string, ReturnType<typeof decides>, string, object])[] = [
    ['that cannot tell', decides('UNCLEAR', [0.1, 0.1, 0.1, 0.7]), 'abstained', {}],
    ['that is torn', decides('MEDIUM', [0.495, 0.505, 0]), 'ambiguous', {}],
    [
      'that refuses',
      { body: { answers: [{ type: 'refusal' }], usage: { input_tokens: 188, output_tokens: 0, total_tokens: 188 } } },
      'refused',
      {},
    ],
    ['that answers nonsense', { body: { answers: [{ type: 'choice', choice: 'HUGE' }] } }, 'unparseable', {}],
    ['that answers nothing', { body: { hello: 1 } }, 'unparseable', {}],
    ['that answers no JSON', { body: '{', headers: { 'content-type': 'application/json' } }, 'unparseable', {}],
    ['that is overloaded', { status: 529, body: { error: { message: 'later' } } }, 'http_529', { status: 503 }],
    ['that fails', { status: 500, body: { error: { message: 'broken' } } }, 'http_500', { status: 502 }],
    ['that rejects the question', { status: 400, body: { error: { message: 'no' } } }, 'http_400', { status: 400 }],
    ['that hangs up', { ending: 'reset' as const, raw: '' }, 'unreachable', { status: 502 }],
  ]
  for (const [what, script, error, columns] of silent)
    it(`of a judge ${what} change nothing, and the row says ${error}`, async () => {
      judged.judge.answer(script)
      const answer = await judged.ask()
      expect(answer.status).to.equal(200)
      expect(judged.calls()).to.deep.equal({ judge: 1, main: 1 })
      const { tier, complexity, notes, block } = await judged.told()
      expect({ tier, complexity, notes }).to.deep.equal({ tier: null, complexity: null, notes: [] })
      expect(block).to.deep.include({ asked: true, verdict: null, mass: null, applied: false, held: false, error })
      const { judged: row } = await judged.rows()
      expect(row).to.deep.include(columns)
      expect(noted(row ?? { metadata: '' })['error']).to.equal(error)
    })

  it('are told apart by two hundredths', async () => {
    judged.judge.answer(decides('MEDIUM', [0.49, 0.51, 0]))
    await judged.ask()
    expect(await judged.told()).to.deep.include({ tier: 'MEDIUM' })
  })

  it('need no probabilities, which are then unknown', async () => {
    judged.judge.answer(decides('COMPLEX'))
    await judged.ask()
    const { tier, complexity, block } = await judged.told()
    expect({ tier, complexity }).to.deep.equal({ tier: 'COMPLEX', complexity: 0.835 })
    expect(block).to.deep.include({ mass: null, escalation: null, distribution: null, applied: true })
  })

  it('whose judge nobody can reach change nothing', async () => {
    const lost = await startJudged({ provider: { type: 'native', api_key: 'sk', base_url: 'http://127.0.0.1:1' } })
    try {
      await lost.begin()
      expect((await lost.ask()).status).to.equal(200)
      expect((await lost.told()).block).to.deep.include({ asked: true, error: 'unreachable' })
    } finally {
      await lost.close()
    }
  })
})

describe('a judge in the alternate envelope', function () {
  this.timeout(60_000)
  let judged: Judged
  before(async () => (judged = await startJudged({ provider: { type: 'bridge_a', api_key: 'sk-judge' } })))
  after(() => judged.close())
  beforeEach(() => judged.begin())

  it('is asked the same question, and is understood', async () => {
    judged.judge.answer(evaluates('SIMPLE', { SIMPLE: 0.8, MEDIUM: 0.15, COMPLEX: 0.05, UNCLEAR: 0 }))
    await judged.ask()
    expect(judged.calls()).to.deep.equal({ judge: 1, main: 1 })
    const { questions, ...question } = judged.question() as { questions: { tier: { criteria: object } } }
    expect(Object.keys(questions.tier.criteria)).to.deep.equal(['SIMPLE', 'MEDIUM', 'COMPLEX', 'UNCLEAR'])
    expect(JSON.stringify(question)).to.contain('Sort a list.')
    const { tier, block } = await judged.told()
    expect(tier).to.equal('SIMPLE')
    expect(block).to.deep.include({ mass: 0.8, escalation: 0.05, input_tokens: 188, cost: 0.000188 })
  })

  it('may leave out probabilities', async () => {
    judged.judge.answer(evaluates('COMPLEX'))
    await judged.ask()
    const { tier, block } = await judged.told()
    expect(tier).to.equal('COMPLEX')
    expect(block).to.deep.include({ mass: null, escalation: null, distribution: null })
  })

  it('may answer nonsense', async () => {
    judged.judge.answer(evaluates('HUGE'))
    await judged.ask()
    const { judged: row } = await judged.rows()
    expect(row).to.deep.include({ status: 502, error: 'upstream_invalid_response' })
    expect((await judged.told()).block).to.deep.include({ verdict: null, error: 'unparseable' })
  })
})
