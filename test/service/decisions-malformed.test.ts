import { expect } from 'chai'
import * as fc from 'fast-check'
import { isObject } from '../../engine/kit.ts'
import type { AnyCodec, JsonObject } from '../../engine/index.ts'
import decisions from '../../plugins/protocols/decisions/codec.ts'
import mapeval from '../../plugins/protocols/decisions/mapeval/codec.ts'
import { pixel, startDecisions, types } from './decisions-conversation.ts'
import type { Conversation } from './decisions-conversation.ts'
import { spoilersOf } from './decisions-spoiled.ts'

const word = fc.string({ minLength: 1, maxLength: 8 })
const description = fc.option(word, { nil: undefined })
const model = fc.constantFrom(...types)

const decisionsBody = fc.record({
  model,
  input: fc.oneof(
    word,
    fc.array(
      fc.record({
        role: fc.constant('user'),
        content: fc.array(
          fc.oneof(
            fc.record({ type: fc.constant('input_text'), text: word }),
            fc.record({ type: fc.constant('input_image'), image_url: fc.constant(`data:image/png;base64,${pixel}`) }),
          ),
          { minLength: 1, maxLength: 2 },
        ),
      }),
      { minLength: 1, maxLength: 2 },
    ),
  ),
  questions: fc.array(
    fc.oneof(
      fc.record({ type: fc.constant('predicate'), instructions: word }),
      fc.record({
        type: fc.constant('choice'),
        instructions: word,
        choices: fc.uniqueArray(fc.record({ value: fc.oneof(word, fc.boolean()), description }), {
          minLength: 1,
          maxLength: 3,
          selector: ({ value }) => String(value),
        }),
      }),
      fc.record({
        type: fc.constant('score'),
        instructions: word,
        levels: fc.array(fc.record({ label: word, description }), { minLength: 2, maxLength: 3 }),
      }),
    ),
    { minLength: 1, maxLength: 3 },
  ),
  safety_identifier: description,
})

const mapevalBody = fc.record({
  model,
  state: fc.oneof(word, fc.dictionary(word, word), fc.array(word)),
  questions: fc.dictionary(
    word,
    fc.oneof(
      fc.record({
        type: fc.constant('noul'),
        instructions: word,
        criteria: fc.record({ true: word, false: word }, { requiredKeys: [] }),
      }),
      fc.record({
        type: fc.constant('choice'),
        instructions: word,
        criteria: fc.dictionary(word, fc.option(word, { nil: null }), { minKeys: 1, maxKeys: 3 }),
      }),
      fc.record({
        type: fc.constant('score'),
        instructions: word,
        criteria: fc.array(word, { minLength: 2, maxLength: 3 }),
      }),
    ),
    { minKeys: 1, maxKeys: 3 },
  ),
  images: fc.option(fc.array(fc.constant(pixel), { maxLength: 2 }), { nil: undefined }),
})

/** A body that is sent, what is wrong with it, and the status it must get. */
interface Malformed {
  readonly what: string
  readonly text: string
  readonly status: number
}

/** `count` malformed bodies: most of them valid but for one place, some of them broken off. */
function malformed(codec: AnyCodec, valid: fc.Arbitrary<object>, count: number): readonly Malformed[] {
  const bodies = fc
    .sample(valid, { numRuns: count, seed: 11 })
    .map((body) => JSON.parse(JSON.stringify(body)) as JsonObject)
  const picks = fc.sample(fc.nat(), { numRuns: count, seed: 12 })
  return bodies.map((body, index) => {
    const pick = picks[index] ?? 0
    const whole = JSON.stringify(body)
    if (index % 10 === 0) return { what: 'broken off', text: whole.slice(0, pick % whole.length), status: 400 }
    const spoilers = spoilersOf(codec.schema, body)
    const chosen = spoilers[pick % spoilers.length]
    if (!chosen) throw new Error('every body can be spoiled')
    const top = isObject(chosen.body)
    return { what: chosen.what, text: JSON.stringify(chosen.body), status: top ? 422 : 400 }
  })
}

describe('malformed decisions', function () {
  let conversation: Conversation
  before(async () => {
    conversation = await startDecisions()
  })
  after(() => conversation.close())

  for (const [path, codec, valid] of [
    ['/v1/decisions', decisions, decisionsBody],
    ['/v1/mapeval', mapeval, mapevalBody],
  ] as const)
    it(`are refused at ${path}, a thousand of them, and nobody is asked`, async () => {
      const { gateway } = conversation
      const bodies = malformed(codec, valid, 1000)
      const kinds = new Set(bodies.map(({ what }) => what.replace(/ at .*/, '')))
      expect(kinds.size, [...kinds].join(', ')).to.be.greaterThan(14)
      const send = async ({ what, text, status }: Malformed) => {
        const response = await fetch(gateway.url + path, {
          method: 'POST',
          headers: { 'content-type': 'application/json', authorization: `Bearer ${gateway.key}` },
          body: text,
        })
        const { error } = (await response.json()) as { error: JsonObject }
        expect(response.status, `${what}: ${text}`).to.equal(status)
        expect(error, what).to.have.all.keys('message', 'type', 'param', 'code')
        expect(error['type']).to.equal('invalid_request_error')
        if (status === 422) expect(error['param'], `${what}: ${text}`).to.be.a('string')
      }
      for (let at = 0; at < bodies.length; at += 50) await Promise.all(bodies.slice(at, at + 50).map(send))
      expect(conversation.asked()).to.equal(0)
    })

  it('are not mistaken: the bodies they were made of are good', async () => {
    for (const type of types) conversation.upstreams[type].answer({ status: 418, body: {} })
    const bodies = [
      ...fc.sample(decisionsBody, { numRuns: 20, seed: 11 }).map((body) => ['/v1/decisions', body] as const),
      ...fc.sample(mapevalBody, { numRuns: 20, seed: 11 }).map((body) => ['/v1/mapeval', body] as const),
    ]
    for (const [path, body] of bodies) expect((await conversation.gateway.post(path, body)).status).to.equal(418)
    expect(conversation.asked()).to.equal(bodies.length)
  })
})
