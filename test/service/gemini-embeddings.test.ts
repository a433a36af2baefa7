import { expect } from 'chai'
import OpenAI, { BadRequestError } from 'openai'
import { startGateway } from '../support/gateway.ts'
import type { RunningGateway } from '../support/gateway.ts'
import { scriptedUpstream } from '../support/upstream.ts'
import type { ScriptedUpstream } from '../support/upstream.ts'

describe('embeddings of gemini', () => {
  let upstream: ScriptedUpstream
  let gateway: RunningGateway
  let client: OpenAI
  before(async () => {
    upstream = await scriptedUpstream()
    gateway = await startGateway({
      providers: [
        { name: 'google', type: 'gemini', base_url: upstream.url, api_key: 'google-key' },
        { name: 'vendor', type: 'messages', base_url: upstream.url, api_key: 'key' },
      ],
      models: [
        { name: 'vectors', provider: 'google', upstream_model: 'gemini-embedding-001', pricing: { input: 1 } },
        { name: 'words', provider: 'vendor' },
      ],
    })
    client = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: gateway.key, maxRetries: 0 })
  })
  after(async () => {
    await gateway.close()
    await upstream.close()
  })

  const answer = { embeddings: [{ values: [0.5, -0.25] }, { values: [1, 2] }], usageMetadata: { promptTokenCount: 7 } }

  for (const encoding of ['float', undefined] as const)
    it(`come as a vector for each text, in order: ${encoding ?? 'as the client packs them'}`, async () => {
      upstream.answer({ body: answer })
      const format = encoding ? { encoding_format: encoding } : {}
      const made = await client.embeddings.create({ model: 'vectors', input: ['a', 'b'], dimensions: 2, ...format })
      expect(made.data.map(({ index, embedding }) => [index, [...embedding]])).to.deep.equal([
        [0, [0.5, -0.25]],
        [1, [1, 2]],
      ])
      expect(made.usage).to.deep.equal({ prompt_tokens: 7, total_tokens: 7 })
      const { path, headers, body } = upstream.requests.at(-1) ?? {}
      expect(path).to.equal('/v1beta/models/gemini-embedding-001:batchEmbedContents')
      expect(headers).to.include({ 'x-goog-api-key': 'google-key' })
      const request = (text: string) => ({
        model: 'models/gemini-embedding-001',
        content: { parts: [{ text }] },
        outputDimensionality: 2,
      })
      expect(JSON.parse(body?.toString() ?? '')).to.deep.equal({ requests: [request('a'), request('b')] })
      const row = (await gateway.rows()).at(-1)
      expect(row).to.deep.include({ type: 'embeddings', status: 200, model: 'vectors', input_tokens: 7 })
      expect(row?.cost_micros).to.equal(7)
    })

  it('of one text are a list of one, and what is not said is a loss', async () => {
    upstream.answer({ body: { embeddings: [{ values: [1] }] } })
    const sent = await gateway.post('/v1/embeddings', { model: 'vectors', input: 'a', user: 'u', input_type: 'query' })
    expect(sent.status).to.equal(200)
    expect(sent.headers.get('x-gateway-losses')).to.equal('input_type, user')
    expect(JSON.parse(upstream.requests.at(-1)?.body.toString() ?? '')).to.deep.equal({
      requests: [{ model: 'models/gemini-embedding-001', content: { parts: [{ text: 'a' }] } }],
    })
  })

  it('in another encoding than floats are floats, which is a loss', async () => {
    for (const encoding_format of ['int8', 'binary']) {
      upstream.answer({ body: { embeddings: [{ values: [1, -2] }] } })
      const sent = await gateway.post('/v1/embeddings', { model: 'vectors', input: 'a', encoding_format })
      expect(sent.headers.get('x-gateway-losses')).to.equal('encoding_format')
      const { data } = (await sent.json()) as { data: unknown }
      expect(data).to.deep.equal([{ object: 'embedding', index: 0, embedding: [1, -2] }])
      const { losses } = JSON.parse((await gateway.rows()).at(-1)?.metadata ?? '') as { losses: { field: string }[] }
      expect(losses.map(({ field }) => field)).to.deep.equal(['encoding_format'])
    }
  })

  it('cannot be made of tokens, and no other provider is asked for them', async () => {
    const before = upstream.requests.length
    const refused = await client.embeddings.create({ model: 'vectors', input: [[1, 2]] }).then(
      () => undefined,
      (error: unknown) => error,
    )
    expect(refused).to.be.instanceOf(BadRequestError)
    expect((refused as BadRequestError).message).to.include('texts alone')
    expect((await gateway.post('/v1/embeddings', { model: 'words', input: 'a' })).status).to.be.within(400, 499)
    expect(upstream.requests.length).to.equal(before)
  })

  it("fail in the words of the provider, and with its client's errors", async () => {
    upstream.answer({ status: 400, body: { error: { code: 400, message: 'Too long.', status: 'INVALID_ARGUMENT' } } })
    const refused = await gateway.post('/v1/embeddings', { model: 'vectors', input: 'a' })
    expect(refused.status).to.equal(400)
    expect(await refused.json()).to.have.nested.property('error.message', 'Too long.')
    upstream.answer({ body: { nothing: true } })
    expect((await gateway.post('/v1/embeddings', { model: 'vectors', input: 'a' })).status).to.equal(502)
  })
})
