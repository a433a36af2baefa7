import { expect } from 'chai'
import { startGateway } from '../support/gateway.ts'
import type { RunningGateway } from '../support/gateway.ts'
import { scriptedUpstream } from '../support/upstream.ts'
import type { ScriptedUpstream } from '../support/upstream.ts'
import { messagesAnswer } from './streams.ts'

/** Texts stand as they are sent: what is printed by `JSON.stringify` has no escapes that it does not need. */
describe('keys of JSON', () => {
  let upstream: ScriptedUpstream
  let gateway: RunningGateway
  before(async () => {
    upstream = await scriptedUpstream()
    const at = { base_url: upstream.url, api_key: 'upstream-key' }
    gateway = await startGateway({
      providers: [
        { name: 'family', type: 'compatible', ...at },
        { name: 'other', type: 'messages', ...at },
      ],
      models: [
        { name: 'chat', provider: 'family' },
        { name: 'messages', provider: 'other' },
      ],
    })
  })
  after(async () => {
    await gateway.close()
    await upstream.close()
  })

  const post = (body: string) =>
    fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
      body,
    })
  const lastBody = () => JSON.parse(String(upstream.requests.at(-1)?.body)) as Record<string, never>

  it('of one client are not read as those of another', async () => {
    upstream.answer({ body: messagesAnswer })
    const asking = (properties: string) =>
      `{"model":"messages","messages":[{"role":"user","content":"hi"}],"tools":[{"type":"function","function":` +
      `{"name":"f","parameters":{"type":"object","properties":{"city":{"type":"string"},${properties}}}}}]}`
    const first = await post(asking(String.raw`"\\u":{"type":"string"}`))
    const second = await post(asking(String.raw`"\u540d\u524d":{"type":"string"}`))
    expect([first.status, second.status]).to.deep.equal([200, 200])
    const [tool] = lastBody()['tools'] as unknown as [{ input_schema: { properties: object } }]
    expect(Object.keys(tool.input_schema.properties)).to.deep.equal(['city', '名前'])
  })

  it('are validated however they are written, whatever a model has answered before', async () => {
    const answer = String.raw`{"model":"chat","messages":[],"temperatur\\":1}`
    upstream.answer({ body: answer, headers: { 'content-type': 'application/json' } })
    const body = '{"model":"chat","messages":[{"role":"user","content":"hi"}]'
    await (await post(`${body}}`)).json()
    const wrong = await post(`${body},${String.raw`"temperatur\u0065":9`}}`)
    expect(wrong.status).to.equal(400)
    expect(await wrong.json()).to.have.nested.property('error.param', 'temperature')
  })
})
