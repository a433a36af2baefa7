import { expect } from 'chai'
import type { DecideReply, DecideRequest } from '../../../engine/index.ts'
import { ExchangeScope } from '../../../engine/http/scope.ts'
import echo from '../../../plugins/providers/echo.ts'
import { openProvider, testHost } from '../../support/host.ts'

const request: DecideRequest = {
  evidence: [
    [
      { type: 'text', text: 'Text.' },
      { type: 'image', mediaType: 'image/png', data: 'AAAA' },
    ],
  ],
  questions: [
    { type: 'predicate', instructions: 'Is it?' },
    { type: 'choice', instructions: 'Which?', choices: [{ value: 'a' }, { value: true }, { value: 'c' }] },
    { type: 'score', instructions: 'How?', levels: Array.from({ length: 26 }, (_, at) => ({ label: `l${at}` })) },
    { type: 'choice', instructions: 'Which?', choices: [{ value: 'only' }] },
  ],
}

async function decided(asked = request, config: object = {}, scope = new ExchangeScope()): Promise<DecideReply> {
  const answer = openProvider(echo, config, testHost()).answer?.decide?.(asked, 'echo', scope)
  if (!answer || Symbol.asyncIterator in answer) throw new Error('the echo decides at once')
  return answer
}

describe('decisions of the echo', () => {
  it('are one plausible answer per question', async () => {
    const { model, answers, usage } = await decided()
    expect(model).to.equal('echo')
    expect(usage).to.deep.include({ output: 4, cacheRead: 0, cacheWrite: 0, reasoning: 0 })
    expect(usage?.input).to.be.greaterThan(10)
    const [predicate, choice, score, only] = answers
    expect(predicate?.type === 'predicate' && predicate.probability).to.be.within(0, 1)
    if (choice?.type !== 'choice' || score?.type !== 'score' || only?.type !== 'choice') throw new Error('other types')
    for (const [{ probabilities, confidence }, count] of [
      [choice, 3],
      [score, 26],
      [only, 1],
    ] as const) {
      expect(probabilities).to.have.length(count)
      expect(probabilities.reduce((sum, share) => sum + share, 0)).to.be.closeTo(1, 1e-9)
      expect(confidence).to.equal(Math.max(...probabilities))
    }
    expect(choice.choice).to.equal(choice.probabilities.indexOf(choice.confidence ?? -1))
    expect(only).to.deep.equal({ type: 'choice', choice: 0, probabilities: [1], confidence: 1 })
    expect(score.score).to.be.closeTo(
      score.probabilities.reduce((sum, share, index) => sum + share * index, 0),
      1e-4,
    )
  })

  it('depend on the evidence and the question, and on nothing else', async () => {
    const first = await decided()
    const named = request.questions.map((question, index) => ({ ...question, name: `n${index}` }))
    expect((await decided({ ...request, questions: named })).answers).to.deep.equal(first.answers)
    expect((await decided({ ...request, evidence: [[{ type: 'text', text: 'Other.' }]] })).answers).not.to.deep.equal(
      first.answers,
    )
  })

  it('fail when they are told to', async () => {
    const error = await decided(request, { fail: { status: 503 } }).catch((reason: unknown) => reason)
    expect(error).to.include({ code: 'upstream_error' })
  })

  it('wait no longer than the client does', async () => {
    const scope = new ExchangeScope()
    const waiting = decided(request, { delay: '1h' }, scope).catch((reason: unknown) => reason)
    const reason = new Error('the client left')
    scope.abort(reason)
    expect(await waiting).to.equal(reason)
  })
})
