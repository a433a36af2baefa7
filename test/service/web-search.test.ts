import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type Anthropic from '@anthropic-ai/sdk'
import { expect } from 'chai'
import type { JsonObject } from '../../engine/index.ts'
import { anthropic, openai } from '../support/clients.ts'
import { startGateway } from '../support/gateway.ts'
import type { RunningGateway } from '../support/gateway.ts'
import { scriptedUpstream } from '../support/upstream.ts'
import type { ScriptedUpstream } from '../support/upstream.ts'

const question = 'What is the weather in Oslo?'
const page = 'https://weather.example/oslo'
/** The tool of each client. */
const tools = {
  messages: { type: 'web_search_20250305', name: 'web_search' } as const,
  responses: { type: 'web_search' } as const,
}
const post = {
  chat: {
    path: '/v1/chat/completions',
    body: { messages: [{ role: 'user', content: question }], web_search_options: {} },
  },
  messages: {
    path: '/v1/messages',
    body: { max_tokens: 99, messages: [{ role: 'user', content: question }], tools: [tools.messages] },
  },
  responses: { path: '/v1/responses', body: { input: question, store: false, tools: [tools.responses] } },
}
type Client = keyof typeof post
const clients = Object.keys(post) as readonly Client[]

describe('a search of the web', () => {
  let upstream: ScriptedUpstream
  const gateways: RunningGateway[] = []
  before(async () => {
    upstream = await scriptedUpstream()
  })
  after(async () => {
    for (const gateway of gateways) await gateway.close()
    await upstream.close()
  })

  /** A gateway with a model for each protocol of an upstream, named after it; `plain` cannot search. */
  async function gatewayWith(web_search: object = {}): Promise<RunningGateway> {
    const base_url = upstream.url
    const gateway = await startGateway({
      providers: [
        { name: 'searching', type: 'compatible', base_url, api_key: 'key', traits: { web_search: true } },
        { name: 'plain', type: 'compatible', base_url, api_key: 'key' },
        { name: 'native', type: 'native', base_url, api_key: 'key' },
        { name: 'vendor', type: 'messages', base_url, api_key: 'key' },
      ],
      models: [
        { name: 'chat', provider: 'searching' },
        { name: 'plain', provider: 'plain' },
        { name: 'responses', provider: 'native', protocols: ['responses'] },
        { name: 'messages', provider: 'vendor' },
      ],
      server_config: { web_search },
    })
    gateways.push(gateway)
    return gateway
  }

  function answers(protocol: Client, stream = false): void {
    const file = join(
      import.meta.dirname,
      '..',
      'golden',
      'answers',
      `search.${protocol}.${stream ? 'frames.txt' : 'json'}`,
    )
    const type = stream ? 'text/event-stream' : 'application/json'
    upstream.answer({ headers: { 'content-type': type }, chunks: [readFileSync(file)] })
  }

  const asked = () => JSON.parse(upstream.requests.at(-1)?.body.toString() ?? '') as JsonObject

  async function losses(
    gateway: RunningGateway,
    client: Client,
    model: Client | 'plain',
    more: object = {},
  ): Promise<string> {
    answers(model === 'plain' ? 'chat' : model)
    const response = await gateway.post(post[client].path, { ...post[client].body, ...more, model })
    expect(response.status, await response.text()).to.equal(200)
    return response.headers.get('x-gateway-losses') ?? ''
  }

  describe('as it is asked for', () => {
    let gateway: RunningGateway
    before(async () => {
      gateway = await gatewayWith()
    })

    for (const streamed of [false, true]) {
      const form = streamed ? 'streamed' : 'whole'

      it(`reads in the anthropic client like one of its own vendor, and is handed back, ${form}`, async () => {
        answers('responses', streamed)
        const ask: Anthropic.MessageParam = { role: 'user', content: question }
        const request = { model: 'responses', max_tokens: 99, messages: [ask], tools: [tools.messages] }
        const client = anthropic(gateway)
        const message = streamed
          ? await client.messages.stream(request).finalMessage()
          : await client.messages.create(request)
        const [call, result, text] = message.content
        expect(call)
          .to.include({ type: 'server_tool_use', name: 'web_search' })
          .and.deep.include({ input: { query: 'weather Oslo' } })
        expect(result).to.include({ type: 'web_search_tool_result' })
        expect(result).to.have.nested.property('content[0].url', page)
        expect(text).to.have.property('text', 'It is sunny in Oslo.')
        expect(text).to.have.nested.property('citations[0].url', page)
        expect(message.usage.server_tool_use).to.deep.equal({ web_search_requests: 1, web_fetch_requests: 0 })

        const then: Anthropic.MessageParam = { role: 'user', content: 'And tomorrow?' }
        const messages = [ask, { role: 'assistant', content: message.content }, then] as Anthropic.MessageParam[]
        answers('messages')
        // The vendor would refuse what it did not make: its model is told in words.
        await client.messages.create({ ...request, model: 'messages', messages })
        expect(JSON.stringify(asked())).to.contain('I searched the web for: weather Oslo').and.not.contain('gw1.')
        expect(JSON.stringify(asked())).to.not.contain('server_tool_use')
        answers('responses')
        await client.messages.create({ ...request, messages })
        expect(asked()).to.have.nested.property('input[1].type', 'web_search_call')
      })

      it(`reads in the openai client as an item of the response, ${form}`, async () => {
        answers('messages', streamed)
        const request = { model: 'messages', input: question, tools: [tools.responses] }
        const { responses } = openai(gateway)
        const response = streamed ? await responses.stream(request).finalResponse() : await responses.create(request)
        const search = response.output.find(({ type }) => type === 'web_search_call')
        expect(search).to.deep.include({ status: 'completed', action: { type: 'search', query: 'weather Oslo' } })
        expect(response.output_text).to.equal('Let me look.It is sunny in Oslo.')
        expect(JSON.stringify(response.output)).to.contain('"url_citation"').and.contain(page)
      })

      it(`reads in the openai client as citations of a chat message, ${form}`, async () => {
        answers('messages', streamed)
        const request = {
          model: 'messages',
          messages: [{ role: 'user' as const, content: question }],
          web_search_options: {},
        }
        const { completions } = openai(gateway).chat
        const completion = streamed
          ? await completions.stream(request).finalChatCompletion()
          : await completions.create(request)
        const message = completion.choices[0]?.message
        const { start_index: start, end_index: end, url } = message?.annotations?.[0]?.url_citation ?? {}
        expect(url).to.equal(page)
        expect(message?.content?.slice(start, end)).to.equal('sunny in Oslo')
        expect(asked()).to.have.nested.property('tools[0].type', 'web_search_20250305')
      })
    }

    it('is a loss by its name where the provider cannot search', async () => {
      expect(await losses(gateway, 'messages', 'plain')).to.equal('tools[].web_search')
      expect(asked()).to.not.have.any.keys('tools', 'web_search_options')
      expect(await losses(gateway, 'responses', 'plain')).to.contain('tools[].web_search')
    })

    it('is forced in the words of the provider', async () => {
      await losses(gateway, 'messages', 'responses', { tool_choice: { type: 'tool', name: 'web_search' } })
      expect(asked()).to.deep.include({ tool_choice: { type: 'web_search' } })
      await losses(gateway, 'responses', 'messages', { tool_choice: { type: 'web_search' } })
      expect(asked()).to.deep.include({ tool_choice: { type: 'tool', name: 'web_search' } })
      expect(await losses(gateway, 'responses', 'chat', { tool_choice: { type: 'web_search' } })).to.contain(
        'tool_choice',
      )
    })

    it('is not sent where it could not be held to the domains that were asked for', async () => {
      const filtered = { tools: [{ ...tools.messages, allowed_domains: ['a.example'] }] }
      expect(await losses(gateway, 'messages', 'chat', filtered)).to.equal('tools[].web_search')
      expect(asked()).to.not.have.property('web_search_options')
      await losses(gateway, 'messages', 'responses', filtered)
      expect(asked()).to.have.deep.nested.property('tools[0].filters', { allowed_domains: ['a.example'] })
    })
  })

  it('leaves the bytes of equal protocols alone as long as nothing is set', async () => {
    const gateway = await gatewayWith({})
    for (const client of clients) {
      answers(client)
      const body = `{ "model": "${client}",  ${JSON.stringify(post[client].body).slice(1)}`
      const headers = { 'content-type': 'application/json', authorization: `Bearer ${gateway.key}` }
      await fetch(gateway.url + post[client].path, { method: 'POST', headers, body })
      expect(upstream.requests.at(-1)?.body.toString()).to.equal(body)
    }
  })

  it('is taken out on every way when it is off', async () => {
    const gateway = await gatewayWith({ mode: 'off' })
    for (const client of clients)
      for (const model of clients) {
        const forced = client === 'messages' ? { tool_choice: { type: 'tool', name: 'web_search' } } : {}
        expect(await losses(gateway, client, model, forced), `${client} to ${model}`).to.contain('tools[].web_search')
        expect(JSON.stringify(asked()), `${client} to ${model}`).to.not.contain('web_search')
      }
    // The tools beside it stay, and nothing is forced any more.
    const note = { type: 'function', name: 'note', parameters: { type: 'object' }, strict: false }
    await losses(gateway, 'responses', 'responses', { tools: [tools.responses, note], tool_choice: tools.responses })
    expect(asked()['tools']).to.deep.equal([note])
    expect(asked()).to.not.have.property('tool_choice')
  })

  it('is held to the domains, the size and the number that are set, on every way', async () => {
    const gateway = await gatewayWith({
      allowed_domains: ['example', 'docs.other.org'],
      blocked_domains: ['bad.example'],
      context_size: 'low',
      max_uses: 2,
    })
    const filter = { allowed_domains: ['a.example', 'other.org', 'elsewhere.net', 'very.bad.example'] }
    const within = ['a.example', 'docs.other.org']
    await losses(gateway, 'messages', 'messages', { tools: [{ ...tools.messages, ...filter, max_uses: 9 }] })
    expect(asked()['tools']).to.deep.equal([{ ...tools.messages, allowed_domains: within, max_uses: 2 }])
    await losses(gateway, 'responses', 'responses', { tools: [{ ...tools.responses, filters: filter }] })
    expect(asked()['tools']).to.deep.equal([
      { ...tools.responses, filters: { allowed_domains: within }, search_context_size: 'low' },
    ])
    await losses(gateway, 'responses', 'responses')
    expect(asked()).to.have.deep.nested.property('tools[0].filters', {
      allowed_domains: ['example', 'docs.other.org'],
      blocked_domains: ['bad.example'],
    })
    // Here domains cannot be named, so there is no search that keeps to them.
    expect(await losses(gateway, 'chat', 'chat')).to.contain('tools[].web_search')
    expect(asked()).to.not.have.property('web_search_options')
    // Nothing is left to be searched.
    const nowhere = { tools: [{ ...tools.messages, allowed_domains: ['elsewhere.net'] }] }
    expect(await losses(gateway, 'messages', 'responses', nowhere)).to.contain('tools[].web_search')
    expect(asked()).to.not.have.property('tools')
  })

  it('names no domain as blocked that lies outside of those that are set', async () => {
    // No upstream of the messages protocol takes both lists.
    const gateway = await gatewayWith({ allowed_domains: ['a.example'] })
    const blocked = { blocked_domains: ['elsewhere.net'] }
    await losses(gateway, 'messages', 'messages', { tools: [{ ...tools.messages, ...blocked }] })
    expect(asked()['tools']).to.deep.equal([{ ...tools.messages, allowed_domains: ['a.example'] }])
    await losses(gateway, 'responses', 'responses', { tools: [{ ...tools.responses, filters: blocked }] })
    expect(asked()).to.have.deep.nested.property('tools[0].filters', { allowed_domains: ['a.example'] })
  })

  it('leaves requests without a search as they are, whatever is set', async () => {
    const gateway = await gatewayWith({ mode: 'off' })
    answers('chat')
    const body = `{ "model": "chat", "messages": [{ "role": "user", "content": "web_search" }], "n": 2 }`
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${gateway.key}` }
    await fetch(`${gateway.url}/v1/chat/completions`, { method: 'POST', headers, body })
    expect(upstream.requests.at(-1)?.body.toString()).to.equal(body)
  })
})
