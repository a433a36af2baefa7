import { expect } from 'chai'
import type { Json, JsonObject } from '../../../../../engine/index.ts'
import decisions from '../../../../../plugins/protocols/decisions/codec.ts'
import mapeval from '../../../../../plugins/protocols/decisions/mapeval/codec.ts'
import { askedWith, listOf, sent, target, thrown } from '../exchange.ts'

const usage = { input_tokens: 174, output_tokens: 3 }
const asked: JsonObject = {
  model: 'm',
  input: 'Text.',
  questions: [
    { type: 'predicate', instructions: 'Is it?' },
    {
      type: 'choice',
      name: 'c',
      instructions: 'Which?',
      choices: [{ value: false }, { value: 'true' }, { value: 'x' }],
    },
    { type: 'score', name: 's', instructions: 'How?', levels: [{ label: 'low' }, { label: 'mid' }, { label: 'high' }] },
  ],
}
const answers: Record<string, JsonObject> = {
  c: { type: 'choice', choice: 'false', confidence: 0.7, probabilities: { x: 0.1, false: 0.8, true: 0.1 } },
  s: { type: 'score', score: 1.5, confidence: 0.6, legend: { 0: 'low' }, probabilities: { 0: 0.1, 1: 0.3, 2: 0.6 } },
  __unnamed_question_0: { type: 'noul', noul: 0.99 },
}

/** What a decisions client gets when the provider of the other envelope answers this. */
function given(answer: Json) {
  const neutral = decisions.request?.parse(asked)
  const printed = neutral && mapeval.request?.print(neutral, target('mapeval'))
  const reply = mapeval.reply?.parse(answer, printed?.restore)
  return sent(reply && decisions.reply?.print(reply, askedWith(asked)).body)
}

const answersOf = (more: JsonObject) =>
  listOf(given({ model: 'v1', answers: { ...answers, ...more }, usage })['answers'])

describe('answers of a mapeval provider', () => {
  it('are in the order of the questions, with typed values, labels and names', () => {
    expect(given({ model: 'v1', answers, usage })).to.deep.equal({
      model: 'v1',
      answers: [
        { type: 'predicate', name: null, probability: 0.99 },
        {
          type: 'choice',
          name: 'c',
          choice: false,
          confidence: 0.7,
          probabilities: [
            { value: false, probability: 0.8 },
            { value: 'true', probability: 0.1 },
            { value: 'x', probability: 0.1 },
          ],
        },
        {
          type: 'score',
          name: 's',
          score: 1.5,
          confidence: 0.6,
          probabilities: [
            { value: 0, label: 'low', probability: 0.1 },
            { value: 1, label: 'mid', probability: 0.3 },
            { value: 2, label: 'high', probability: 0.6 },
          ],
        },
      ],
      usage: {
        input_tokens: 174,
        input_tokens_details: { cache_write_tokens: 0, cached_tokens: 0 },
        output_tokens: 3,
        output_tokens_details: { reasoning_tokens: 0 },
        total_tokens: 177,
      },
    })
  })

  it('may leave out confidence: the client gets none', () => {
    const [, choice, score] = answersOf({
      c: { type: 'choice', choice: 'x', probabilities: { x: 1 } },
      s: { type: 'score', score: 0, probabilities: { 0: 1 }, confidence: null },
    })
    expect(choice).not.to.have.property('confidence')
    expect(score).not.to.have.property('confidence')
  })

  it('may leave out probabilities: the chosen option carries 1', () => {
    const [, choice, score] = answersOf({
      c: { type: 'choice', choice: 'true' },
      s: { type: 'score', score: 1.4, probabilities: null },
    })
    expect(choice?.['choice']).to.equal('true')
    expect(choice?.['probabilities']).to.deep.equal([
      { value: false, probability: 0 },
      { value: 'true', probability: 1 },
      { value: 'x', probability: 0 },
    ])
    expect(score?.['score']).to.equal(1.4)
    expect(listOf(score?.['probabilities']).map(({ probability }) => probability)).to.deep.equal([0, 1, 0])
  })

  it('may leave out the legend, and single options', () => {
    const [, choice, score] = answersOf({
      c: { type: 'choice', choice: 'x', probabilities: { x: 0.97 } },
      s: { type: 'score', score: 2, probabilities: { 2: 1 } },
    })
    expect(choice?.['probabilities']).to.deep.equal([
      { value: false, probability: 0 },
      { value: 'true', probability: 0 },
      { value: 'x', probability: 0.97 },
    ])
    expect(listOf(score?.['probabilities']).map(({ label }) => label)).to.deep.equal(['low', 'mid', 'high'])
  })

  it('may leave out the choice or the score when the probabilities tell them', () => {
    const [, choice, score] = answersOf({
      c: { type: 'choice', probabilities: { x: 0.2, true: 0.5, false: 0.3 } },
      s: { type: 'score', probabilities: { 0: 0.5, 2: 0.5 } },
    })
    expect(choice?.['choice']).to.equal('true')
    expect(score?.['score']).to.equal(1)
  })

  it('may be rounded to two decimals: nothing is made up', () => {
    const [, choice] = answersOf({
      c: { type: 'choice', choice: 'x', probabilities: { x: 0.33, true: 0.33, false: 0.33 } },
    })
    expect(listOf(choice?.['probabilities']).map(({ probability }) => probability)).to.deep.equal([0.33, 0.33, 0.33])
  })

  it('may have drifted by rounding beyond an end: they are put back there', () => {
    const [predicate, , score] = answersOf({
      __unnamed_question_0: { type: 'noul', noul: 1.0000000001 },
      s: { type: 'score', score: 2.0000000001 },
    })
    expect(predicate?.['probability']).to.equal(1)
    expect(score?.['score']).to.equal(2)
  })

  it('may have further fields', () => {
    const more = { id: 'gen-1', provider: 'p', cost: 0.1, model: 'v1', usage: { ...usage, cost: 0.1 } }
    const noul = { type: 'noul', noul: 0.5, why: 'x' }
    const { answers: printed, ...rest } = given({
      ...more,
      answers: { ...answers, __unnamed_question_0: noul, other: 1 },
    })
    expect(listOf(printed)[0]).to.deep.equal({
      type: 'predicate',
      name: null,
      probability: 0.5,
    })
    expect(rest).to.have.keys('model', 'usage')
  })

  it('may refuse single questions', () => {
    expect(answersOf({ c: { type: 'refusal', reason: 'x' } })[1]).to.deep.equal({ type: 'refusal', name: 'c' })
  })

  it('without a model are of the model that was asked for', () => {
    expect(given({ answers })['model']).to.equal('model')
  })

  it('that are none of what was asked for are unreadable', () => {
    const wrong: readonly (readonly [Json, string])[] = [
      [{ error: { message: 'secret' } }, 'it has no answers'],
      [{ answers: [] }, 'it has no answers'],
      [{ answers: {} }, 'it has no answer to questions[0]'],
      [{ answers: { ...answers, c: 'x' } }, 'it has no answer to questions[1]'],
      [{ answers: { ...answers, c: { type: 'noul', noul: 1 } } }, 'its answer to questions[1] is of another type'],
      [{ answers: { ...answers, c: { type: 'choice', choice: 'y' } } }, 'it chose no option of questions[1]'],
      [{ answers: { ...answers, c: { type: 'choice' } } }, 'it chose no option of questions[1]'],
      [
        { answers: { ...answers, s: { type: 'score', score: 3 } } },
        'it has no score within the levels of questions[2]',
      ],
      [
        { answers: { ...answers, s: { type: 'score', score: '1' } } },
        'it has no score within the levels of questions[2]',
      ],
      [{ answers: { ...answers, s: { type: 'score' } } }, 'it has no score within the levels of questions[2]'],
      [{ answers: { ...answers, __unnamed_question_0: { type: 'noul' } } }, 'it has no probability for questions[0]'],
      [
        { answers: { ...answers, __unnamed_question_0: { type: 'noul', noul: 97 } } },
        'it has no probability for questions[0]',
      ],
    ]
    for (const [answer, reason] of wrong)
      expect(thrown(() => given(answer))).to.deep.equal({
        code: 'upstream_invalid_response',
        message: `The provider sent an invalid response: ${reason}.`,
        tags: ['invalid'],
      })
  })
})
