import { expect } from 'chai'
import type { JsonObject } from '../../../engine/index.ts'
import { noted, startJudged } from './rig.ts'
import type { JudgeChange, Judged } from './rig.ts'

const choices = [
  { value: 'SIMPLE', description: 'a small model answers it as well as a large one' },
  { value: 'MEDIUM', description: 'needs a solid general model' },
  { value: 'COMPLEX', description: 'needs the strongest model: several dependent steps, proof, design, subtle code' },
  { value: 'UNCLEAR', description: 'cannot be told from this text' },
]

describe('questions for the judge', function () {
  this.timeout(60_000)
  let judged: Judged
  before(async () => (judged = await startJudged()))
  after(() => judged.close())

  const evidence = async (changed: JudgeChange, texts: readonly string[], facts: JsonObject = {}) => {
    await judged.begin(changed)
    const messages = texts.map((content) => ({ role: 'user', content }))
    const { status } = await judged.ask({ facts }, { messages })
    expect(status).to.equal(200)
    return judged.question()['input'] as string
  }

  it('are one choice among the tiers about one text, and nothing else', async () => {
    await judged.begin()
    const messages = [
      { role: 'system', content: 'You are a pirate.' },
      { role: 'user', content: 'Sort a list.' },
    ]
    await judged.ask({ facts: { images: 1, tools: 8, schema_depth: 2 } }, { messages })
    const question = judged.question()
    const [only, ...others] = question['questions'] as readonly JsonObject[]
    expect(others).to.deep.equal([])
    expect(only?.['instructions']).to.be.a('string')
    expect({ ...question, questions: [{ ...only, instructions: '' }] }).to.deep.equal({
      model: 'jury-2026',
      input: 'images=1 tools=8 schema=1\n\nSort a list.',
      questions: [{ type: 'choice', name: 'tier', instructions: '', choices }],
    })
    expect(judged.judge.requests.at(-1)?.headers).to.deep.include({ authorization: 'Bearer sk-judge' })
    expect(JSON.stringify(judged.judge.requests.at(-1)?.headers)).not.to.contain(judged.gateway.key)
  })

  it('have the earlier texts of the user before the last one, oldest first', async () => {
    const texts = ['one', 'two', 'three', 'four']
    expect(await evidence({}, texts)).to.equal('images=0 tools=0 schema=0\n\ntwo\n\nthree\n\nfour')
  })

  it('have as many of them as the settings say', async () => {
    expect(await evidence({ user_turns: 0 }, ['one', 'two'])).to.equal('images=0 tools=0 schema=0\n\ntwo')
    expect(await evidence({ user_turns: 3 }, ['one', 'two'])).to.equal('images=0 tools=0 schema=0\n\none\n\ntwo')
  })

  it('are cut: 60 % of the front and 40 % of the end of the last text, and nothing before it', async () => {
    const text = `${'a'.repeat(500)}${'b'.repeat(500)}`
    const cut = await evidence({ ask_budget_chars: 100 }, ['earlier', text])
    expect(cut).to.equal(`images=0 tools=0 schema=0\n\n${'a'.repeat(60)}${'b'.repeat(40)}`)
  })

  it('leave to earlier texts what the last one does not need', async () => {
    const text = (letter: string, count: number) => letter.repeat(count)
    const cut = await evidence({ ask_budget_chars: 100 }, ['first', `${text('a', 60)}${text('b', 60)}`, text('c', 78)])
    expect(cut).to.equal(`images=0 tools=0 schema=0\n\n${text('a', 12)}${text('b', 8)}\n\n${text('c', 78)}`)
  })

  it('have no halves of characters', async () => {
    const cut = await evidence({ ask_budget_chars: 101 }, ['😀'.repeat(200)])
    expect(cut.isWellFormed()).to.equal(true)
    expect(cut.length).to.be.within(120, 128)
  })
})

describe('the gate of the judge', function () {
  this.timeout(60_000)
  let judged: Judged
  before(async () => (judged = await startJudged()))
  after(() => judged.close())

  const fired = async (changed: JudgeChange, signals: JsonObject, body: JsonObject = {}) => {
    await judged.begin(changed)
    expect((await judged.ask(signals, body)).status).to.equal(200)
    const { judge, main } = judged.calls()
    expect(main).to.equal(1)
    const { block } = await judged.told(1 + judge)
    expect(block === null).to.equal(judge === 0)
    return judge
  }

  const confidence = { gate: { max_confidence: 0.5 } }
  const band = { gate: { complexity_band: [0.3, 0.7] } }
  const above = { gate: { not_low_anchor: true } }
  const all = { gate: { max_confidence: 0.5, complexity_band: [0, 0.7], not_low_anchor: true } }
  const table: readonly (readonly [string, JudgeChange, JsonObject, number])[] = [
    ['nothing is set', { gate: {} }, { confidence: 0, complexity: 0.5 }, 0],
    ['the confidence is below', confidence, { confidence: 0.499 }, 1],
    ['the confidence is at the limit', confidence, { confidence: 0.5 }, 0],
    ['the complexity is at the lower end', band, { complexity: 0.3, confidence: 1 }, 1],
    ['the complexity is within', band, { complexity: 0.699, confidence: 1 }, 1],
    ['the complexity is at the upper end', band, { complexity: 0.7, confidence: 0 }, 0],
    ['the complexity is below', band, { complexity: 0.299, confidence: 0 }, 0],
    ['the complexity is the low anchor', above, { complexity: 0, confidence: 0 }, 0],
    ['the complexity is above the low anchor', above, { complexity: 0.05, confidence: 1 }, 1],
    ['all that is set holds', all, { complexity: 0.1, confidence: 0.4 }, 1],
    ['one of three does not hold', all, { complexity: 0, confidence: 0.4 }, 0],
    ['another of three does not hold', all, { complexity: 0.7, confidence: 0.4 }, 0],
    ['the last of three does not hold', all, { complexity: 0.1, confidence: 0.6 }, 0],
  ]
  for (const [what, changed, signals, count] of table)
    it(`${count === 1 ? 'fires' : 'does not fire'} if ${what}`, async () =>
      expect(await fired(changed, signals)).to.equal(count))

  it('is for auto and best, or for the modes of the settings', async () => {
    for (const [changed, counts] of [
      [{}, { fast: 0, auto: 1, best: 1, BEST: 1 }],
      [{ modes: ['fast'] }, { fast: 1, auto: 0, best: 0 }],
      [{ modes: [] }, { fast: 0, auto: 0, best: 0 }],
    ] as const)
      for (const [model, count] of Object.entries(counts))
        expect(await fired(changed, {}, { model }), model).to.equal(count)
  })

  it('is for first turns alone', async () => {
    expect(await fired({}, { facts: { first: false } })).to.equal(0)
    expect(await fired({ shadow: true, sample_rate: 1 }, { facts: { first: false } })).to.equal(0)
  })

  it('is not for requests in the background', async () => {
    expect(await fired({}, { facts: { background: true } })).to.equal(0)
    expect(await fired({ shadow: true, sample_rate: 1 }, { facts: { background: true } })).to.equal(0)
  })

  it('asks nobody while the judge is off', async () => {
    expect(await fired({ enabled: false }, {})).to.equal(0)
  })

  it('samples only in shadow, and tells with which probability', async () => {
    const closed = { gate: {}, sample_rate: 1 }
    expect(await fired(closed, {})).to.equal(0)
    expect(await fired({ ...closed, shadow: true, sample_rate: 0 }, {})).to.equal(0)
    expect(await fired({ ...closed, shadow: true }, {})).to.equal(1)
    expect((await judged.told()).block).to.deep.include({ gate_fired: false, sampled: true, sample_p: 1, shadow: true })
    const { judged: row, own } = await judged.rows()
    expect(noted(row ?? own)).to.deep.include({ shadow: true, gate_fired: false, sampled: true })
  })

  it('samples about as many as the settings say', async () => {
    await judged.begin({ shadow: true, gate: {}, sample_rate: 0.5 })
    await Promise.all(Array.from({ length: 60 }, () => judged.ask()))
    // Less than one of a million sets of 60 has fewer than 11 or more than 49.
    expect(judged.calls().judge).to.be.within(11, 49)
  })

  it('tells a preview whether the judge would be asked, and asks nobody', async () => {
    const would = async (changed: JudgeChange, signals: JsonObject = {}, body: JsonObject = {}) => {
      await judged.begin(changed)
      const answer = (await (await judged.ask(signals, body, '/would')).json()) as JsonObject
      expect(judged.calls()).to.deep.equal({ judge: 0, main: 0 })
      expect(answer['block']).to.equal(null)
      return [answer['ask'], answer['because']]
    }
    expect(await would({})).to.deep.equal([true, 'gate_fired'])
    expect(await would({}, { confidence: 1 })).to.deep.equal([false, 'gate'])
    expect(await would({}, {}, { model: 'fast' })).to.deep.equal([false, 'mode'])
    expect(await would({}, { facts: { first: false } })).to.deep.equal([false, 'later_turn'])
    expect(await would({}, { facts: { background: true } })).to.deep.equal([false, 'background'])
    expect(await would({ gate: {}, shadow: true, sample_rate: 1 })).to.deep.equal([true, 'sampled'])
    expect(await would({ enabled: false })).to.deep.equal([false, 'off'])
  })
})
