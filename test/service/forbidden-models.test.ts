import { expect } from 'chai'
import { startGateway } from '../support/gateway.ts'
import type { RunningGateway } from '../support/gateway.ts'

const key = 'sk-listed-0123456789abcdef0123456789abcdef'
const input = 'Hello'
const messages = [{ role: 'user', content: input }]

/** A request of every endpoint that names a model. The provider of the models serves none of the last four. */
const requests: Record<string, object> = {
  '/v1/chat/completions': { messages },
  '/v1/messages': { messages, max_tokens: 9 },
  '/v1/responses': { input },
  '/v1/decisions': { input, questions: [{ type: 'predicate', instructions: 'Is it?' }] },
  '/v1/embeddings': { input },
  '/v1/images/generations': { prompt: input },
  '/v1/audio/speech': { input, voice: 'alloy' },
}

describe('models that a key may not use', () => {
  let gateway: RunningGateway
  /** Rows that are written, or soon will be. */
  let asked = 0
  before(async () => {
    gateway = await startGateway({
      providers: [{ name: 'far', type: 'messages', base_url: 'http://127.0.0.1:9', api_key: 'k' }],
      models: [
        { name: 'mine', provider: 'far' },
        { name: 'secret', provider: 'far', aliases: ['hidden'] },
      ],
      api_keys: [{ name: 'listed', key, models: ['mine'] }],
    })
  })
  after(() => gateway.close())

  for (const [path, body] of Object.entries(requests))
    it(`are for ${path} the same as models that do not exist`, async () => {
      const told = new Set<string>()
      for (const model of ['secret', 'hidden', 'far/secret', 'nobody']) {
        const answer = await gateway.post(path, { ...body, model }, { authorization: `Bearer ${key}` })
        const text = await answer.text()
        expect(answer.status, text).to.equal(403)
        const { error } = JSON.parse(text) as { error: { message: string; type: string } }
        told.add(`${error.type} ${error.message.replace(model, '')}`)
        expect((await gateway.rows(++asked)).at(-1)?.error).to.equal('model_not_allowed')
      }
      expect([...told]).to.have.length(1)
      const open = await gateway.post(path, { ...body, model: 'nobody' })
      expect(open.status).to.equal(404)
      await gateway.rows(++asked)
    })
})
