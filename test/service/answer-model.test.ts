import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { startGateway } from '../support/gateway.ts'
import type { RunningGateway } from '../support/gateway.ts'
import { scriptedUpstream } from '../support/upstream.ts'
import type { ScriptedUpstream } from '../support/upstream.ts'

const clients = {
  chat: { path: '/v1/chat/completions', body: { messages: [{ role: 'user', content: 'Hi' }] } },
  messages: { path: '/v1/messages', body: { max_tokens: 99, messages: [{ role: 'user', content: 'Hi' }] } },
  responses: { path: '/v1/responses', body: { input: 'Hi', store: false } },
}
type Client = keyof typeof clients
const names = Object.keys(clients) as readonly Client[]
/** What the upstream calls the model that answers, and how a member of an answer says it. */
const word = 'upstream-1-2026'
const members = /"model": ?"([^"]*)"/g

describe('the model that answers name', () => {
  let upstream: ScriptedUpstream
  let plain: RunningGateway
  let naming: RunningGateway
  before(async () => {
    upstream = await scriptedUpstream()
    const base_url = upstream.url
    const settings = {
      providers: [
        { name: 'compatible', type: 'compatible', base_url, api_key: 'key', offers: ['chat', 'embeddings'] },
        { name: 'native', type: 'native', base_url, api_key: 'key' },
        { name: 'vendor', type: 'messages', base_url, api_key: 'key' },
        { name: 'bridge', type: 'bridge_a', base_url, api_key: 'key' },
      ],
      models: [
        { name: 'chat', provider: 'compatible' },
        { name: 'responses', provider: 'native', protocols: ['responses'] },
        { name: 'messages', provider: 'vendor' },
        { name: 'decider', provider: 'bridge', supports_mapeval: true },
      ],
    }
    plain = await startGateway(settings)
    naming = await startGateway({ ...settings, server_config: { request_policy: { answer_model: 'gateway' } } })
  })
  after(async () => {
    await plain.close()
    await naming.close()
    await upstream.close()
  })

  /** The case has tools, so that names that only look like the model's are among the answers. */
  const answer = (protocol: Client, stream: boolean) =>
    readFileSync(
      join(import.meta.dirname, '..', 'golden', 'answers', `tools.${protocol}.${stream ? 'frames.txt' : 'json'}`),
      'utf8',
    )

  async function ask(gateway: RunningGateway, client: Client, model: Client, stream: boolean): Promise<string> {
    upstream.answer({
      headers: { 'content-type': stream ? 'text/event-stream' : 'application/json' },
      chunks: [answer(model, stream)],
    })
    const { path, body } = clients[client]
    const response = await gateway.post(path, { ...body, model, ...(stream ? { stream } : {}) })
    const text = await response.text()
    expect(response.status, text).to.equal(200)
    return text
  }

  const named = (text: string) => [...new Set(text.matchAll(members).map(([, model]) => model))]

  /** The space before a name goes with it; a stream that lacks its last word is given it. */
  const spaceless = (text: string) => text.replaceAll('"model": ', '"model":').replace('data: [DONE]\n\n', '')

  for (const client of names)
    for (const model of names)
      for (const stream of [false, true])
        it(`${client} to ${model}, ${stream ? 'streamed' : 'whole'}`, async () => {
          expect(named(await ask(plain, client, model, stream))).to.deep.equal([word])
          const text = await ask(naming, client, model, stream)
          expect(named(text)).to.deep.equal([model])
          const [metadata = '{}'] = (await naming.rows()).slice(-1).map((row) => row.metadata ?? '{}')
          expect(JSON.parse(metadata)).to.include({ upstream_model: word })
          if (client !== model) return
          const own = answer(model, stream).replaceAll(members, (member) => member.replace(word, model))
          // Every other byte is the upstream's own.
          expect(spaceless(text)).to.equal(spaceless(own))
        })

  it('of embeddings and decisions, too', async () => {
    const embedding = { object: 'list', model: word, data: [{ object: 'embedding', index: 0, embedding: [1] }] }
    const usage = { usage: { prompt_tokens: 1, total_tokens: 1 } }
    const decision = { model: word, answers: { q: { type: 'noul', noul: 0.5 } }, usage: { input_tokens: 1 } }
    const question = { state: 'x', questions: { q: { type: 'noul', instructions: 'Is it?' } } }
    for (const [gateway, expected] of [
      [plain, { chat: word, decider: word }],
      [naming, { chat: 'chat', decider: 'decider' }],
    ] as const) {
      upstream.answer({ body: { ...embedding, ...usage } })
      const embedded = await gateway.post('/v1/embeddings', { model: 'chat', input: 'x' })
      expect(await embedded.json()).to.include({ model: expected.chat })
      upstream.answer({ body: decision })
      const decided = await gateway.post('/v1/mapeval', { model: 'decider', ...question })
      expect(await decided.json()).to.include({ model: expected.decider })
      upstream.answer({ body: decision })
      const asked = [{ type: 'predicate', name: 'q', instructions: 'Is it?' }]
      const translated = await gateway.post('/v1/decisions', { model: 'decider', input: 'x', questions: asked })
      expect(await translated.json()).to.include({ model: expected.decider })
    }
  })
})
