import { expect } from 'chai'
import type { Json, JsonObject } from '../../../../../engine/index.ts'
import codec from '../../../../../plugins/protocols/decisions/mapeval/codec.ts'
import { refusal } from '../exchange.ts'

const noul = { type: 'noul', instructions: 'Is it?' }
const choice = { type: 'choice', instructions: 'Which?', criteria: { a: null, b: 'the second' } }
const score = { type: 'score', instructions: 'How?', criteria: ['low', 'high'] }
const body = (more: JsonObject = {}): JsonObject => ({ model: 'm', state: 'Text.', questions: { q: noul }, ...more })
const asking = (question: Json) => body({ questions: { first: noul, second: question } })

function refused(given: unknown) {
  const found = refusal(codec, given)
  if (!found) return undefined
  expect(found).to.include({ status: 422, type: 'invalid_request_error' })
  return [found.param, found.message]
}

describe('a mapeval body', () => {
  it('is accepted with everything that it may have', () => {
    const questions = {
      a: { ...noul, criteria: { true: 'so', false: null } },
      b: { ...noul, criteria: {} },
      c: { ...noul, criteria: null },
      d: choice,
      e: score,
      __unnamed_question_0: noul,
    }
    const passed = { provider: { order: [] }, session_id: 's', trace: {}, user: 'u', keep_alive: 0 }
    for (const state of ['', 'Text.', { a: 1 }, [], [null, 'x']])
      expect(refused(body({ state, questions, images: ['iVBORw0KGgo='], ...passed }))).to.equal(undefined)
    expect(refused(body({ images: null }))).to.equal(undefined)
  })

  it('is refused with an unknown top-level field, and there is no stream', () => {
    for (const field of ['stream', 'background', 'safety_identifier', 'temperature'])
      expect(refused(body({ [field]: null }))).to.deep.equal([field, `Unknown parameter: ${field}.`])
  })

  it('is refused without what it must have', () => {
    for (const field of ['model', 'state', 'questions'])
      expect(refused({ ...body(), [field]: undefined })).to.deep.equal([field, `Missing required parameter: ${field}.`])
    expect(refused(body({ state: null }))?.[0]).to.equal('state')
    expect(refused(body({ state: 7 }))?.[0]).to.equal('state')
    expect(refused(body({ questions: {} }))?.[0]).to.equal('questions')
  })

  it('is refused with a malformed question, naming the place', () => {
    expect(refused(asking({ instructions: 'x' }))?.[0]).to.equal('questions.second.type')
    expect(refused(asking({ type: 'predicate', instructions: 'x' }))).to.deep.equal([
      'questions.second.type',
      'Invalid value at questions.second.type: it must be one of "noul", "choice", "score".',
    ])
    expect(refused(asking({ type: 'noul' }))?.[0]).to.equal('questions.second.instructions')
    expect(refused(asking({ ...noul, instructions: null }))?.[0]).to.equal('questions.second.instructions')
    expect(refused(asking({ ...noul, criteria: { yes: 'x' } }))?.[0]).to.equal('questions.second.criteria.yes')
    expect(refused(asking({ ...noul, criteria: { true: 1 } }))?.[0]).to.equal('questions.second.criteria.true')
    expect(refused(asking({ ...noul, criteria: [] }))?.[0]).to.equal('questions.second.criteria')
    expect(refused(asking({ ...noul, name: 'x' }))?.[0]).to.equal('questions.second.name')
    expect(refused(asking({ type: 'choice', instructions: 'x' }))?.[0]).to.equal('questions.second.criteria')
    expect(refused(asking({ ...choice, criteria: ['a'] }))?.[0]).to.equal('questions.second.criteria')
    expect(refused(asking({ ...choice, criteria: { a: true } }))?.[0]).to.equal('questions.second.criteria.a')
    expect(refused(asking({ ...score, criteria: { a: 'b' } }))?.[0]).to.equal('questions.second.criteria')
    expect(refused(asking({ ...score, criteria: ['a', null] }))?.[0]).to.equal('questions.second.criteria[1]')
    expect(refused(asking(null))?.[0]).to.equal('questions.second')
  })

  it('may have up to 255 choices and from 2 to 26 levels', () => {
    const choices = (count: number) =>
      refused(
        asking({ ...choice, criteria: Object.fromEntries(Array.from({ length: count }, (_, at) => [`v${at}`, null])) }),
      )
    for (const count of [0, 256]) expect(choices(count)?.[0]).to.equal('questions.second.criteria')
    for (const count of [1, 255]) expect(choices(count)).to.equal(undefined)
    const levels = (count: number) => refused(asking({ ...score, criteria: Array.from({ length: count }, () => 'l') }))
    for (const count of [0, 1, 27]) expect(levels(count)?.[0]).to.equal('questions.second.criteria')
    for (const count of [2, 11, 26]) expect(levels(count)).to.equal(undefined)
  })

  it('is refused with images that are not base64 alone', () => {
    for (const image of [
      'https://host/a.png',
      'data:image/png;base64,iVBORw0KGgo=',
      'file:///a',
      '',
      'not base64',
      'A',
      'AAA==',
      'AA-_',
    ])
      expect(refused(body({ images: ['iVBORw0KGgo=', image] }))).to.deep.equal([
        'images[1]',
        'Invalid value at images[1]: images must be base64 alone, no URLs.',
      ])
    expect(refused(body({ images: 'iVBORw0KGgo=' }))?.[0]).to.equal('images')
  })

  it('of the other envelope is told where to send it', () => {
    const told = 'This is the decisions envelope; send it to /v1/decisions.'
    const other = { model: 'm', input: 'Text.', questions: [{ type: 'predicate', instructions: 'x' }] }
    expect(refused(other)?.[1]).to.match(/^\S.*\. This is the decisions envelope; send it to \/v1\/decisions\.$/)
    expect(refused(body({ input: 'x' }))).to.deep.equal(['input', `Unknown parameter: input. ${told}`])
    expect(refused(body({ questions: [] }))?.[1]).to.equal(`Invalid value at questions: it must be an object. ${told}`)
  })

  it('takes ids and values that are names of JavaScript', () => {
    const questions = JSON.parse(
      '{"__proto__":{"type":"noul","instructions":"x"},"constructor":{"type":"choice","instructions":"x","criteria":{"__proto__":null,"toString":"x"}}}',
    ) as JsonObject
    expect(refused(body({ questions }))).to.equal(undefined)
    const broken = JSON.parse('{"__proto__":{"type":"noul"}}') as JsonObject
    expect(refused(body({ questions: broken }))?.[0]).to.equal('questions.__proto__.instructions')
  })
})
