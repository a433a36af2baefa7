import { ApiError } from '@google/genai'
import type { GoogleGenAI } from '@google/genai'
import { expect } from 'chai'
import type { JsonObject } from '../../engine/index.ts'
import { startGateway } from '../support/gateway.ts'
import type { RunningGateway } from '../support/gateway.ts'
import { genai } from '../support/genai.ts'
import { scriptedUpstream } from '../support/upstream.ts'
import type { ScriptedUpstream } from '../support/upstream.ts'

describe('embeddings of a gemini client', () => {
  let upstream: ScriptedUpstream
  let gateway: RunningGateway
  let client: GoogleGenAI
  before(async () => {
    upstream = await scriptedUpstream()
    gateway = await startGateway({
      providers: [
        { name: 'google', type: 'gemini', base_url: upstream.url, api_key: 'google-key' },
        { name: 'vendor', type: 'native', base_url: upstream.url, api_key: 'key' },
        { name: 'words', type: 'messages', base_url: upstream.url, api_key: 'key' },
      ],
      models: [
        { name: 'own', provider: 'google', upstream_model: 'gemini-embedding-001', pricing: { input: 1 } },
        { name: 'other', provider: 'vendor', upstream_model: 'text-embedding-3-small', pricing: { input: 2 } },
        { name: 'words', provider: 'words' },
      ],
    })
    client = genai(gateway)
  })
  after(async () => {
    await gateway.close()
    await upstream.close()
  })

  const sent = () => JSON.parse(upstream.requests.at(-1)?.body.toString() ?? '') as JsonObject
  const post = (path: string, body: object) =>
    fetch(gateway.url + path, {
      method: 'POST',
      headers: { 'x-goog-api-key': gateway.key, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
  const content = (text: string) => ({ parts: [{ text }] })
  const vectors = { embeddings: [{ values: [0.5] }, { values: [1] }], usageMetadata: { promptTokenCount: 7 } }

  it('pass to gemini as they are, but for the name of the model in each request', async () => {
    upstream.answer({ body: vectors })
    const { embeddings } = await client.models.embedContent({
      model: 'own',
      contents: ['one', 'two'],
      config: { outputDimensionality: 1, taskType: 'RETRIEVAL_QUERY' },
    })
    expect(embeddings?.map(({ values }) => values)).to.deep.equal([[0.5], [1]])
    expect(upstream.requests.at(-1)?.path).to.equal('/v1beta/models/gemini-embedding-001:batchEmbedContents')
    const request = (text: string) => ({
      content: { role: 'user', ...content(text) },
      model: 'models/gemini-embedding-001',
      outputDimensionality: 1,
      taskType: 'RETRIEVAL_QUERY',
    })
    expect(sent()).to.deep.equal({ requests: [request('one'), request('two')] })
    const row = (await gateway.rows()).at(-1)
    expect(row).to.include({ type: 'embeddings', status: 200, model: 'own', input_tokens: 7, cost_micros: 7 })
  })

  it('come from another provider, and what it cannot say is a loss', async () => {
    const data = [0.5, 1].map((value, index) => ({ object: 'embedding', index, embedding: [value] }))
    upstream.answer({ body: { object: 'list', data, model: 'm', usage: { prompt_tokens: 4, total_tokens: 4 } } })
    const answer = await post('/v1beta/models/other:batchEmbedContents', {
      requests: ['one', 'two'].map((text) => ({
        model: 'models/other',
        content: content(text),
        output_dimensionality: 1,
        task_type: 'RETRIEVAL_QUERY',
      })),
    })
    expect(await answer.json()).to.deep.equal({
      embeddings: [{ values: [0.5] }, { values: [1] }],
      usageMetadata: { promptTokenCount: 4 },
    })
    expect(answer.headers.get('x-gateway-losses')).to.equal('taskType')
    expect(upstream.requests.at(-1)?.path).to.equal('/v1/embeddings')
    expect(sent()).to.deep.equal({ model: 'text-embedding-3-small', input: ['one', 'two'], dimensions: 1 })
    const row = (await gateway.rows()).at(-1)
    expect(row).to.include({ type: 'embeddings', model: 'other', input_tokens: 4, cost_micros: 8 })
  })

  for (const version of ['v1beta', 'v1'])
    it(`are one vector for embedContent, under /${version}`, async () => {
      upstream.answer({ body: { embeddings: [{ values: [3] }], usageMetadata: { promptTokenCount: 2 } } })
      const body = { model: 'models/own', content: content('one'), taskType: 'CLUSTERING' }
      const answer = await post(`/${version}/models/own:embedContent`, body)
      expect(await answer.json()).to.deep.equal({
        embedding: { values: [3] },
        usageMetadata: { promptTokenCount: 2 },
      })
      const request = { model: 'models/gemini-embedding-001', content: content('one'), taskType: 'CLUSTERING' }
      expect(sent()).to.deep.equal({ requests: [request] })
    })

  it('of media, or with settings of their own, go to gemini alone', async () => {
    const media = { parts: [{ inlineData: { mimeType: 'image/png', data: 'AAAA' } }, { text: 'a cat' }] }
    upstream.answer({ body: { embeddings: [{ values: [3] }] } })
    expect((await post('/v1beta/models/own:embedContent', { content: media })).status).to.equal(200)
    expect(sent()).to.deep.equal({ requests: [{ model: 'models/gemini-embedding-001', content: media }] })
    const asked = upstream.requests.length
    const mixed = { requests: [{ content: content('a') }, { content: content('b'), outputDimensionality: 2 }] }
    for (const [verb, body] of [
      ['embedContent', { content: media }],
      ['batchEmbedContents', mixed],
    ] as const) {
      // oxlint-disable-next-line no-await-in-loop
      const refused = await post(`/v1beta/models/other:${verb}`, body)
      // oxlint-disable-next-line no-await-in-loop
      const { error } = (await refused.json()) as { error: JsonObject }
      expect(error).to.include({ code: 400, status: 'INVALID_ARGUMENT' })
      expect(error['message']).to.include('texts alone')
    }
    expect(upstream.requests.length).to.equal(asked)
  })

  it('are refused for another model than that of the address, without content, and where nobody makes them', async () => {
    const asked = upstream.requests.length
    const refusal = async (path: string, body: object) => {
      const answer = await post(path, body)
      const { error } = (await answer.json()) as { error: { status: string; message: string } }
      return `${answer.status} ${error.status} ${error.message}`
    }
    const other = {
      requests: [
        { model: 'models/own', content: content('a') },
        { model: 'x', content: content('b') },
      ],
    }
    expect(await refusal('/v1beta/models/own:batchEmbedContents', other)).to.match(
      /^400 INVALID_ARGUMENT .*requests\[1\]\.model/,
    )
    expect(await refusal('/v1beta/models/own:batchEmbedContents', { requests: [] })).to.match(/^400 .*requests/)
    expect(await refusal('/v1beta/models/own:embedContent', { content: {} })).to.match(/^400 .*content/)
    expect(await refusal('/v1beta/models/words:embedContent', { content: content('a') })).to.match(/^400 .*words/)
    expect(upstream.requests.length).to.equal(asked)
    const missing = await client.models.embedContent({ model: 'nobody', contents: 'a' }).then(
      () => undefined,
      (error: unknown) => error,
    )
    expect(missing).to.be.instanceOf(ApiError)
    expect((missing as ApiError).status).to.equal(404)
  })

  it('count the tokens of a whole request at the provider, with its name for the model in both places', async () => {
    upstream.answer({ body: { totalTokens: 9 } })
    const whole = { model: 'models/own', contents: [content('one')] }
    const answer = await post('/v1beta/models/own:countTokens', { generateContentRequest: whole })
    expect(await answer.json()).to.deep.equal({ totalTokens: 9 })
    const counted = { model: 'models/gemini-embedding-001', contents: [content('one')] }
    expect(sent()).to.deep.equal({ generateContentRequest: counted })
  })
})
