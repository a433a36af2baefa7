import { expect } from 'chai'
import { parsedObject } from '../../engine/kit.ts'
import type { JsonObject } from '../../engine/index.ts'
import { wholeOf } from '../golden/session.ts'
import type { Spoken } from '../golden/pairs.ts'
import { startGateway } from '../support/gateway.ts'
import type { RunningGateway } from '../support/gateway.ts'
import { scriptedUpstream } from '../support/upstream.ts'
import type { ScriptedUpstream } from '../support/upstream.ts'

const data = 'JVBERi0xLjc='
const pdf = `data:application/pdf;base64,${data}`
const png = 'iVBORw0KGgo='

interface Asked {
  readonly path: string
  readonly body: JsonObject
  /** Where the medium stands. */
  readonly param: string
}

const hello = { type: 'text', text: 'Read this.' }
const chatFile = { type: 'file', file: { filename: 'a.pdf', file_data: pdf } }
const document = { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data } }
const inputFile = { type: 'input_file', filename: 'a.pdf', file_data: pdf }
const inlineData = { inlineData: { mimeType: 'application/pdf', data } }

/** A PDF in the last turn of a client of each protocol, after an answer. */
const turns: Readonly<Record<string, (model: string) => Asked>> = {
  chat: (model) => ({
    path: '/v1/chat/completions',
    body: {
      model,
      messages: [
        { role: 'user', content: 'Hi' },
        { role: 'assistant', content: 'Hello' },
        { role: 'user', content: [hello, chatFile] },
      ],
    },
    param: 'messages[2].content[1].file.file_data',
  }),
  messages: (model) => ({
    path: '/v1/messages',
    body: { model, max_tokens: 50, messages: [{ role: 'user', content: [hello, document] }] },
    param: 'messages[0].content[1].source.data',
  }),
  responses: (model) => ({
    path: '/v1/responses',
    body: { model, input: [{ role: 'user', content: [{ type: 'input_text', text: 'Read.' }, inputFile] }] },
    param: 'input[0].content[1].file_data',
  }),
  gemini: (model) => ({
    path: `/v1beta/models/${model}:generateContent`,
    body: { contents: [{ role: 'user', parts: [{ text: 'Read.' }, inlineData] }] },
    param: 'contents[0].parts[1].inlineData.data',
  }),
}

describe('an image or file that a provider cannot be given', () => {
  let upstream: ScriptedUpstream
  const gateways: RunningGateway[] = []
  let gateway: RunningGateway
  before(async () => {
    upstream = await scriptedUpstream()
    gateway = await opened({})
  })
  after(async () => {
    for (const one of gateways) await one.close()
    await upstream.close()
  })

  async function opened(request_policy: object): Promise<RunningGateway> {
    const at = { base_url: upstream.url, api_key: 'k' }
    const one = await startGateway({
      server_config: { request_policy },
      providers: [
        { name: 'family', type: 'compatible', ...at },
        { name: 'blind', type: 'compatible', ...at, traits: { images: false } },
        { name: 'azure', type: 'azure', ...at, api_version: '2024-10-21' },
        { name: 'aws', type: 'bedrock', ...at },
        { name: 'vendor', type: 'messages', ...at },
      ],
      models: [
        { name: 'compatible', provider: 'family' },
        { name: 'azure', provider: 'azure' },
        { name: 'blind', provider: 'blind' },
        { name: 'bedrock', provider: 'aws', upstream_model: 'anthropic.claude-x' },
        { name: 'claude', provider: 'vendor' },
        { name: 'falls', provider: 'family', fallbacks: ['claude'] },
      ],
    })
    gateways.push(one)
    return one
  }

  async function ask(protocol: Spoken, { path, body }: Pick<Asked, 'path' | 'body'>, through = gateway) {
    upstream.answer(wholeOf(protocol, 'length'))
    const before = upstream.requests.length
    const answer = await through.post(path, body)
    const said = parsedObject(await answer.text()) ?? {}
    const sent = upstream.requests.slice(before).map((request) => String(request.body))
    return {
      status: answer.status,
      error: said['error'] as JsonObject | undefined,
      sent,
      losses: answer.headers.get('x-gateway-losses'),
    }
  }

  for (const model of ['compatible', 'azure'])
    for (const [client, turn] of Object.entries(turns)) {
      if (client === 'chat') continue
      it(`is refused in the last turn, before anybody is asked: ${client} to ${model}`, async () => {
        const { param, ...asked } = turn(model)
        const { status, error, sent } = await ask('chat', asked)
        expect(status).to.equal(400)
        expect(error?.['message']).to.contain(param)
        if (client === 'responses') expect(error).to.include({ param, code: 'invalid_value' })
        expect(sent).to.deep.equal([])
      })
    }

  it('is refused, whatever it is: an image, a format, the id of a file', async () => {
    const chat = (content: object) => ({ role: 'user', content: [hello, content] }) as unknown as JsonObject
    const cases: readonly (readonly [model: string, part: JsonObject, param: string])[] = [
      ['blind', { type: 'input_image', image_url: `data:image/png;base64,${png}` }, 'image_url'],
      ['blind', { type: 'input_image', image_url: 'https://example.com/a.png' }, 'image_url'],
      [
        'bedrock',
        { type: 'input_file', filename: 'a.zip', file_data: `data:application/zip;base64,${data}` },
        'file_data',
      ],
      ['claude', { type: 'input_file', file_id: 'file-1' }, 'file_id'],
    ]
    for (const [model, part, field] of cases) {
      const { type: _, ...input } = chat(part)
      const { status, error } = await ask('chat', {
        path: '/v1/responses',
        body: { model, input: [{ ...input, content: [part] }] },
      })
      expect(status, JSON.stringify(part)).to.equal(400)
      expect(error?.['param']).to.equal(`input[0].content[0].${field}`)
    }
  })

  it('goes to a fallback that takes it', async () => {
    const { status, sent } = await ask('messages', turns['responses']?.('falls') as Asked)
    expect(status).to.equal(200)
    expect(sent).to.have.length(1)
    expect(sent[0]).to.contain(data)
  })

  it('is described in an earlier turn, and in the result of a tool', async () => {
    const file = { role: 'user', content: [document] }
    const call = { type: 'tool_use', id: 't', name: 'f', input: {} }
    const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: png } }
    for (const messages of [
      [file, { role: 'assistant', content: 'Read.' }, { role: 'user', content: 'And?' }],
      [
        { role: 'user', content: 'Look.' },
        { role: 'assistant', content: [call] },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't', content: [image] }] },
      ],
    ]) {
      const { status, sent, losses } = await ask('chat', {
        path: '/v1/messages',
        body: { model: 'blind', max_tokens: 9, messages },
      })
      expect(status).to.equal(200)
      expect(sent[0]).to.match(/\[(file|image) omitted\]/)
      expect(losses).to.match(/file|image/)
    }
  })

  it('is described where it is given by an address that the provider cannot be given', async () => {
    const content = [{ type: 'input_file', file_url: 'https://example.com/a.pdf' }]
    const { status, sent } = await ask('chat', {
      path: '/v1/responses',
      body: { model: 'compatible', input: [{ role: 'user', content }] },
    })
    expect(status).to.equal(200)
    expect(sent[0]).to.contain('[file: https://example.com/a.pdf]')
  })

  it('puts a text in its place, where that is set', async () => {
    const describing = await opened({ lost_content: 'describe' })
    const { status, sent, losses } = await ask('chat', turns['responses']?.('compatible') as Asked, describing)
    expect(status).to.equal(200)
    expect(sent[0]).to.contain('[file omitted]')
    expect(losses).to.contain('file')
  })

  it('is left to a provider that speaks the protocol of the client', async () => {
    const { status, sent } = await ask('chat', turns['chat']?.('compatible') as Asked)
    expect(status).to.equal(200)
    expect(sent[0]).to.contain(data)
  })
})
