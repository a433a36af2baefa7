import { expect } from 'chai'
import type { JsonObject } from '../../../../../engine/index.ts'
import decisions from '../../../../../plugins/protocols/decisions/codec.ts'
import mapeval from '../../../../../plugins/protocols/decisions/mapeval/codec.ts'
import { imageType } from '../../../../../plugins/protocols/decisions/mapeval/image-type.ts'
import { listOf, sent, target, thrown } from '../exchange.ts'

const png = 'iVBORw0KGgoAAAANSUhEUg=='
const picture = (data: string, more: JsonObject = {}) => ({
  type: 'input_image',
  image_url: `data:image/png;base64,${data}`,
  ...more,
})
const text = (value: string) => ({ type: 'input_text', text: value })
const body = (more: JsonObject = {}): JsonObject => ({
  model: 'm',
  input: 'Text.',
  questions: [{ type: 'predicate', instructions: 'Is it?' }],
  ...more,
})

/** A decisions body as it goes to a provider of the other envelope, and what was lost. */
function bridged(given: JsonObject, images?: string) {
  const neutral = decisions.request?.parse(given)
  const printed = neutral && mapeval.request?.print(neutral, target('mapeval', images))
  return { body: sent(printed?.body), lost: printed?.losses.map(({ field }) => field), printed }
}

describe('decisions to mapeval', () => {
  it('loses nothing of a text and plain questions', () => {
    const questions = [
      { type: 'predicate', name: 'p', instructions: 'Is it?' },
      {
        type: 'choice',
        name: 'c',
        instructions: 'Which?',
        choices: [{ value: 'a', description: 'first' }, { value: 'b' }],
      },
      { type: 'score', name: 's', instructions: 'How?', levels: [{ label: 'low' }, { label: 'high' }] },
    ]
    const { body: printed, lost } = bridged(body({ questions }))
    expect(JSON.stringify(printed)).to.equal(
      JSON.stringify({
        model: 'upstream-model',
        state: 'Text.',
        questions: {
          p: { type: 'noul', instructions: 'Is it?', criteria: {} },
          c: { type: 'choice', instructions: 'Which?', criteria: { a: 'first', b: null } },
          s: { type: 'score', instructions: 'How?', criteria: ['low', 'high'] },
        },
      }),
    )
    expect(lost).to.deep.equal([])
  })

  it('leaves the criteria map of a predicate empty', () => {
    const { questions } = bridged(body()).body
    expect(questions).to.deep.equal({
      __unnamed_question_0: { type: 'noul', instructions: 'Is it?', criteria: {} },
    })
  })

  it('folds the descriptions of levels into the question as a numbered rubric', () => {
    const levels = [
      { label: 'low', description: 'hardly any' },
      { label: 'middle' },
      { label: 'high', description: 'all' },
    ]
    const printed = bridged(body({ questions: [{ type: 'score', name: 's', instructions: 'How?', levels }] }))
    expect(printed.body['questions']).to.deep.equal({
      s: {
        type: 'score',
        instructions: 'How?\n\nLevels:\n0. low: hardly any\n1. middle\n2. high: all',
        criteria: ['low', 'middle', 'high'],
      },
    })
    expect(printed.lost).to.deep.equal(['levels'])
  })

  it('flattens messages into one text, in order', () => {
    const input = [
      { role: 'user', content: [text('One.'), text('Two.')] },
      { role: 'user', content: 'Three.' },
      { role: 'user', content: [picture(png)] },
      { role: 'user', content: [text('Four.')] },
    ]
    const { body: printed, lost } = bridged(body({ input }))
    expect(printed['state']).to.equal('One.\nTwo.\n\nThree.\n\nFour.')
    expect(lost).to.deep.equal(['input', 'images'])
  })

  it('moves inline images to the field of the provider that has one, as raw base64 in their order', () => {
    const input = [
      { role: 'user', content: [picture('AAAA'), text('Text.'), picture('BBBB', { detail: 'low' })] },
      { role: 'user', content: [picture('CCCC')] },
    ]
    const { body: printed, lost } = bridged(body({ input }), 'images')
    expect(printed['images']).to.deep.equal(['AAAA', 'BBBB', 'CCCC'])
    expect(printed['state']).to.equal('Text.')
    expect(lost).to.deep.equal(['detail'])
  })

  it('drops images where the provider takes none', () => {
    const { body: printed, lost } = bridged(body({ input: [{ role: 'user', content: [text('Text.'), picture(png)] }] }))
    expect(printed).to.have.keys('model', 'state', 'questions')
    expect(printed['state']).to.equal('Text.')
    expect(lost).to.deep.equal(['images'])
  })

  it('has an empty state for images alone', () => {
    expect(bridged(body({ input: [{ role: 'user', content: [picture(png)] }] }), 'images').body['state']).to.equal('')
  })

  it('drops safety_identifier', () => {
    const { body: printed, lost } = bridged(body({ safety_identifier: 'someone' }))
    expect(JSON.stringify(printed)).not.to.include('someone')
    expect(lost).to.deep.equal(['safety_identifier'])
    expect(bridged(body({ safety_identifier: null })).lost).to.deep.equal([])
  })

  it('writes booleans as their words, and names questions that have none by their place', () => {
    const choices = [{ value: true }, { value: 'maybe' }, { value: false, description: 'not at all' }]
    const question = { type: 'choice', instructions: 'Which?', choices }
    const { questions } = bridged(body({ questions: [{ ...question, name: 'q' }, question] })).body
    const criteria = { true: null, maybe: null, false: 'not at all' }
    expect(questions).to.deep.equal({
      q: { type: 'choice', instructions: 'Which?', criteria },
      __unnamed_question_1: { type: 'choice', instructions: 'Which?', criteria },
    })
  })

  it('keeps names and values that are names of JavaScript', () => {
    const choices = [{ value: '__proto__' }, { value: 'constructor' }]
    const { printed } = bridged(
      body({ questions: [{ type: 'choice', name: '__proto__', instructions: 'x', choices }] }),
    )
    expect(JSON.stringify(printed?.body['questions'])).to.equal(
      '{"__proto__":{"type":"choice","instructions":"x","criteria":{"__proto__":null,"constructor":null}}}',
    )
  })
})

describe('mapeval to decisions', () => {
  const asking = (more: JsonObject = {}): JsonObject => ({
    model: 'm',
    state: 'Text.',
    questions: { q: { type: 'noul', instructions: 'Is it?' } },
    ...more,
  })

  function native(given: JsonObject) {
    const neutral = mapeval.request?.parse(given)
    const printed = neutral && decisions.request?.print(neutral, target('decisions'))
    return { body: sent(printed?.body), lost: printed?.losses.map(({ field }) => field) }
  }

  it('loses nothing of a text and plain questions', () => {
    const questions = {
      p: { type: 'noul', instructions: 'Is it?', criteria: {} },
      c: { type: 'choice', instructions: 'Which?', criteria: { a: 'first', b: null } },
      s: { type: 'score', instructions: 'How?', criteria: ['low', 'high'] },
    }
    const { body: printed, lost } = native(asking({ questions }))
    expect(JSON.stringify(printed)).to.equal(
      JSON.stringify({
        model: 'upstream-model',
        input: 'Text.',
        questions: [
          { type: 'predicate', name: 'p', instructions: 'Is it?' },
          {
            type: 'choice',
            name: 'c',
            instructions: 'Which?',
            choices: [{ value: 'a', description: 'first' }, { value: 'b' }],
          },
          { type: 'score', name: 's', instructions: 'How?', levels: [{ label: 'low' }, { label: 'high' }] },
        ],
      }),
    )
    expect(lost).to.deep.equal([])
  })

  it('folds the rubric of a noul into the instructions', () => {
    const of = (criteria: JsonObject) =>
      native(asking({ questions: { q: { type: 'noul', instructions: 'Is it?', criteria } } }))
    const instructions = (criteria: JsonObject) => {
      const [question] = listOf(of(criteria).body['questions'])
      return question?.['instructions']
    }
    expect(instructions({ true: 'so', false: 'not so' })).to.equal('Is it?\n\nTrue: so\nFalse: not so')
    expect(instructions({ false: 'not so' })).to.equal('Is it?\n\nFalse: not so')
    expect(instructions({ true: null })).to.equal('Is it?')
    expect(of({ true: 'so' }).lost).to.deep.equal(['criteria'])
    expect(of({ true: null }).lost).to.deep.equal([])
  })

  it('writes a structured state as JSON text', () => {
    for (const state of [{ a: [1, 'x'] }, [{ b: null }], []]) {
      const { body: printed, lost } = native(asking({ state }))
      expect(printed['input']).to.equal(JSON.stringify(state))
      expect(lost).to.deep.equal(['state'])
    }
  })

  it('turns images into inline parts, their media type read from the leading bytes', () => {
    const jpeg = Buffer.from([0xff, 0xd8, 0xff, 0xe0, 1, 2]).toString('base64')
    expect(native(asking({ images: [png, jpeg] })).body['input']).to.deep.equal([
      {
        role: 'user',
        content: [
          { type: 'input_text', text: 'Text.' },
          { type: 'input_image', image_url: `data:image/png;base64,${png}` },
          { type: 'input_image', image_url: `data:image/jpeg;base64,${jpeg}` },
        ],
      },
    ])
    const [message] = listOf(native(asking({ state: { a: 1 }, images: [png] })).body['input'])
    expect(listOf(message?.['content'])[0]).to.deep.equal({ type: 'input_text', text: '{"a":1}' })
  })

  it('knows images by their leading bytes', () => {
    const types: Readonly<Record<string, string>> = {
      '\x89PNG\r\n\x1a\n\0\0': 'image/png',
      '\xff\xd8\xff\xdb': 'image/jpeg',
      GIF89a: 'image/gif',
      GIF87a: 'image/gif',
      'RIFF\x0a\x0a\0\0WEBPVP8 ': 'image/webp',
      '\0\0\0\x1cftypavif': 'image/avif',
      '\0\0\0\x0aftypheic': 'image/heic',
      'II*\0': 'image/tiff',
      'MM\0*': 'image/tiff',
      'BM\0\0': 'image/bmp',
    }
    for (const [head, type] of Object.entries(types))
      expect(imageType(Buffer.from(`${head}rest`, 'latin1').toString('base64'))).to.equal(type)
    for (const data of ['', 'AAAA', 'not base64 at all', Buffer.from('<svg>').toString('base64')])
      expect(imageType(data)).to.equal(undefined)
  })

  it('refuses an image of an unknown format, naming it', () => {
    expect(thrown(() => native(asking({ images: [png, 'AAAA'] })))).to.deep.equal({
      code: 'invalid_value',
      message: 'Invalid value at images[1]: it does not begin as an image of a known format does.',
      tags: [],
    })
  })

  it('drops the fields that have no counterpart', () => {
    const fields = { provider: { order: ['x'] }, session_id: 's', trace: { a: 1 }, user: 'u', keep_alive: '5m' }
    const { body: printed, lost } = native(asking(fields))
    expect(printed).to.have.keys('model', 'input', 'questions')
    expect(lost).to.deep.equal(['provider', 'session_id', 'trace', 'user', 'keep_alive'])
  })

  it('gives no name that is reserved', () => {
    const noul = { type: 'noul', instructions: 'Is it?' }
    const { questions } = native(asking({ questions: { __unnamed_question_0: noul, b: noul } })).body
    expect(questions).to.deep.equal([
      { type: 'predicate', instructions: 'Is it?' },
      { type: 'predicate', name: 'b', instructions: 'Is it?' },
    ])
  })
})
