import { expect } from 'chai'
import { startGateway } from '../support/gateway.ts'
import type { RunningGateway } from '../support/gateway.ts'
import { scriptedUpstream } from '../support/upstream.ts'
import type { ScriptedUpstream } from '../support/upstream.ts'
import { messagesAnswer } from './streams.ts'

const threads = 'message-threads-2026-08-12'
const body = {
  max_tokens: 9,
  messages: [{ role: 'user', content: 'hello' }],
  thread: { type: 'continue', previous_message_id: 'msg_1' },
}

describe('a conversation that a messages provider is to hold', () => {
  let upstream: ScriptedUpstream
  let gateway: RunningGateway
  before(async () => {
    upstream = await scriptedUpstream()
    const at = { type: 'messages', base_url: upstream.url, api_key: 'upstream-key' }
    gateway = await startGateway({
      providers: [
        { name: 'all', ...at },
        { name: 'none', ...at, betas: [] },
        { name: 'some', ...at, betas: ['another-2026-01-01', threads] },
      ],
      models: ['all', 'none', 'some'].map((name) => ({ name, provider: name })),
    })
  })
  after(async () => {
    await gateway.close()
    await upstream.close()
  })

  const ask = (model: string, beta?: string) =>
    gateway.post('/v1/messages', { ...body, model }, beta === undefined ? {} : { 'anthropic-beta': beta })

  for (const model of ['all', 'some'])
    it(`goes on at "${model}", which hears of the feature`, async () => {
      upstream.answer({ body: messagesAnswer })
      expect((await ask(model, `${threads}, another-2026-01-01`)).status).to.equal(200)
      expect(JSON.parse(String(upstream.requests.at(-1)?.body))).to.have.deep.property('thread', body.thread)
      expect(upstream.requests.at(-1)?.headers['anthropic-beta']).to.contain(threads)
    })

  for (const [model, beta] of [
    ['none', threads],
    ['none', undefined],
    ['some', 'another-2026-01-01'],
    ['all', undefined],
  ] as const)
    it(`is refused at "${model}" with ${beta ?? 'no feature'}, so that clients send it whole`, async () => {
      const asked = upstream.requests.length
      const response = await ask(model, beta)
      expect(response.status).to.equal(400)
      expect(await response.json()).to.have.nested.property('error.details.error_code', 'thread_unsupported_request')
      expect(upstream.requests).to.have.length(asked)
    })
})
