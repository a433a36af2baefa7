import { expect } from 'chai'
import type { JsonObject } from '../../engine/index.ts'
import { startGateway } from '../support/gateway.ts'
import type { RunningGateway } from '../support/gateway.ts'
import { scriptedUpstream } from '../support/upstream.ts'
import type { ScriptedUpstream } from '../support/upstream.ts'

const answer = {
  type: 'message',
  role: 'assistant',
  model: 'm',
  content: [{ type: 'text', text: 'Hi' }],
  stop_reason: 'end_turn',
  usage: { input_tokens: 1, output_tokens: 1 },
}
const mark = { cache_control: { type: 'ephemeral' } }
const long = 'Be kind. '.repeat(600)
const parameters = { type: 'object', properties: {} }
const tools = ['a', 'b'].map((name) => ({ type: 'function', function: { name, parameters } }))
const messages = [
  { role: 'system', content: long },
  { role: 'user', content: 'One' },
  { role: 'assistant', content: 'Two' },
  { role: 'user', content: 'Three' },
]

describe('prompt caching', () => {
  let upstream: ScriptedUpstream
  const gateways: RunningGateway[] = []
  before(async () => {
    upstream = await scriptedUpstream()
    upstream.answer({ body: answer })
  })
  after(async () => {
    for (const gateway of gateways) await gateway.close()
    await upstream.close()
  })

  async function gatewayWith(request_policy: object): Promise<RunningGateway> {
    const gateway = await startGateway({
      providers: [{ name: 'vendor', type: 'messages', base_url: upstream.url, api_key: 'key' }],
      models: [{ name: 'm', provider: 'vendor' }],
      server_config: { request_policy },
    })
    gateways.push(gateway)
    return gateway
  }

  async function ask(gateway: RunningGateway, body: object, path = '/v1/chat/completions') {
    const response = await gateway.post(path, { ...(path.includes('/m:') ? {} : { model: 'm' }), ...body })
    expect(response.status, await response.text()).to.equal(200)
    const asked = JSON.parse(upstream.requests.at(-1)?.body.toString() ?? '') as JsonObject
    return { asked, losses: response.headers.get('x-gateway-losses') ?? '' }
  }

  const marks = (asked: JsonObject) => JSON.stringify(asked).split('"cache_control"').length - 1

  it('marks what comes again where a request names a cache', async () => {
    const gateway = await gatewayWith({})
    const { asked, losses } = await ask(gateway, { messages, tools, prompt_cache_key: 'k' })
    expect(asked['system']).to.deep.equal([{ type: 'text', text: long, ...mark }])
    expect(asked['tools']).to.deep.equal([
      { name: 'a', input_schema: parameters },
      { name: 'b', input_schema: parameters, ...mark },
    ])
    expect(asked['messages']).to.have.deep.nested.property('[2].content', [{ type: 'text', text: 'Three', ...mark }])
    expect(marks(asked)).to.equal(3)
    expect(losses).to.not.contain('prompt_cache_key')
    const other = { input: 'Hello', instructions: long, prompt_cache_key: 'k', store: false }
    expect(marks((await ask(gateway, other, '/v1/responses')).asked)).to.equal(2)
  })

  for (const [path, first, turns] of [
    ['/v1/chat/completions', { messages: messages.slice(0, 2) }, { messages }],
    ['/v1/responses', { instructions: long, input: 'One' }, { instructions: long, input: messages.slice(1) }],
    [
      '/v1beta/models/m:generateContent',
      { systemInstruction: { parts: [{ text: long }] }, contents: [{ role: 'user', parts: [{ text: 'One' }] }] },
      {
        systemInstruction: { parts: [{ text: long }] },
        contents: [
          { role: 'user', parts: [{ text: 'One' }] },
          { role: 'model', parts: [{ functionCall: { name: 'a', args: {} } }] },
          { role: 'user', parts: [{ functionResponse: { name: 'a', response: {} } }] },
        ],
      },
    ],
  ] as const)
    it(`marks a conversation from its second turn on, without the name of a cache: ${path}`, async () => {
      const gateway = await gatewayWith({})
      const asking = async (body: object) => (await ask(gateway, body, path)).asked
      expect(marks(await asking(first))).to.equal(0)
      expect(marks(await asking(turns))).to.equal(2)
      const asked = await gatewayWith({ prompt_caching: 'asked' })
      expect(marks((await ask(asked, turns, path)).asked)).to.equal(0)
    })

  it('marks nothing in a short prompt, or beside marks of the client', async () => {
    const gateway = await gatewayWith({})
    expect(marks((await ask(gateway, { messages: messages.slice(1), tools, prompt_cache_key: 'k' })).asked)).to.equal(0)
    const own = [{ role: 'system', content: [{ type: 'text', text: long, ...mark }] }, ...messages.slice(1)]
    expect(marks((await ask(gateway, { messages: own, tools, prompt_cache_key: 'k' })).asked)).to.equal(1)
  })

  it('marks every long prompt, or none, where that is set, and never one of the protocol itself', async () => {
    const always = await gatewayWith({ prompt_caching: 'auto' })
    expect(marks((await ask(always, { messages, tools })).asked)).to.equal(3)
    const native = { max_tokens: 9, system: long, messages: [{ role: 'user', content: 'Hi' }] }
    expect(marks((await ask(always, native, '/v1/messages')).asked)).to.equal(0)
    const never = await gatewayWith({ prompt_caching: 'off' })
    const { asked, losses } = await ask(never, { messages, tools, prompt_cache_key: 'k' })
    expect(marks(asked)).to.equal(0)
    expect(losses).to.contain('prompt_cache_key')
  })
})
