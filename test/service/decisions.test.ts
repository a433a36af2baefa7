import { expect } from 'chai'
import type OpenAI from 'openai'
import { openai } from '../support/clients.ts'
import {
  asDecisions,
  asMapeval,
  bridges,
  decisionsAnswer,
  mapevalAnswer,
  pixel,
  read,
  startDecisions,
} from './decisions-conversation.ts'
import type { Conversation } from './decisions-conversation.ts'

const zeros = {
  input_tokens_details: { cache_write_tokens: 0, cached_tokens: 0 },
  output_tokens_details: { reasoning_tokens: 0 },
}

describe('decisions', () => {
  let conversation: Conversation
  let client: OpenAI
  before(async () => {
    conversation = await startDecisions()
    client = openai(conversation.gateway)
  })
  after(() => conversation.close())

  type Params = OpenAI.Decisions.DecisionCreateParams
  const params = (model: string, more: Partial<Params> = {}) =>
    ({ model, ...asDecisions, ...more }) as unknown as Params
  const post = async (path: string, body: object) => read(await conversation.gateway.post(path, body))

  describe('by the openai client', () => {
    it('go to a native provider as they are, with its own name of the model', async () => {
      const answer = decisionsAnswer([null, 'team', 'weight'], true)
      conversation.upstreams.native.answer({ body: answer })
      const { data, response } = await client.decisions
        .create(params('native', { safety_identifier: 'someone' }))
        .withResponse()
      expect(data).to.deep.equal(answer)
      expect(response.headers.get('x-gateway-losses')).to.equal(null)
      expect(conversation.last('native')).to.deep.equal({
        path: '/v1/decisions',
        key: 'Bearer key-of-native',
        body: JSON.stringify({ model: 'native-2026', ...asDecisions, safety_identifier: 'someone' }),
      })
    })

    for (const type of bridges)
      it(`go to ${type} in the other envelope, and come back in this one`, async () => {
        conversation.upstreams[type].answer({ body: mapevalAnswer('__unnamed_question_0') })
        const { data, response } = await client.decisions
          .create(params(type, { safety_identifier: 'someone' }))
          .withResponse()
        expect(conversation.last(type)).to.deep.equal({
          path: '/v1/mapeval',
          key: `Bearer key-of-${type}`,
          body: JSON.stringify({
            model: `${type}-2026`,
            state: 'The export crashes.',
            questions: {
              __unnamed_question_0: { type: 'noul', instructions: 'Is it a bug?', criteria: {} },
              team: { type: 'choice', instructions: 'Whose is it?', criteria: { web: 'pages', true: null } },
              weight: {
                type: 'score',
                instructions: 'How bad?\n\nLevels:\n0. low: cosmetic\n1. high',
                criteria: ['low', 'high'],
              },
            },
          }),
        })
        expect(data).to.deep.equal({
          ...decisionsAnswer([null, 'team', 'weight'], true),
          usage: { input_tokens: 120, output_tokens: 3, total_tokens: 123, ...zeros },
        })
        expect(response.headers.get('x-gateway-model')).to.equal(type)
        expect(response.headers.get('x-gateway-losses')).to.equal('levels, safety_identifier')
      })

    it('are answered by echo, the same each time', async () => {
      const { answers, usage, model } = await client.decisions.create(params('echo'))
      expect(model).to.equal('echo')
      expect(answers.map(({ type, name }) => [type, name])).to.deep.equal([
        ['predicate', null],
        ['choice', 'team'],
        ['score', 'weight'],
      ])
      const [predicate, choice, score] = answers
      expect(predicate?.type === 'predicate' && predicate.probability).to.be.within(0, 1)
      if (choice?.type !== 'choice' || score?.type !== 'score') throw new Error('one answer per question')
      expect(choice.probabilities.map(({ value }) => value)).to.deep.equal(['web', true])
      for (const { probabilities } of [choice, score])
        expect(probabilities.reduce((sum, { probability }) => sum + probability, 0)).to.be.closeTo(1, 1e-9)
      const most = Math.max(...choice.probabilities.map(({ probability }) => probability))
      expect(choice.probabilities.find(({ value }) => value === choice.choice)?.probability).to.equal(most)
      expect(score.probabilities.map(({ value, label }) => [value, label])).to.deep.equal([
        [0, 'low'],
        [1, 'high'],
      ])
      expect(usage.total_tokens).to.equal(usage.input_tokens + usage.output_tokens)
      expect(usage.input_tokens).to.be.greaterThan(0)
      expect((await client.decisions.create(params('echo'))).answers).to.deep.equal(answers)
    })

    const pictures = {
      input: [
        {
          role: 'user' as const,
          content: [
            { type: 'input_text' as const, text: 'Look.' },
            { type: 'input_image' as const, image_url: `data:image/png;base64,${pixel}` },
          ],
        },
        { role: 'user' as const, content: [{ type: 'input_text' as const, text: 'And think.' }] },
      ],
    }

    it('hand images to bridge_c alone, as raw base64', async () => {
      conversation.upstreams.bridge_c.answer({ body: mapevalAnswer('__unnamed_question_0') })
      const { response } = await client.decisions.create(params('bridge_c', pictures)).withResponse()
      const body = JSON.parse(conversation.last('bridge_c').body) as Record<string, unknown>
      expect(body).to.include({ state: 'Look.\n\nAnd think.' })
      expect(body['images']).to.deep.equal([pixel])
      expect(response.headers.get('x-gateway-losses')).to.equal('input, levels')
    })

    for (const type of ['bridge_a', 'bridge_b'] as const)
      it(`drop images toward ${type}, and say so`, async () => {
        conversation.upstreams[type].answer({ body: mapevalAnswer('__unnamed_question_0') })
        const { response } = await client.decisions.create(params(type, pictures)).withResponse()
        expect(JSON.parse(conversation.last(type).body)).to.have.keys('model', 'state', 'questions')
        expect(conversation.last(type).body).not.to.include(pixel)
        expect(response.headers.get('x-gateway-losses')).to.equal('input, images, levels')
      })

    it('fail as the client knows it, with the place', async () => {
      const error = await client.decisions
        .create(
          params('native', { questions: [{ type: 'predicate', instructions: 'x', name: '__unnamed_question_1' }] }),
        )
        .catch((reason: unknown) => reason)
      expect(error).to.include({ status: 422, type: 'invalid_request_error', param: 'questions[0].name' })
    })
  })

  describe('in the other envelope', () => {
    for (const type of bridges)
      it(`go to ${type} as they are, and so do their answers`, async () => {
        const answer = { ...mapevalAnswer('bug'), id: 'gen-1', cost: 0.5 }
        conversation.upstreams[type].answer({ body: answer })
        const fields = { provider: { order: ['x'] }, session_id: 's', trace: { a: 1 }, user: 'u', keep_alive: '5m' }
        const { body, headers } = await post('/v1/mapeval', { model: type, ...asMapeval, ...fields })
        expect(body).to.deep.equal(answer)
        expect(headers.get('x-gateway-losses')).to.equal(null)
        expect(conversation.last(type)).to.deep.equal({
          path: '/v1/mapeval',
          key: `Bearer key-of-${type}`,
          body: JSON.stringify({ model: `${type}-2026`, ...asMapeval, ...fields }),
        })
      })

    it('go to a native provider as decisions, and come back as a map', async () => {
      const answer = decisionsAnswer(['bug', 'team', 'weight'], 'true')
      conversation.upstreams.native.answer({ body: answer })
      const fields = { provider: {}, session_id: 's', trace: {}, user: 'u', keep_alive: 0 }
      const questions = {
        ...asMapeval.questions,
        bug: { ...asMapeval.questions.bug, criteria: { true: 'so', false: 'not' } },
      }
      const asked = { model: 'native', state: { log: ['a'] }, questions, images: [pixel], ...fields }
      const { body, headers } = await post('/v1/mapeval', asked)
      expect(conversation.last('native')).to.deep.equal({
        path: '/v1/decisions',
        key: 'Bearer key-of-native',
        body: JSON.stringify({
          model: 'native-2026',
          input: [
            {
              role: 'user',
              content: [
                { type: 'input_text', text: '{"log":["a"]}' },
                { type: 'input_image', image_url: `data:image/png;base64,${pixel}` },
              ],
            },
          ],
          questions: [
            { type: 'predicate', name: 'bug', instructions: 'Is it a bug?\n\nTrue: so\nFalse: not' },
            {
              type: 'choice',
              name: 'team',
              instructions: 'Whose is it?',
              choices: [{ value: 'web', description: 'pages' }, { value: 'true' }],
            },
            { type: 'score', name: 'weight', instructions: 'How bad?', levels: [{ label: 'low' }, { label: 'high' }] },
          ],
        }),
      })
      expect(body).to.deep.equal({ ...mapevalAnswer('bug'), usage: answer['usage'] })
      expect(headers.get('x-gateway-losses')).to.equal('state, criteria, provider, session_id, trace, user, keep_alive')
    })

    it('are answered by echo as by the endpoint of decisions', async () => {
      const { body } = await post('/v1/mapeval', { model: 'echo', ...asMapeval })
      expect(body['answers']).to.have.keys('bug', 'team', 'weight')
      const { bug } = body['answers'] as Record<string, { type: string; noul: number }>
      expect(bug?.type).to.equal('noul')
      const other = await client.decisions.create(params('echo'))
      expect(other.answers[0]).to.include({ type: 'predicate', probability: bug?.noul })
    })

    it('tell that a question was refused', async () => {
      const answer = decisionsAnswer(['bug', 'team', 'weight'], 'true')
      const [, ...others] = answer['answers'] as unknown as readonly object[]
      conversation.upstreams.native.answer({
        body: { ...answer, answers: [{ type: 'refusal', name: 'bug' }, ...others] } as object as never,
      })
      const { body } = await post('/v1/mapeval', { model: 'native', ...asMapeval })
      expect(body['answers']).to.deep.include({ bug: { type: 'refusal' } })
    })
  })

  it('are served at every alias', async () => {
    for (const path of ['/decisions', '/v1/v1/decisions', '/v1/decisions/'])
      expect((await post(path, { model: 'echo', ...asDecisions })).status, path).to.equal(200)
    for (const path of ['/mapeval', '/v1/v1/mapeval', '/v1/mapeval/'])
      expect((await post(path, { model: 'echo', ...asMapeval })).status, path).to.equal(200)
  })

  it('need a key', async () => {
    for (const path of ['/v1/decisions', '/v1/mapeval'])
      expect((await conversation.gateway.post(path, {}, { authorization: 'Bearer none' })).status).to.equal(401)
  })

  it('are recorded with their losses, and cost their input alone', async () => {
    conversation.upstreams.bridge_a.answer({ body: mapevalAnswer('__unnamed_question_0') })
    conversation.upstreams.native.answer({ body: decisionsAnswer(['bug', 'team', 'weight'], 'true') })
    const { headers } = await post('/v1/decisions', { model: 'bridge_a', ...asDecisions, safety_identifier: 'someone' })
    const other = await post('/v1/mapeval', { model: 'native', ...asMapeval })
    const row = (answer: Headers) => conversation.row(({ id }) => id === answer.get('x-request-id'))
    expect(await row(headers)).to.include({
      type: 'decisions',
      model: 'bridge_a',
      protocol: 'decisions',
      upstream_protocol: 'mapeval',
      status: 200,
      input_tokens: 120,
      output_tokens: 3,
      cost_micros: 240,
    })
    const { losses } = JSON.parse((await row(headers)).metadata) as { losses: { field: string }[] }
    expect(losses.map(({ field }) => field)).to.deep.equal(['levels', 'safety_identifier'])
    expect(await row(other.headers)).to.include({
      type: 'mapeval',
      model: 'native',
      upstream_protocol: 'decisions',
      input_tokens: 100,
      cache_read_tokens: 20,
    })
  })
})
