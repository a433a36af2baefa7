import { expect } from 'chai'
import type { Json, JsonObject } from '../../../../engine/index.ts'
import decisions from '../../../../plugins/protocols/decisions/codec.ts'
import mapeval from '../../../../plugins/protocols/decisions/mapeval/codec.ts'
import { askedWith, listOf, sent, target, thrown } from './exchange.ts'

const asked: JsonObject = {
  model: 'm',
  state: 'Text.',
  questions: {
    p: { type: 'noul', instructions: 'Is it?' },
    c: { type: 'choice', instructions: 'Which?', criteria: { a: null, true: 'yes' } },
    s: { type: 'score', instructions: 'How?', criteria: ['low', 'high'] },
  },
}
const usage = {
  input_tokens: 90,
  input_tokens_details: { cache_write_tokens: 10, cached_tokens: 30 },
  output_tokens: 4,
  output_tokens_details: { reasoning_tokens: 1 },
  total_tokens: 94,
  more: 'said',
}
const predicate: JsonObject = { type: 'predicate', name: 'p', probability: 0.25 }
const choice: JsonObject = {
  type: 'choice',
  name: 'c',
  choice: 'true',
  confidence: 0.5,
  probabilities: [
    { value: 'true', probability: 0.75 },
    { value: 'a', probability: 0.25 },
  ],
}
const score: JsonObject = {
  type: 'score',
  name: 's',
  score: 0.5,
  confidence: 0.1,
  probabilities: [
    { value: 0, label: 'low', probability: 0.5 },
    { value: 1, label: 'high', probability: 0.5 },
  ],
}

/** What a mapeval client gets when the native provider answers this. */
function given(answer: Json) {
  const neutral = mapeval.request?.parse(asked)
  const printed = neutral && decisions.request?.print(neutral, target('decisions'))
  const reply = decisions.reply?.parse(answer, printed?.restore)
  return sent(reply && mapeval.reply?.print(reply, askedWith(asked)).body)
}

describe('answers of a decisions provider', () => {
  it('become a map by the ids of the questions, with the legend of the client', () => {
    expect(given({ model: 'v1', answers: [predicate, choice, score], usage })).to.deep.equal({
      model: 'v1',
      answers: {
        p: { type: 'noul', noul: 0.25 },
        c: { type: 'choice', choice: 'true', confidence: 0.5, probabilities: { a: 0.25, true: 0.75 } },
        s: {
          type: 'score',
          score: 0.5,
          confidence: 0.1,
          legend: { 0: 'low', 1: 'high' },
          probabilities: { 0: 0.5, 1: 0.5 },
        },
      },
      usage,
    })
  })

  it('keep their usage verbatim when it is complete', () => {
    expect(given({ answers: [predicate, choice, score], usage })['usage']).to.deep.equal(usage)
  })

  it('may refuse single questions', () => {
    const { answers } = given({
      answers: [{ type: 'refusal', name: 'p' }, choice, { type: 'refusal', name: null }],
      usage,
    })
    expect(answers).to.deep.include({ p: { type: 'refusal' }, s: { type: 'refusal' } })
  })

  it('that are none of what was asked for are unreadable', () => {
    const wrong: readonly (readonly [Json, string])[] = [
      [{}, 'it has not one answer per question'],
      [{ answers: { p: predicate } }, 'it has not one answer per question'],
      [{ answers: [predicate, choice] }, 'it has not one answer per question'],
      [{ answers: [predicate, null, score] }, 'it has no answer to questions[1]'],
      [{ answers: [choice, predicate, score] }, 'its answer to questions[0] is of another type'],
      [{ answers: [predicate, { ...choice, choice: 'b' }, score] }, 'it chose no option of questions[1]'],
    ]
    for (const [answer, reason] of wrong)
      expect(thrown(() => given(answer))).to.deep.equal({
        code: 'upstream_invalid_response',
        message: `The provider sent an invalid response: ${reason}.`,
        tags: ['invalid'],
      })
  })

  it('tell booleans from their words by the question', () => {
    const questions = [
      { type: 'choice', instructions: 'x', choices: [{ value: true }, { value: 'no' }] },
      { type: 'choice', instructions: 'x', choices: [{ value: 'true' }, { value: 'no' }] },
    ]
    const body: JsonObject = { model: 'm', input: 'x', questions }
    const answer = { type: 'choice', choice: 0, probabilities: [0.9, 0.1] } as const
    const { answers } = sent(decisions.reply?.print({ answers: [answer, answer] }, askedWith(body)).body)
    expect(listOf(answers).map((one) => one['choice'])).to.deep.equal([true, 'true'])
  })
})
