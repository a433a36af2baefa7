import { isDeepStrictEqual } from 'node:util'
import { expect } from 'chai'
import * as fc from 'fast-check'
import type {
  AnyCodec,
  DecideAnswer,
  DecideReply,
  DecideRequest,
  JsonObject,
  Printed,
} from '../../../../engine/index.ts'
import decisions from '../../../../plugins/protocols/decisions/codec.ts'
import mapeval from '../../../../plugins/protocols/decisions/mapeval/codec.ts'
import { askedWith, refusal, sent, target } from './exchange.ts'

/** How many random questions are answered each way. */
const cases = 20_000
const perRequest = 10

const odd = ['__proto__', 'constructor', 'toString', '', '0', '2', '10', 'true', 'false', 'a"b', 'é\u0000\ud83d\ude00']
const word = fc.oneof(fc.constantFrom(...odd), fc.string({ maxLength: 8 }))
const description = fc.option(word, { nil: undefined })
const described = fc.tuple(fc.oneof(word, fc.boolean()), description)
const text = (value: string | undefined) => (value === undefined ? {} : { description: value })

const choices = fc
  .uniqueArray(described, { minLength: 1, maxLength: 6, selector: ([value]) => String(value) })
  .map((list) => list.map(([value, more]) => ({ value, ...text(more) })))
const levels = fc
  .array(fc.tuple(word, description), { minLength: 2, maxLength: 26, size: 'small' })
  .map((list) => list.map(([label, more]) => ({ label, ...text(more) })))
const question = fc.oneof(
  fc.record({ type: fc.constant('predicate'), instructions: word }),
  fc.record({ type: fc.constant('choice'), instructions: word, choices }),
  fc.record({ type: fc.constant('score'), instructions: word, levels }),
)
const name = word.filter((text) => !text.startsWith('__unnamed_question_'))
const named = fc.tuple(question, fc.option(name, { nil: undefined }))
const questions = fc
  .uniqueArray(named, { minLength: perRequest, maxLength: perRequest, selector: ([, text]) => text ?? {} })
  .map((list) => list.map(([one, text]) => (text === undefined ? one : { ...one, name: text })))
const decisionsBody = questions.map((list) => sent({ model: 'm', input: 'x', questions: list }))

const criteria = fc.dictionary(word, fc.option(word, { nil: null }), { minKeys: 1, maxKeys: 6 })
const entry = fc.oneof(
  fc.record({
    type: fc.constant('noul'),
    instructions: word,
    criteria: fc.record({ true: word, false: word }, { requiredKeys: [] }),
  }),
  fc.record({ type: fc.constant('choice'), instructions: word, criteria }),
  fc.record({
    type: fc.constant('score'),
    instructions: word,
    criteria: fc.array(word, { minLength: 2, maxLength: 26, size: 'small' }),
  }),
)
const mapevalBody = fc
  .uniqueArray(fc.tuple(word, entry), { minLength: perRequest, maxLength: perRequest, selector: ([id]) => id })
  .map((entries) => sent({ model: 'm', state: 'x', questions: Object.fromEntries(entries) }))

/** An answer to any question, out of a few random numbers. */
function answerTo(question: DecideRequest['questions'][number], seed: readonly number[]): DecideAnswer {
  const [first = 0, second = 0] = seed
  const confidence = second < 0.5 ? { confidence: second } : {}
  if (second > 0.95) return { type: 'refusal' }
  const share = (_: unknown, index: number) => seed[index % seed.length] ?? 0
  if (question.type === 'predicate') return { type: 'predicate', probability: first }
  if (question.type === 'choice')
    return {
      type: 'choice',
      choice: Math.floor(first * question.choices.length * 0.999),
      probabilities: question.choices.map(share),
      ...confidence,
    }
  return {
    type: 'score',
    score: first * (question.levels.length - 1),
    probabilities: question.levels.map(share),
    ...confidence,
  }
}

const seeds = fc.array(
  fc.array(
    fc.double({ min: 0, max: 1, noNaN: true }).map((value) => value + 0),
    { minLength: 3, maxLength: 9 },
  ),
  { minLength: perRequest, maxLength: perRequest },
)

/** The answer that a client gets whose request went through the other envelope, and the one that was given there. */
function through(client: AnyCodec, provider: AnyCodec, body: JsonObject, seed: readonly (readonly number[])[]) {
  expect(refusal(client, body)).to.equal(undefined)
  const request = client.request?.parse(body) as DecideRequest
  const printed = provider.request?.print(request, target(provider.protocol)) as Printed<JsonObject>
  const upstreamBody = sent(printed.body)
  expect(refusal(provider, upstreamBody)).to.equal(undefined)
  // As the provider understands it: nothing of the client's own form helps here.
  const understood = provider.request?.parse(upstreamBody) as DecideRequest
  const reply: DecideReply = {
    model: 'v1',
    answers: understood.questions.map((one, index) => answerTo(one, seed[index] ?? [])),
    rawUsage: { input_tokens: 1 },
  }
  const wire = sent(provider.reply?.print(reply, askedWith(upstreamBody)).body)
  const read = provider.reply?.parse(wire, printed.restore) as DecideReply
  const got = sent(client.reply?.print(read, askedWith(body)).body)
  // What the client would have got had its own protocol been spoken all the way.
  const direct = sent(
    client.reply?.print({ ...reply, answers: inOrder(request, understood, reply) }, askedWith(body)).body,
  )
  return { got, direct }
}

/** The answers in the client's order of questions and options; JSON maps put numbers first. */
function inOrder(request: DecideRequest, understood: DecideRequest, reply: DecideReply): readonly DecideAnswer[] {
  return request.questions.map((question, index) => {
    const id = question.name ?? `__unnamed_question_${index}`
    const byName = understood.questions.findIndex((one) => one.name === id)
    const place = byName < 0 ? index : byName
    const answer = reply.answers[place] as DecideAnswer
    const other = understood.questions[place]
    if (answer.type !== 'choice' || question.type !== 'choice' || other?.type !== 'choice') return answer
    const at = question.choices.map(({ value }) =>
      other.choices.findIndex((one) => String(one.value) === String(value)),
    )
    return {
      ...answer,
      choice: at.indexOf(answer.choice),
      probabilities: at.map((from) => answer.probabilities[from] as number),
    }
  })
}

describe('answers', function () {
  const ways = [
    ['decisions', 'mapeval', decisions, mapeval, decisionsBody],
    ['mapeval', 'decisions', mapeval, decisions, mapevalBody],
  ] as const
  for (const [from, to, client, provider, bodies] of ways)
    it(`survive the way from ${from} to ${to} and back, whatever the questions`, () => {
      fc.assert(
        fc.property(bodies, seeds, (body, seed) => {
          const { got, direct } = through(client, provider, body, seed)
          return isDeepStrictEqual(got, direct)
        }),
        { numRuns: cases / perRequest, seed: 7 },
      )
    })
})
