import { expect } from 'chai'
import { parsedObject } from '../../engine/kit.ts'
import type { JsonObject } from '../../engine/index.ts'
import { streamOf, wholeOf } from '../golden/session.ts'
import type { Client, Spoken } from '../golden/pairs.ts'
import { addressed } from '../golden/pairs.ts'
import { fieldOf } from '../golden/turns.ts'
import { startGateway } from '../support/gateway.ts'
import type { RunningGateway } from '../support/gateway.ts'
import { scriptedUpstream } from '../support/upstream.ts'
import type { ScriptedUpstream } from '../support/upstream.ts'

/** What each model's upstream speaks, and what of the sampling of a client reaches it. */
const models: Readonly<Record<string, readonly [protocol: Spoken, taken: string]>> = {
  'gpt-4o': ['responses', 'temperature top_p'],
  'gpt-5-mini': ['responses', ''],
  'o3-pro': ['chat', ''],
  'gpt-5.2': ['responses', 'temperature top_p'],
  'gpt-5.2-codex': ['responses', ''],
  'gpt-5-chat-latest': ['chat', 'temperature top_p'],
  'claude-3-5-haiku': ['messages', 'temperature top_p top_k'],
  'claude-sonnet-4-20250514': ['messages', 'temperature top_p top_k'],
  'claude-sonnet-4-5-20250929': ['messages', 'temperature top_k'],
  'claude-opus-4-7': ['messages', ''],
  'claude-sonnet-5': ['messages', ''],
  'us.anthropic.claude-opus-4-8-v1:0': ['converse', ''],
  'us.anthropic.claude-3-haiku-v1:0': ['converse', 'temperature top_p top_k'],
  'gemini-3': ['gemini', 'temperature top_p top_k'],
  'gemini-none': ['gemini', ''],
  'served-all': ['chat', 'temperature top_p top_k'],
  'served-one': ['chat', 'temperature top_k'],
  'served-none': ['chat', ''],
  'deployment-o3': ['chat', 'temperature top_p'],
}
const clients: readonly Client[] = ['chat', 'messages', 'responses', 'gemini']
const given = { temperature: 0.3, top_p: 0.8, top_k: 7 }

/** The sampling in the body of an upstream or a client, under the names of most protocols. */
function samplingIn(body: JsonObject): JsonObject {
  const { inferenceConfig, additionalModelRequestFields, generationConfig, ...own } = body
  const all: JsonObject = Object.assign({}, own, inferenceConfig, additionalModelRequestFields, generationConfig)
  const found = {
    temperature: all['temperature'],
    top_p: all['top_p'] ?? all['topP'],
    top_k: all['top_k'] ?? all['topK'],
  }
  return Object.fromEntries(Object.entries(found).filter(([, value]) => value !== undefined))
}

describe('sampling that models refuse', () => {
  let upstream: ScriptedUpstream
  let gateway: RunningGateway
  before(async () => {
    upstream = await scriptedUpstream()
    const at = { base_url: upstream.url, api_key: 'k' }
    const provider: Record<Spoken, string> = {
      chat: 'native',
      responses: 'native',
      messages: 'vendor',
      converse: 'aws',
      gemini: 'google',
    }
    const named = (name: string) =>
      name.startsWith('served-')
        ? name
        : name === 'gemini-none'
          ? 'google-none'
          : name.startsWith('depl')
            ? 'azure'
            : ''
    gateway = await startGateway({
      providers: [
        { name: 'native', type: 'native', ...at },
        { name: 'azure', type: 'azure', ...at },
        { name: 'vendor', type: 'messages', ...at },
        { name: 'aws', type: 'bedrock', ...at },
        { name: 'google', type: 'gemini', ...at },
        { name: 'google-none', type: 'gemini', ...at, traits: { sampling: 'none' } },
        ...['all', 'one', 'none'].map((sampling) => ({
          name: `served-${sampling}`,
          type: 'compatible',
          ...at,
          traits: { sampling, top_k: true },
        })),
      ],
      models: Object.entries(models).map(([name, [protocol]]) => ({
        name,
        provider: named(name) || provider[protocol],
        ...(protocol === 'chat' || protocol === 'responses' ? { protocols: [protocol] } : {}),
      })),
    })
  })
  after(async () => {
    await gateway.close()
    await upstream.close()
  })

  async function ask(client: Client, model: string, more: JsonObject) {
    const [protocol] = models[model] ?? ['chat']
    const { stream, ...asked } = more
    upstream.answer(stream === true ? streamOf(protocol, 'length') : wholeOf(protocol, 'length'))
    const turn = client === 'gemini' ? { role: 'user', parts: [{ text: 'Hi' }] } : { role: 'user', content: 'Hi' }
    const { temperature, top_p: topP, top_k: topK } = given
    const sampled = client === 'gemini' ? { generationConfig: { temperature, topP, topK, seed: 5 } } : given
    const { path, body } = addressed(client, {
      ...(client === 'messages' ? { max_tokens: 50 } : {}),
      ...sampled,
      [fieldOf(client)]: [turn],
      ...asked,
      ...(stream === true ? { stream } : {}),
      model,
    })
    // Neither protocol has the field.
    const { top_k: _, ...without } = body
    const answer = await gateway.post(path, client === 'chat' || client === 'responses' ? without : body)
    expect(answer.status, await answer.text()).to.equal(200)
    const sent = parsedObject(String(upstream.requests.at(-1)?.body)) ?? {}
    return { sent, losses: (answer.headers.get('x-gateway-losses') ?? '').split(', ') }
  }

  for (const [model, [, taken]] of Object.entries(models))
    for (const client of clients)
      it(`${model} gets ${taken || 'none'}, from a client of ${client}`, async () => {
        const named = Object.keys(given).filter(
          (name) => name !== 'top_k' || client === 'messages' || client === 'gemini',
        )
        const words = named.filter((name) => taken.split(' ').includes(name))
        for (const stream of [false, true]) {
          const { sent, losses } = await ask(client, model, { stream })
          expect(Object.keys(samplingIn(sent))).to.have.members(words)
          expect(losses).to.include.members(named.filter((name) => !words.includes(name)))
        }
      })

  it('is told by the effort, where a model takes it without reasoning alone', async () => {
    for (const [client, effort] of [
      ['responses', { reasoning: { effort: 'low' } }],
      ['chat', { reasoning_effort: 'low' }],
      ['responses', { reasoning: { effort: 'none' } }],
    ] as const) {
      const { sent } = await ask(client, 'gpt-5.2', effort)
      const kept = JSON.stringify(effort).includes('none') ? ['temperature', 'top_p'] : []
      expect(Object.keys(samplingIn(sent))).to.have.members(kept)
    }
  })

  it('loses nothing where it says what is usual anyway, and leaves all other bytes', async () => {
    upstream.answer(wholeOf('messages', 'length'))
    const body = '{"model":"claude-opus-4-7","temperature":1,"max_tokens": 50, "metadata":{"n":1.0}, "top_p":1.0 ,'
    const end = '"messages":[{"role":"user","content":"Hi"}],"top_k":3}'
    const answer = await fetch(`${gateway.url}/v1/messages`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${gateway.key}` },
      body: body + end,
    })
    expect(answer.status).to.equal(200)
    expect(answer.headers.get('x-gateway-losses')).to.equal('top_k')
    const sent = String(upstream.requests.at(-1)?.body)
    expect(sent).to.equal(
      '{"model":"claude-opus-4-7","max_tokens": 50, "metadata":{"n":1.0},"messages":[{"role":"user","content":"Hi"}]}',
    )
  })
})
