import { expect } from 'chai'
import type { Json, JsonObject } from '../../../../engine/index.ts'
import codec from '../../../../plugins/protocols/decisions/codec.ts'
import { refusal } from './exchange.ts'

const image = 'data:image/png;base64,iVBORw0KGgo='
const predicate = { type: 'predicate', instructions: 'Is it?' }
const choice = {
  type: 'choice',
  instructions: 'Which?',
  choices: [{ value: 'a' }, { value: true, description: 'yes' }],
}
const score = { type: 'score', instructions: 'How?', levels: [{ label: 'low' }, { label: 'high', description: 'all' }] }
const body = (more: JsonObject = {}): JsonObject => ({ model: 'm', input: 'Text.', questions: [predicate], ...more })
const asking = (...questions: Json[]) => body({ questions })
const seeing = (...content: Json[]) => body({ input: [{ role: 'user', content }] })
const picture = (more: JsonObject = {}) => ({ type: 'input_image', image_url: image, ...more })

/** Place and message of the refusal of a body. */
function refused(given: unknown) {
  const found = refusal(codec, given)
  if (!found) return undefined
  expect(found).to.include({ status: 422, type: 'invalid_request_error' })
  return [found.param, found.message]
}

describe('a decisions body', () => {
  it('is accepted with everything that it may have', () => {
    const questions = [{ ...predicate, name: 'p' }, choice, { ...score, name: '' }]
    const input = [
      { role: 'user', content: [{ type: 'input_text', text: '' }, picture({ detail: 'low' })] },
      { type: 'message', role: 'user', content: 'Text.' },
    ]
    expect(refused(body({ input, questions, safety_identifier: 'someone' }))).to.equal(undefined)
    expect(refused(body({ safety_identifier: null }))).to.equal(undefined)
  })

  it('is refused with an unknown top-level field, and there is no stream', () => {
    expect(refused(body({ stream: true }))).to.deep.equal(['stream', 'Unknown parameter: stream.'])
    expect(refused(body({ background: true }))).to.deep.equal(['background', 'Unknown parameter: background.'])
    expect(refusal(codec, body({ prompt_cache_key: 'k' }))?.code).to.equal('unknown_parameter')
    expect(refused(JSON.parse('{"model":"m","input":"","questions":[{}],"__proto__":{}}'))?.[0]).to.equal('__proto__')
  })

  it('is refused without what it must have', () => {
    for (const field of ['model', 'input', 'questions'])
      expect(refused({ ...body(), [field]: undefined })).to.deep.equal([field, `Missing required parameter: ${field}.`])
    expect(refused(body({ model: '' }))?.[0]).to.equal('model')
    expect(refused(body({ questions: [] }))?.[0]).to.equal('questions')
    expect(refused(body({ input: [] }))?.[0]).to.equal('input')
    expect(refused(body({ input: 1 }))?.[0]).to.equal('input')
  })

  it('is refused with a malformed question, naming the place', () => {
    const at = (question: Json) => refused(asking(predicate, predicate, question))
    expect(at({ instructions: 'x' })).to.deep.equal([
      'questions[2].type',
      'Missing required parameter: questions[2].type.',
    ])
    expect(at({ type: 'noul', instructions: 'x' })).to.deep.equal([
      'questions[2].type',
      'Invalid value at questions[2].type: it must be one of "predicate", "choice", "score".',
    ])
    expect(at({ type: 'predicate' })?.[0]).to.equal('questions[2].instructions')
    expect(at({ ...predicate, instructions: ['x'] })).to.deep.equal([
      'questions[2].instructions',
      'Invalid value at questions[2].instructions: it must be a string.',
    ])
    expect(at({ ...predicate, choices: [] })).to.deep.equal([
      'questions[2].choices',
      'Unknown parameter: questions[2].choices.',
    ])
    expect(at({ type: 'choice', instructions: 'x' })?.[0]).to.equal('questions[2].choices')
    expect(at({ ...choice, choices: [{ value: 'a' }, { value: 1 }] })).to.deep.equal([
      'questions[2].choices[1].value',
      'Invalid value at questions[2].choices[1].value: it must be a string or a boolean.',
    ])
    expect(at({ ...choice, choices: [{ value: 'a' }, { description: 'b' }] })?.[0]).to.equal(
      'questions[2].choices[1].value',
    )
    expect(at({ ...choice, choices: [{ value: 'a', description: null }] })?.[0]).to.equal(
      'questions[2].choices[0].description',
    )
    expect(at({ ...score, levels: [{ label: 'a' }, { label: true }] })?.[0]).to.equal('questions[2].levels[1].label')
    expect(at('x')?.[0]).to.equal('questions[2]')
    expect(at(null)?.[0]).to.equal('questions[2]')
  })

  it('is refused with a null, reserved or duplicate name', () => {
    const named = (...names: Json[]) => refused(asking(...names.map((name) => ({ ...predicate, name }))))
    expect(named('a', null)).to.deep.equal([
      'questions[1].name',
      'Invalid value at questions[1].name: it must be a string.',
    ])
    expect(named('a', '__unnamed_question_7')).to.deep.equal([
      'questions[1].name',
      'Invalid value at questions[1].name: names that begin with __unnamed_question_ are reserved.',
    ])
    expect(named('a', 'b', 'a')).to.deep.equal([
      'questions[2].name',
      'Invalid value at questions[2].name: questions[0] has this name already.',
    ])
    expect(named('__proto__', 'constructor', 'toString', '', 'A', 'a')).to.equal(undefined)
  })

  it('is refused with choices that are empty, over 255, or the same once a boolean is its word', () => {
    const of = (...values: (string | boolean)[]) =>
      refused(asking(predicate, { ...choice, choices: values.map((value) => ({ value })) }))
    expect(of()?.[0]).to.equal('questions[1].choices')
    expect(of('a')).to.equal(undefined)
    const many = Array.from({ length: 256 }, (_, index) => `v${index}`)
    expect(of(...many.slice(0, 255))).to.equal(undefined)
    expect(of(...many)).to.deep.equal([
      'questions[1].choices',
      'Invalid value at questions[1].choices: it must have at most 255 items.',
    ])
    expect(of('a', 'b', 'a')).to.deep.equal([
      'questions[1].choices[2].value',
      'Invalid value at questions[1].choices[2].value: choices[0] has this value already.',
    ])
    expect(of(true, 'x', 'true')).to.deep.equal([
      'questions[1].choices[2].value',
      'Invalid value at questions[1].choices[2].value: choices[0] has this value when a boolean is written as its word.',
    ])
    expect(of('false', false)?.[0]).to.equal('questions[1].choices[1].value')
    expect(of(true, false, 'True', '__proto__', 'constructor')).to.equal(undefined)
  })

  it('is refused with fewer than 2 levels or more than 26; 11 are the upstream’s to refuse', () => {
    const of = (count: number) =>
      refused(asking({ ...score, levels: Array.from({ length: count }, (_, index) => ({ label: `l${index}` })) }))
    for (const count of [0, 1, 27]) expect(of(count)?.[0]).to.equal('questions[0].levels')
    for (const count of [2, 11, 26]) expect(of(count)).to.equal(undefined)
    // Two levels may be called the same: they are told apart by their places.
    expect(refused(asking({ ...score, levels: [{ label: 'x' }, { label: 'x' }] }))).to.equal(undefined)
  })

  it('is refused with more than 128 images, whichever messages they are in', () => {
    const messages = (...counts: number[]) =>
      body({
        input: counts.map((count) => ({ role: 'user', content: Array.from({ length: count }, () => picture()) })),
      })
    expect(refused(messages(64, 64))).to.equal(undefined)
    expect(refused(messages(64, 64, 1))).to.deep.equal([
      'input[2].content[0]',
      'Invalid value at input[2].content[0]: a request may have at most 128 images.',
    ])
    expect(refused(messages(129))?.[0]).to.equal('input[0].content[128]')
  })

  it('is refused with hosted images and ids of files', () => {
    const text = { type: 'input_text', text: 'x' }
    const inline = 'images must be inline base64 data URLs'
    for (const url of ['https://host/a.png', 'http://host', 'data:image/png,abc', 'data:text/plain;base64,QQ==', ''])
      expect(refused(seeing(text, picture({ image_url: url })))).to.deep.equal([
        'input[0].content[1].image_url',
        `Invalid value at input[0].content[1].image_url: ${inline}.`,
      ])
    expect(refused(seeing({ type: 'input_image' }))?.[0]).to.equal('input[0].content[0].image_url')
    expect(refused(seeing({ type: 'input_image', image_url: 'data:image/png;base64,' }))?.[0]).to.equal(
      'input[0].content[0].image_url',
    )
    expect(refused(seeing(text, { type: 'input_image', file_id: 'file-1' }))).to.deep.equal([
      'input[0].content[1].file_id',
      `Invalid value at input[0].content[1].file_id: ${inline}, not ids of files.`,
    ])
  })

  it('is refused with images whose base64 is none, wherever it breaks off', () => {
    const image = (data: string) => refused(seeing(picture({ image_url: `data:image/png;base64,${data}` })))
    const whole = 'QUJD'.repeat(100_000)
    for (const data of ['QQ==', 'QQ', 'QUI=', whole, `${whole}QQ==`]) expect(image(data)).to.equal(undefined)
    const broken = [
      '!',
      'Q',
      'QQ=',
      'QQ===',
      'Q Q=',
      'QU-_',
      'QUJDü',
      `${whole}*`,
      `${whole.slice(0, 70_000)} ${whole}`,
    ]
    for (const data of broken)
      expect(image(data), data.slice(0, 8)).to.deep.equal([
        'input[0].content[0].image_url',
        'Invalid value at input[0].content[0].image_url: what follows "base64," is no base64.',
      ])
  })

  it('is refused with other roles and parts', () => {
    expect(refused(body({ input: [{ role: 'system', content: 'x' }] }))?.[0]).to.equal('input[0].role')
    expect(refused(seeing({ type: 'input_file', file_id: 'f' }))?.[0]).to.equal('input[0].content[0].type')
    expect(refused(seeing({ type: 'input_text', text: 'x', cache: 1 }))?.[0]).to.equal('input[0].content[0].cache')
    expect(refused(body({ input: [{ role: 'user', content: [] }] }))?.[0]).to.equal('input[0].content')
  })

  it('of the other envelope is told where to send it', () => {
    const told = 'This is the mapeval envelope; send it to /v1/mapeval.'
    const other = { model: 'm', state: 'Text.', questions: { a: { type: 'noul', instructions: 'x' } } }
    expect(refused(other)?.[1]).to.match(/^\S.*\. This is the mapeval envelope; send it to \/v1\/mapeval\.$/)
    expect(refused(body({ state: 'x' }))).to.deep.equal(['state', `Unknown parameter: state. ${told}`])
    expect(refused(body({ questions: {} }))).to.deep.equal([
      'questions',
      `Invalid value at questions: it must be an array. ${told}`,
    ])
  })

  it('is not repeated at length in its refusal', () => {
    const found = refused(body({ ['x'.repeat(100_000)]: 1 }))
    expect(found?.[0]).to.equal(`${'x'.repeat(64)}…`)
  })
})
