import { expect } from 'chai'
import { isObject } from '../../engine/kit.ts'
import type { Json, JsonObject } from '../../engine/index.ts'
import type { Script } from '../support/upstream.ts'
import {
  asDecisions,
  asMapeval,
  bridges,
  decisionsAnswer,
  mapevalAnswer,
  read,
  startDecisions,
} from './decisions-conversation.ts'
import type { Conversation, Type } from './decisions-conversation.ts'

describe('upstreams of decisions', () => {
  let conversation: Conversation
  before(async () => (conversation = await startDecisions()))
  after(() => conversation.close())

  async function decide(type: Type, script: Script, body: object = asDecisions, among = conversation) {
    among.upstreams[type].answer(script)
    return read(await among.gateway.post('/v1/decisions', { model: type, ...body }))
  }

  /** What a client of decisions gets of an upstream's answers to the second and third question. */
  async function answers(type: Type, changed: JsonObject) {
    const answer = mapevalAnswer('__unnamed_question_0')
    const body = { ...answer, answers: { ...(answer['answers'] as JsonObject), ...changed } }
    const { status, body: printed } = await decide(type, { body })
    expect(status).to.equal(200)
    const [, choice, score] = printed['answers'] as unknown as readonly [JsonObject, JsonObject, JsonObject]
    return { choice, score }
  }

  for (const type of bridges) {
    it(`${type} may leave out confidence`, async () => {
      const { choice, score } = await answers(type, {
        team: { type: 'choice', choice: 'web', probabilities: { web: 0.9, true: 0.1 } },
        weight: { type: 'score', score: 0, probabilities: { 0: 1, 1: 0 } },
      })
      expect(choice).to.have.all.keys('type', 'name', 'choice', 'probabilities')
      expect(score).to.have.all.keys('type', 'name', 'score', 'probabilities')
    })

    it(`${type} may leave out probabilities and the legend`, async () => {
      const { choice, score } = await answers(type, {
        team: { type: 'choice', choice: 'true' },
        weight: { type: 'score', score: 0.2 },
      })
      expect(choice).to.deep.equal({
        type: 'choice',
        name: 'team',
        choice: true,
        probabilities: [
          { value: 'web', probability: 0 },
          { value: true, probability: 1 },
        ],
      })
      expect(score['probabilities']).to.deep.equal([
        { value: 0, label: 'low', probability: 1 },
        { value: 1, label: 'high', probability: 0 },
      ])
    })

    it(`${type} may round to two decimals and add fields`, async () => {
      const { choice } = await answers(type, {
        team: { type: 'choice', choice: 'web', why: 'x', probabilities: { web: 0.67, true: 0.32, other: 0.01 } },
        more: {},
      })
      expect(choice['probabilities']).to.deep.equal([
        { value: 'web', probability: 0.67 },
        { value: true, probability: 0.32 },
      ])
    })
  }

  it('native may leave out confidence for a client of the other envelope', async () => {
    const answer = decisionsAnswer(['bug', 'team', 'weight'], 'true')
    const [first, second, third] = answer['answers'] as unknown as readonly JsonObject[]
    const bare = { ...second, confidence: undefined, probabilities: undefined }
    conversation.upstreams.native.answer({ body: { ...answer, answers: [first, bare, third] } as Json })
    const { body } = await read(await conversation.gateway.post('/v1/mapeval', { model: 'native', ...asMapeval }))
    expect((body['answers'] as JsonObject)['team']).to.deep.equal({
      type: 'choice',
      choice: 'true',
      probabilities: { web: 0, true: 1 },
    })
  })

  describe('that refuse', () => {
    const levels = Array.from({ length: 11 }, (_, index) => ({ label: `level ${index}` }))
    const eleven = { ...asDecisions, questions: [{ type: 'score', instructions: 'How?', levels }] }
    const error = {
      message: 'criteria: at most 10 levels',
      type: 'validation_error',
      param: 'questions',
      code: 'too_many',
    }

    for (const type of ['bridge_a', 'bridge_b'] as const)
      it(`a score of 11 levels: ${type} is asked, and its refusal comes back as it is`, async () => {
        const before = conversation.upstreams[type].requests.length
        const { status, body } = await decide(type, { status: 400, body: { error } }, eleven)
        expect(conversation.upstreams[type].requests).to.have.length(before + 1)
        expect(status).to.equal(400)
        expect(body).to.deep.equal({ error })
      })

    it('a score of 11 levels: bridge_c serves it', async () => {
      const answered = { type: 'score', score: 10, probabilities: { 10: 1 } }
      const { status, body } = await decide(
        'bridge_c',
        { body: { answers: { __unnamed_question_0: answered } } },
        eleven,
      )
      expect(status).to.equal(200)
      const [score] = body['answers'] as unknown as readonly JsonObject[]
      expect(score?.['score']).to.equal(10)
    })

    it('in a list of places: the sentence says them', async () => {
      const detail = [{ loc: ['body', 'questions'], msg: 'too long' }]
      const { status, body } = await decide('bridge_a', { status: 422, body: { detail } })
      expect(status).to.equal(422)
      expect(body['error']).to.include({ message: 'body.questions: too long', type: 'invalid_request_error' })
    })

    for (const type of ['native', ...bridges] as const)
      it(`because ${type} is busy: 429 with its retry-after`, async () => {
        const { status, body, headers } = await decide(type, {
          status: 429,
          headers: { 'retry-after': '7' },
          body: { error: { message: 'slow down', type: 'rate_limit_error', code: 'rate_limited' } },
        })
        expect(status).to.equal(429)
        expect(body['error']).to.include({ message: 'slow down', code: 'rate_limited' })
        expect(headers.get('retry-after')).to.equal('7')
      })

    it('the key: 502 without a word of theirs', async () => {
      const { status, body } = await decide('bridge_b', {
        status: 401,
        body: { error: { message: 'key-of-bridge_b is wrong' } },
      })
      expect(status).to.equal(502)
      expect(JSON.stringify(body)).not.to.include('key-of')
    })
  })

  describe('that fail', () => {
    /** One whose upstreams are not waited for. */
    let hasty: Conversation
    before(async () => {
      const soon = { timeouts: { first_byte: '100ms', idle: '100ms' } }
      hasty = await startDecisions({ native: soon, bridge_a: soon, bridge_b: soon, bridge_c: soon })
    })
    after(() => hasty.close())

    for (const type of ['native', ...bridges] as const) {
      it(`${type} with 500: 502`, async () => {
        const { status, body } = await decide(type, { status: 500, body: { error: { message: 'broken' } } })
        expect(status).to.equal(502)
        expect(body['error']).to.include({ code: 'upstream_error', type: 'server_error' })
      })

      it(`${type} by silence: 504`, async () => {
        const { status, body } = await decide(type, { silent: true }, asDecisions, hasty)
        expect(status).to.equal(504)
        expect(body['error']).to.include({ code: 'upstream_timeout' })
      })

      it(`${type} by stopping half-way: 504`, async () => {
        const { status, body } = await decide(type, { chunks: ['{"model":'], ending: 'hang' }, asDecisions, hasty)
        expect(status).to.equal(504)
        expect(body['error']).to.include({ code: 'upstream_timeout' })
      })

      const garbage: Readonly<Record<string, Script>> = {
        'no JSON': { headers: { 'content-type': 'application/json' }, body: 'ok' },
        'a page': { headers: { 'content-type': 'text/html' }, body: '<html>Sign in</html>' },
        'a list': { body: [] },
        nothing: { headers: { 'content-type': 'application/json' }, body: '' },
        'a stream': { frames: [{ data: { model: 'x' } }, '[DONE]'] },
        'half of it': { headers: { 'content-length': '1000' }, chunks: ['{"model":"x"'], ending: 'close' },
      }
      for (const [name, script] of Object.entries(garbage))
        it(`${type} by ${name}: 502`, async () => {
          const { status, body } = await decide(type, script)
          expect(status).to.equal(502)
          expect(body['error']).to.have.all.keys('message', 'type', 'param', 'code')
          expect(isObject(body['error']) && body['error']['code']).to.match(/^upstream_(invalid_response|error)$/)
        })
    }

    for (const type of bridges)
      it(`${type} by an answer to something else: 502`, async () => {
        for (const body of [{}, { answers: {} }, { answers: { team: 1 } }, { error: 'x' }, mapevalAnswer('other')]) {
          const { status, body: printed } = await decide(type, { body })
          expect(status).to.equal(502)
          expect(isObject(printed['error']) && printed['error']['code']).to.match(/^upstream_(invalid_response|error)$/)
        }
      })
  })

  describe('that are local and too old', () => {
    const missing: Script = { status: 404, headers: { 'content-type': 'text/plain' }, body: '404 page not found' }
    const sentence = 'has no route for decisions: its server must be of version 0.35 or newer.'

    it('have no route: the client learns which version has', async () => {
      for (const [path, body] of [
        ['/v1/decisions', asDecisions],
        ['/v1/mapeval', asMapeval],
      ] as const) {
        conversation.upstreams.bridge_c.answer(missing)
        const answer = await read(await conversation.gateway.post(path, { model: 'bridge_c', ...body }))
        expect(answer.status).to.equal(400)
        expect(answer.body['error']).to.include({ code: 'upstream_rejected', type: 'invalid_request_error' })
        expect((answer.body['error'] as JsonObject)['message']).to.match(new RegExp(`${sentence}$`))
      }
    })

    it('are told apart from those that lack the model', async () => {
      const { status, body } = await decide('bridge_c', { status: 404, body: { error: 'model "x" not found' } })
      expect(status).to.equal(404)
      expect(body['error']).to.include({ message: 'model "x" not found' })
    })
  })

  it('are left at once when the client leaves', async () => {
    // Without limits of its own: nothing but the client's leaving ends the request.
    const patient = await startDecisions()
    try {
      const { gateway, upstreams } = patient
      upstreams.bridge_a.answer({ silent: true })
      const leaving = new AbortController()
      const asked = fetch(`${gateway.url}/v1/decisions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'bridge_a', ...asDecisions }),
        signal: leaving.signal,
      }).catch((reason: unknown) => reason)
      await upstreams.bridge_a.received()
      leaving.abort()
      expect(await asked).to.be.instanceOf(Error)
      await upstreams.bridge_a.closed()
      expect(await patient.row(() => true)).to.include({ type: 'decisions', result: 'client_closed' })
    } finally {
      await patient.close()
    }
  })
})
