import { expect } from 'chai'
import type { JsonObject } from '../../engine/index.ts'
import { openai } from '../support/clients.ts'
import {
  asDecisions,
  asMapeval,
  decisionsAnswer,
  mapevalAnswer,
  read,
  startDecisions,
  types,
} from './decisions-conversation.ts'
import type { Conversation } from './decisions-conversation.ts'

describe('the gate of decisions', () => {
  let conversation: Conversation
  before(async () => {
    conversation = await startDecisions()
  })
  after(() => conversation.close())

  const post = async (path: string, body: object) => read(await conversation.gateway.post(path, body))
  const endpoints = [
    ['/v1/decisions', asDecisions],
    ['/v1/mapeval', asMapeval],
  ] as const

  for (const [path, body] of endpoints) {
    it(`${path} refuses a model without the flag before anybody is asked`, async () => {
      const before = conversation.asked()
      for (const type of types) {
        const model = `flagless-${type}`
        expect(await post(path, { model, ...body })).to.deep.include({
          status: 400,
          body: {
            error: {
              message: `The model "${model}" is not served on this endpoint: it is not a decision model.`,
              type: 'invalid_request_error',
              param: 'model',
              code: 'invalid_request_error',
            },
          },
        })
      }
      expect(conversation.asked()).to.equal(before)
    })

    it(`${path} knows no virtual models`, async () => {
      for (const model of ['fast', 'auto', 'best']) {
        const { status, body: refusal } = await post(path, { model, ...body })
        expect(status).to.be.within(400, 404)
        expect(refusal['error']).to.include({ type: 'invalid_request_error' })
      }
    })

    it(`${path} tells an unknown model`, async () => {
      expect((await post(path, { model: 'nobody', ...body })).status).to.equal(404)
    })

    it(`${path} has no streams`, async () => {
      const { status, body: refusal } = await post(path, { model: 'echo', ...body, stream: true })
      expect(status).to.equal(422)
      expect(refusal['error']).to.include({ param: 'stream', code: 'unknown_parameter' })
    })
  }

  it('lets a chat of a model of bridge_a reach nobody', async () => {
    const error = await openai(conversation.gateway)
      .chat.completions.create({ model: 'bridge_a', messages: [{ role: 'user', content: 'Hello' }] })
      .catch((reason: unknown) => reason)
    expect(error).to.include({ status: 400, type: 'invalid_request_error' })
    expect(conversation.upstreams.bridge_a.requests).to.have.length(0)
    const message = { model: 'bridge_a', max_tokens: 5, messages: [{ role: 'user', content: 'Hello' }] }
    expect(await post('/v1/messages', message)).to.deep.include({ status: 400 })
    expect((await post('/v1/responses', { model: 'bridge_a', input: 'Hello' })).status).to.be.within(400, 404)
    expect(conversation.upstreams.bridge_a.requests).to.have.length(0)
  })

  for (const type of ['bridge_b', 'bridge_c'] as const)
    it(`lets a chat of a model of ${type} pass, with the flag or without`, async () => {
      const body = {
        id: 'chatcmpl-1',
        object: 'chat.completion',
        created: 1,
        model: type,
        choices: [{ index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }],
      }
      for (const model of [type, `flagless-${type}`]) {
        conversation.upstreams[type].answer({ body })
        const asked = { model, messages: [{ role: 'user', content: 'Hello' }] }
        expect((await post('/v1/chat/completions', asked)).body).to.deep.equal(body)
        expect(conversation.last(type).path).to.equal('/v1/chat/completions')
      }
    })

  it('tells a body of the other envelope where it belongs', async () => {
    const crossed: readonly (readonly [string, JsonObject, string])[] = [
      ['/v1/decisions', asMapeval, 'This is the mapeval envelope; send it to /v1/mapeval.'],
      ['/v1/mapeval', asDecisions, 'This is the decisions envelope; send it to /v1/decisions.'],
    ]
    for (const [path, body, sentence] of crossed) {
      const { status, body: refusal } = await post(path, { model: 'echo', ...body })
      expect(status).to.equal(422)
      expect((refusal['error'] as JsonObject)['message']).to.match(new RegExp(`${sentence}$`))
    }
  })

  it('keeps fallbacks without the flag out', async () => {
    conversation.upstreams.bridge_a.answer({ status: 500, body: {} })
    conversation.upstreams.native.answer({ body: decisionsAnswer([null, 'team', 'weight'], true) })
    const { status, headers } = await post('/v1/decisions', { model: 'fallen', ...asDecisions })
    expect(status).to.equal(200)
    expect(headers.get('x-gateway-model')).to.equal('native')
    expect(JSON.parse(conversation.last('native').body)).to.include({ model: 'native-2026' })
  })
})

describe('the routes of bridges', () => {
  const asked = async (conversation: Conversation, type: 'bridge_a' | 'bridge_b' | 'bridge_c') => {
    conversation.upstreams[type].answer({ body: mapevalAnswer('__unnamed_question_0') })
    await conversation.gateway.post('/v1/decisions', { model: type, ...asDecisions })
    const decisions = conversation.last(type).path
    await conversation.gateway.post('/v1/mapeval', { model: type, ...asMapeval })
    return [decisions, conversation.last(type).path]
  }

  it('are moved by their own keys, where the endpoints have one each', async () => {
    const plain = await startDecisions()
    try {
      const url = (type: 'bridge_a' | 'bridge_b' | 'bridge_c', path: string) => plain.upstreams[type].url + path
      const moved = await startDecisions({
        bridge_a: { base_url: 'http://127.0.0.1:1', endpoint_base_urls: { mapeval: url('bridge_a', '/v1/systemone') } },
        bridge_b: {
          base_url: url('bridge_b', ''),
          endpoint_base_urls: { decisions: url('bridge_b', '/api/alpha/decisions') },
        },
        bridge_c: { base_url: 'http://127.0.0.1:1', endpoint_base_urls: { mapeval: url('bridge_c', '/local/v1') } },
      })
      try {
        const both: Conversation = { ...moved, upstreams: plain.upstreams, last: (type) => plain.last(type) }
        expect(await asked(both, 'bridge_a')).to.deep.equal(['/v1/systemone', '/v1/systemone'])
        expect(await asked(both, 'bridge_b')).to.deep.equal(['/api/alpha/decisions', '/v1/mapeval'])
        expect(await asked(both, 'bridge_c')).to.deep.equal(['/local/v1/mapeval', '/local/v1/mapeval'])
      } finally {
        await moved.close()
      }
    } finally {
      await plain.close()
    }
  })
})
