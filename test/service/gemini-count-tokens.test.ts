import { expect } from 'chai'
import { startGateway } from '../support/gateway.ts'
import { genai } from '../support/genai.ts'
import type { RunningGateway } from '../support/gateway.ts'
import { scriptedUpstream } from '../support/upstream.ts'
import type { ScriptedUpstream } from '../support/upstream.ts'

describe("what Gemini's client counts", () => {
  let upstream: ScriptedUpstream
  let gateway: RunningGateway
  before(async () => {
    upstream = await scriptedUpstream()
    gateway = await startGateway({
      providers: [
        { name: 'google', type: 'gemini', base_url: upstream.url, api_key: 'google-key' },
        { name: 'vendor', type: 'compatible', base_url: `${upstream.url}/v1`, api_key: 'key' },
      ],
      models: [
        { name: 'gemini', provider: 'google', upstream_model: 'gemini-3-pro' },
        { name: 'org/chat', provider: 'vendor' },
      ],
    })
  })
  after(async () => {
    await gateway.close()
    await upstream.close()
  })

  it('is counted by the provider that can', async () => {
    upstream.answer({ body: { totalTokens: 31, promptTokensDetails: [] } })
    const counted = await genai(gateway).models.countTokens({ model: 'gemini', contents: 'How many?' })
    expect(counted.totalTokens).to.equal(31)
    const { path, headers, body } = upstream.requests.at(-1) ?? {}
    expect(path).to.equal('/v1beta/models/gemini-3-pro:countTokens')
    expect(headers).to.include({ 'x-goog-api-key': 'google-key' })
    expect(JSON.parse(body?.toString() ?? '')).to.have.all.keys('contents')
    const row = (await gateway.rows()).at(-1)
    expect(row).to.include({ type: 'count_tokens', status: 200, model: 'gemini', cost_micros: 0 })
  })

  it('is counted here where the provider cannot, or where it fails', async () => {
    const before = upstream.requests.length
    const short = await genai(gateway).models.countTokens({ model: 'org/chat', contents: 'one two three' })
    expect(short.totalTokens).to.be.within(2, 9)
    expect(upstream.requests.length).to.equal(before)
    upstream.answer({ status: 503, body: { error: { message: 'Busy.' } } })
    const same = await genai(gateway, 'v1').models.countTokens({ model: 'gemini', contents: 'one two three' })
    expect(same.totalTokens).to.be.within(2, 9)
    const whole = { generateContentRequest: { contents: [{ role: 'user', parts: [{ text: 'one two three' }] }] } }
    const asked = await gateway.post('/v1beta/models/org/chat:countTokens', whole)
    const counted = (await asked.json()) as { totalTokens: number }
    expect(counted).to.have.all.keys('totalTokens')
    expect(counted.totalTokens).to.be.within(2, 9)
  })

  it('has to be said once', async () => {
    const contents = [{ parts: [{ text: 'a' }] }]
    for (const body of [{}, { contents, generateContentRequest: { contents } }, { contents: 'a' }]) {
      const refused = await gateway.post('/v1beta/models/gemini:countTokens', body)
      expect(refused.status).to.equal(400)
      expect(await refused.text())
        .to.include('contents')
        .and.include('INVALID_ARGUMENT')
    }
  })
})
