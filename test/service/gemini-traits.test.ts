import { expect } from 'chai'
import type { JsonObject } from '../../engine/index.ts'
import { startGateway } from '../support/gateway.ts'
import type { RunningGateway } from '../support/gateway.ts'
import { scriptedUpstream } from '../support/upstream.ts'
import type { ScriptedUpstream } from '../support/upstream.ts'

const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
const placeholder = 'skip_thought_signature_validator'
const inlineData = { mimeType: 'image/png', data: png }

/** Settings of traits, by the name of the model that has them. */
const traits: Readonly<Record<string, object>> = {
  usual: {},
  budget: { thinking: 'budget' },
  level: { thinking: 'level' },
  still: { thinking: false },
  poor: { call_ids: false, file_urls: false, placeholder_signatures: false, web_search: false },
  rich: { result_media: true, search_with_functions: true },
}

describe('traits of a gemini upstream', () => {
  let upstream: ScriptedUpstream
  let files: ScriptedUpstream
  let gateway: RunningGateway
  before(async () => {
    upstream = await scriptedUpstream()
    files = await scriptedUpstream()
    const google = { type: 'gemini', base_url: upstream.url, api_key: 'k' }
    gateway = await startGateway({
      server_config: { security: { file_urls: { allow_private: true } } },
      providers: Object.entries(traits).map(([name, own]) => ({ ...google, name, traits: own })),
      models: [
        ...Object.keys(traits).map((name) => ({
          name,
          provider: name,
          upstream_model: 'gemini-3-pro',
          supports_images: true,
        })),
        { name: 'older', provider: 'usual', upstream_model: 'gemini-2.5-flash' },
        { name: 'older-level', provider: 'level', upstream_model: 'gemini-2.5-flash' },
      ],
    })
    upstream.answer({
      body: { candidates: [{ content: { role: 'model', parts: [{ text: 'Hi' }] }, finishReason: 'STOP' }] },
    })
    files.answer({ body: Buffer.from(png, 'base64'), headers: { 'content-type': 'image/png' } })
  })
  after(async () => {
    await gateway.close()
    await upstream.close()
    await files.close()
  })

  /** What the upstream was asked, and what it was not told. */
  const asked = async (path: string, body: JsonObject) => {
    const answer = await gateway.post(path, body)
    expect(answer.status, await answer.text()).to.equal(200)
    const sent = JSON.parse(String(upstream.requests.at(-1)?.body)) as JsonObject & { contents: JsonObject[] }
    return { sent, lost: answer.headers.get('x-gateway-losses') }
  }

  const thinking = async (model: string, reasoning_effort: string) => {
    const { sent, lost } = await asked('/v1/chat/completions', {
      model,
      messages: [{ role: 'user', content: 'Hi' }],
      reasoning_effort,
    })
    const config = (sent['generationConfig'] ?? {}) as JsonObject
    return [config['thinkingConfig'], lost]
  }

  it('thinking: an effort is a level, a budget to models of the second generation, or nothing', async () => {
    expect(await thinking('usual', 'low')).to.deep.equal([{ includeThoughts: true, thinkingLevel: 'LOW' }, null])
    expect(await thinking('usual', 'xhigh')).to.deep.equal([
      { includeThoughts: true, thinkingLevel: 'HIGH' },
      'reasoning.effort',
    ])
    expect(await thinking('usual', 'none')).to.deep.equal([{ thinkingLevel: 'MINIMAL' }, 'reasoning.effort'])
    expect(await thinking('older', 'low')).to.deep.equal([{ includeThoughts: true, thinkingBudget: 1024 }, null])
    expect(await thinking('older', 'none')).to.deep.equal([{ thinkingBudget: 0 }, null])
    expect(await thinking('older-level', 'high')).to.deep.equal([
      { includeThoughts: true, thinkingLevel: 'HIGH' },
      null,
    ])
    expect(await thinking('budget', 'high')).to.deep.equal([{ includeThoughts: true, thinkingBudget: 24_576 }, null])
    expect(await thinking('still', 'high')).to.deep.equal([undefined, 'reasoning'])
    expect(await thinking('still', 'none')).to.deep.equal([undefined, null])
  })

  it('thinking: the budget of a messages client stays one for every model that thinks', async () => {
    const messages = [{ role: 'user', content: 'Hi' }]
    const body = { max_tokens: 4000, messages, thinking: { type: 'enabled', budget_tokens: 2000 } }
    for (const model of ['usual', 'older', 'level']) {
      // oxlint-disable-next-line no-await-in-loop
      const { sent } = await asked('/v1/messages', { model, ...body })
      expect(sent).to.have.nested.property('generationConfig.thinkingConfig.thinkingBudget', 2000)
    }
  })

  const looked: JsonObject = {
    max_tokens: 100,
    tools: [{ name: 'look', input_schema: { type: 'object' } }],
    messages: [
      { role: 'user', content: 'Look' },
      { role: 'assistant', content: [{ type: 'tool_use', id: 'toolu_1', name: 'look', input: { at: 'it' } }] },
      {
        role: 'user',
        content: [
          {
            type: 'tool_result',
            tool_use_id: 'toolu_1',
            content: [
              { type: 'text', text: 'seen' },
              { type: 'image', source: { type: 'base64', media_type: 'image/png', data: png } },
            ],
          },
        ],
      },
    ],
  }
  const call = { functionCall: { id: 'toolu_1', name: 'look', args: { at: 'it' } }, thoughtSignature: placeholder }

  it('result_media: media stand in the result, or follow it', async () => {
    const usual = await asked('/v1/messages', { model: 'usual', ...looked })
    const result = { id: 'toolu_1', name: 'look', response: { result: 'seen' } }
    expect(usual.sent.contents.slice(1)).to.deep.equal([
      { role: 'model', parts: [call] },
      { role: 'user', parts: [{ functionResponse: result }, { inlineData }] },
    ])
    const rich = await asked('/v1/messages', { model: 'rich', ...looked })
    expect(rich.sent.contents.at(-1)).to.deep.equal({
      role: 'user',
      parts: [{ functionResponse: { ...result, parts: [{ inlineData }] } }],
    })
  })

  it('call_ids and placeholder_signatures: neither is sent to an upstream that does not take it', async () => {
    const { sent } = await asked('/v1/messages', { model: 'poor', ...looked })
    expect(sent.contents.slice(1)).to.deep.equal([
      { role: 'model', parts: [{ functionCall: { name: 'look', args: { at: 'it' } } }] },
      {
        role: 'user',
        parts: [{ functionResponse: { name: 'look', response: { result: 'seen' } } }, { inlineData }],
      },
    ])
  })

  it('file_urls: the upstream reads an address itself, or gets the bytes', async () => {
    const url = `${files.url}/cat.png`
    const picture = (model: string) => ({
      model,
      messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url } }] }],
    })
    const usual = await asked('/v1/chat/completions', picture('usual'))
    expect(usual.sent.contents).to.have.nested.property('[0].parts[0].fileData.fileUri', url)
    expect(files.requests).to.have.length(0)
    const poor = await asked('/v1/chat/completions', picture('poor'))
    expect(poor.sent.contents).to.deep.equal([{ role: 'user', parts: [{ inlineData }] }])
    expect(files.requests).to.have.length(1)
  })

  it('web_search and search_with_functions: the search is there alone, beside functions, or not at all', async () => {
    const search = { type: 'web_search_20250305', name: 'web_search' }
    const look = { name: 'look', input_schema: { type: 'object' } }
    const tools = async (model: string, list: JsonObject[]) => {
      const messages = [{ role: 'user', content: 'Hi' }]
      const { sent, lost } = await asked('/v1/messages', { model, max_tokens: 10, messages, tools: list })
      return [((sent['tools'] ?? []) as JsonObject[]).flatMap((tool) => Object.keys(tool)), lost]
    }
    expect(await tools('usual', [search])).to.deep.equal([['googleSearch'], null])
    expect(await tools('usual', [look, search])).to.deep.equal([['functionDeclarations'], 'tools[].web_search'])
    expect(await tools('rich', [look, search])).to.deep.equal([['functionDeclarations', 'googleSearch'], null])
    expect(await tools('poor', [search])).to.deep.equal([[], 'tools[].web_search'])
  })
})
