import { expect } from 'chai'
import { openai } from '../support/clients.ts'
import { startGateway } from '../support/gateway.ts'
import type { RunningGateway } from '../support/gateway.ts'
import { scriptedUpstream } from '../support/upstream.ts'
import type { ScriptedUpstream } from '../support/upstream.ts'

describe('counting the tokens of a responses request', function () {
  let upstream: ScriptedUpstream
  let gateway: RunningGateway
  before(async () => {
    upstream = await scriptedUpstream()
    gateway = await startGateway({
      providers: [
        { name: 'vendor', type: 'native', base_url: upstream.url, api_key: 'key-of-the-vendor' },
        { name: 'local', type: 'compatible', base_url: upstream.url },
      ],
      models: [
        { name: 'large', provider: 'vendor', upstream_model: 'large-2026' },
        { name: 'chat', provider: 'local' },
      ],
    })
    // The first count loads the encoder, which may take longer than a client waits.
    for (let tries = 1; (await counted()).metadata.token_count !== 'o200k_base'; tries += 1)
      if (tries === 30) throw new Error('the encoder has not been loaded')
  })
  after(async () => {
    await gateway.close()
    await upstream.close()
  })

  async function counted() {
    const response = await gateway.post('/v1/responses/input_tokens', { model: 'chat', input: 'Hello, world!' })
    const row = (await gateway.rows()).at(-1)
    return {
      status: response.status,
      body: await response.json(),
      row,
      metadata: JSON.parse(row?.metadata ?? '{}') as { readonly token_count?: string },
    }
  }

  it('asks a provider that can, byte for byte but for the model', async () => {
    const answer = '{"object":"response.input_tokens", "input_tokens":42}'
    upstream.answer({ body: answer, headers: { 'content-type': 'application/json' } })
    const response = await gateway.post('/v1/responses/input_tokens', { model: 'large', input: 'Hello', tools: [] })
    expect(await response.text()).to.equal(answer)
    const [request] = upstream.requests.slice(-1)
    expect(request?.path).to.equal('/v1/responses/input_tokens')
    expect(request?.body.toString()).to.equal('{"model":"large-2026","input":"Hello","tools":[]}')
    const row = (await gateway.rows()).at(-1)
    expect(row).to.include({ type: 'count_tokens', model: 'large', protocol: 'input-tokens', cost_micros: 0 })
  })

  it('counts here where the provider cannot, and where it fails', async () => {
    const before = upstream.requests.length
    const { status, body, row } = await counted()
    expect([status, body]).to.deep.equal([200, { object: 'response.input_tokens', input_tokens: 4 }])
    expect(row).to.include({ type: 'count_tokens', status: 200, model: null, attempts: 0 })
    expect(upstream.requests.length).to.equal(before)
    for (const script of [{ status: 404 }, { status: 500 }, { body: 'page' }]) {
      upstream.answer(script)
      const answer = await openai(gateway).responses.inputTokens.count({ model: 'large', input: 'Hello, world!' })
      expect(answer.input_tokens).to.equal(4)
    }
  })

  it('says that it does not count a conversation which its provider alone knows', async () => {
    const body = { model: 'chat', input: 'Hello, world!', conversation: 'conv_1' }
    const response = await gateway.post('/v1/responses/input_tokens', body)
    expect(await response.json()).to.deep.equal({ object: 'response.input_tokens', input_tokens: 4 })
    expect(response.headers.get('x-gateway-losses')).to.equal('conversation')
    const metadata = JSON.parse((await gateway.rows()).at(-1)?.metadata ?? '') as { losses: unknown }
    expect(JSON.stringify(metadata.losses)).to.include('conversation')
    const other = await gateway.post('/v1/responses/input_tokens', { ...body, conversation: null })
    expect(other.headers.get('x-gateway-losses')).to.equal(null)
  })

  it('serves the official client, and every field of the request', async () => {
    const answer = await openai(gateway).responses.inputTokens.count({
      model: 'chat',
      instructions: 'Hello, world!',
      input: [{ role: 'user', content: [{ type: 'input_text', text: 'Hello, world!' }] }],
      tools: null,
      tool_choice: 'auto',
      reasoning: { effort: 'low' },
      text: { format: { type: 'text' } },
      truncation: 'disabled',
      parallel_tool_calls: true,
    })
    expect(answer).to.include({ object: 'response.input_tokens', input_tokens: 9 })
  })

  it('is served at its aliases, and needs a model and a known conversation', async () => {
    for (const path of ['/responses/input_tokens', '/v1/v1/responses/input_tokens', '/v1/responses/input_tokens/'])
      expect((await gateway.post(path, { model: 'chat' })).status, path).to.equal(200)
    const refused = async (body: object) => {
      const response = await gateway.post('/v1/responses/input_tokens', body)
      return [response.status, ((await response.json()) as { error: { code: string } }).error.code]
    }
    expect(await refused({ input: 'x' })).to.deep.equal([400, 'missing_required_parameter'])
    expect(await refused({ model: 'chat', previous_response_id: 'resp_unknown' })).to.deep.equal([
      400,
      'previous_response_not_found',
    ])
  })
})
