import { expect } from 'chai'
import { makeParseableTextFormat } from 'openai/lib/parser'
import type { ResponseCreateParamsNonStreaming, ResponseInputItem } from 'openai/resources/responses/responses'
import type { JsonObject } from '../../engine/index.ts'
import { conforms, streamConforms } from '../conformance/responses/check.ts'
import { Rig, kinds, routes } from './responses-rig.ts'
import type { Kind } from './responses-rig.ts'

const weather = {
  type: 'function' as const,
  name: 'weather',
  description: 'Tells the weather.',
  parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  strict: false,
}
const time = { ...weather, name: 'time', parameters: { type: 'object', properties: {} } }
const patch = { type: 'custom' as const, name: 'patch', description: 'Changes the file.' }
const image = 'data:image/png;base64,iVBORw0KGgo='
const pdf = 'data:application/pdf;base64,JVBERi0xLjc='

type Given = Omit<ResponseCreateParamsNonStreaming, 'model' | 'stream'>

/** What an upstream of each kind must be sent for a request, beside its model. */
type Expected = Readonly<Record<Exclude<Kind, 'native'>, JsonObject>>

/** What an item says, without what differs from answer to answer. */
function told(item: object): unknown[] {
  const { type, status, call_id: callId, name, arguments: given, input, summary } = item as JsonObject
  return [type, status, callId, name, given, input, summary]
}

describe('the openai client on responses', () => {
  const rig = new Rig()

  /** Asks whole and streamed, and checks both answers, and that the upstream was sent exactly what it must be. */
  async function ask(model: Kind, name: string, given: Given, expected?: Expected) {
    rig.answer(model, name)
    const whole = await rig.client.responses.create({ model, ...given })
    const include = given['store'] === false ? {} : { include: ['reasoning.encrypted_content'] }
    const sent = model === 'native' ? { ...(given as unknown as JsonObject), ...include } : expected?.[model]
    if (sent) expect(rig.asked()).to.deep.equal({ model: 'upstream-1', ...sent })
    expect(rig.upstream.requests.at(-1)?.path).to.equal(routes[model])
    const accumulated = await rig.client.responses.stream({ model, ...given }).finalResponse()
    if (sent) {
      const options = model === 'compatible' ? { stream_options: { include_usage: true } } : {}
      expect(rig.asked()).to.deep.equal({ model: 'upstream-1', ...sent, stream: true, ...options })
    }
    if (model !== 'native') {
      const { output_text: _, ...printed } = whole
      conforms(printed as unknown as JsonObject)
      streamConforms(await rig.streamed(model, given))
    }
    expect(accumulated.output.map(told)).to.deep.equal(whole.output.map(told))
    expect(accumulated.output_text).to.equal(whole.output_text)
    expect(accumulated.usage).to.deep.equal(whole.usage)
    return whole
  }

  for (const kind of kinds) describe(`before a ${kind} upstream`, () => conversation(kind))

  function conversation(kind: Kind): void {
    it('gets a text', async () => {
      const response = await ask(
        kind,
        'length',
        { instructions: 'Be brief.', input: 'Count to ten.', max_output_tokens: 30, temperature: 0.5, user: 'ann' },
        {
          compatible: {
            messages: [
              { role: 'system', content: 'Be brief.' },
              { role: 'user', content: 'Count to ten.' },
            ],
            max_tokens: 30,
            temperature: 0.5,
            user: 'ann',
          },
          messages: {
            max_tokens: 30,
            system: 'Be brief.',
            messages: [{ role: 'user', content: [{ type: 'text', text: 'Count to ten.' }] }],
            temperature: 0.5,
            metadata: { user_id: 'ann' },
          },
        },
      )
      expect(response.output_text).to.equal('One, two')
      expect(response).to.deep.include({ status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } })
      expect(response.model).to.equal('upstream-1-2026')
      if (kind !== 'native') expect(response).to.include({ instructions: 'Be brief.', user: 'ann' })
    })

    it('iterates over events as they come', async () => {
      rig.answer(kind, 'refusal')
      const stream = await rig.client.responses.create({ model: kind, input: 'Do harm.', stream: true })
      const types = (await Array.fromAsync(stream)).map(({ type }) => type)
      expect(types.slice(0, 3)).to.deep.equal([
        'response.created',
        'response.in_progress',
        'response.output_item.added',
      ])
      expect(types.at(-1)).to.equal(kind === 'messages' ? 'response.incomplete' : 'response.completed')
    })

    it('runs two tools at once and hands their results back, with an image', async () => {
      const tools = [weather, time]
      const input: ResponseInputItem[] = [{ role: 'user', content: 'Weather and time in Zürich?' }]
      const response = await ask(kind, 'tools', { input, tools, store: false, parallel_tool_calls: true })
      const calls = response.output.filter((item) => item.type === 'function_call')
      expect(calls.map(({ call_id: id, name, arguments: given }) => [id, name, JSON.parse(given)])).to.deep.equal([
        ['call_a', 'weather', { city: 'Zürich' }],
        ['call_b', 'time', {}],
      ])
      const results: ResponseInputItem[] = [
        { type: 'function_call_output', call_id: 'call_b', output: '12:00' },
        {
          type: 'function_call_output',
          call_id: 'call_a',
          output: [
            { type: 'input_text', text: '9 °C' },
            { type: 'input_image', image_url: image, detail: 'auto' },
          ],
        },
      ]
      rig.answer(kind, 'length')
      await rig.client.responses.create({
        model: kind,
        tools,
        store: false,
        input: [...input, ...(response.output as ResponseInputItem[]), ...results],
      })
      const sent = rig.asked()
      if (kind === 'compatible')
        expect((sent['messages'] as JsonObject[]).slice(1)).to.deep.equal([
          {
            role: 'assistant',
            content: 'Let me look.',
            tool_calls: calls.map(({ call_id: id, name, arguments: given }) => ({
              id,
              type: 'function',
              function: { name, arguments: given },
            })),
          },
          { role: 'tool', tool_call_id: 'call_a', content: '9 °C' },
          { role: 'tool', tool_call_id: 'call_b', content: '12:00' },
          { role: 'user', content: [{ type: 'image_url', image_url: { url: image, detail: 'auto' } }] },
        ])
      if (kind === 'messages')
        expect((sent['messages'] as JsonObject[]).at(-1)).to.deep.equal({
          role: 'user',
          content: [
            { type: 'tool_result', tool_use_id: 'call_b', content: '12:00' },
            {
              type: 'tool_result',
              tool_use_id: 'call_a',
              content: [
                { type: 'text', text: '9 °C' },
                { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo=' } },
              ],
            },
          ],
        })
      if (kind === 'native') expect((sent['input'] as JsonObject[]).slice(-2)).to.deep.equal(results)
    })

    it('calls a custom tool with free text', async () => {
      const response = await ask(kind, 'custom', { input: 'Say hello.', tools: [patch] })
      const [call] = response.output
      expect(call).to.deep.include({
        type: 'custom_tool_call',
        call_id: 'call_p2',
        name: 'patch',
        input: '+ "Grüß Gott 😀"\n',
      })
      if (kind === 'native' || call?.type !== 'custom_tool_call') return
      const before: ResponseInputItem[] = [{ role: 'user', content: 'Say hello.' }, call]
      const result = { type: 'custom_tool_call_output', call_id: 'call_p2', output: 'done' } as const
      rig.answer(kind, 'length')
      await rig.client.responses.create({ model: kind, tools: [patch], input: [...before, result] })
      const sent = JSON.stringify(rig.asked())
      expect(sent).to.contain(
        kind === 'messages'
          ? '"name":"patch","input":{"input":"+ \\"Grüß Gott 😀\\"\\n"}'
          : `"arguments":${JSON.stringify(JSON.stringify({ input: '+ "Grüß Gott 😀"\n' }))}`,
      )
    })

    it('hands reasoning back to where it came from', async () => {
      const input: ResponseInputItem[] = [{ role: 'user', content: 'Is Rome warmer than Oslo?' }]
      const given: Given = { input, tools: [weather], store: false, include: ['reasoning.encrypted_content'] }
      const response = await ask(kind, 'reasoning', { ...given, reasoning: { effort: 'medium' } })
      const thoughts = response.output.filter((item) => item.type === 'reasoning')
      expect(thoughts.length).to.be.greaterThan(1)
      expect(thoughts.every((item) => (item.encrypted_content ?? '') !== '')).to.equal(true)
      rig.answer(kind, 'length')
      const results = ['call_a', 'call_b'].map(
        (id) => ({ type: 'function_call_output', call_id: id, output: '9' }) satisfies ResponseInputItem,
      )
      await rig.client.responses.create({
        model: kind,
        ...given,
        input: [...input, ...(response.output as ResponseInputItem[]), ...results],
      })
      const sent = JSON.stringify(rig.asked())
      const seals = { native: 'gAAAA+up/1==', compatible: 'sig+up/1==', messages: 'sig+up/1==' }
      expect(sent).to.contain(seals[kind]).and.not.contain('gw1.')
    })

    it('reads an answer of a given form', async () => {
      const format = makeParseableTextFormat(
        {
          type: 'json_schema',
          name: 'sight',
          strict: true,
          schema: {
            type: 'object',
            properties: { animal: { type: 'string' } },
            required: ['animal'],
            additionalProperties: false,
          },
        },
        (content) => JSON.parse(content) as { animal: string },
      )
      rig.answer(kind, 'full')
      const response = await rig.client.responses.parse({ model: kind, input: 'Describe it.', text: { format } })
      expect(response.output_parsed).to.deep.equal({ animal: 'cat ☃😀' })
      const schema = { type: 'object', properties: { animal: { type: 'string' } } }
      const sent = rig.asked()
      const printed = {
        native: () => (sent['text'] as { format: JsonObject }).format['schema'],
        compatible: () => (sent['response_format'] as { json_schema: JsonObject }).json_schema['schema'],
        messages: () => (sent['output_config'] as { format: JsonObject }).format['schema'],
      }[kind]()
      expect(printed).to.deep.include(schema)
      const streamed = await rig.client.responses
        .stream({ model: kind, input: 'Describe it.', text: { format } })
        .finalResponse()
      expect(streamed.output_parsed).to.deep.equal({ animal: 'cat ☃😀' })
    })

    it('shows images and files', async () => {
      const content = [
        { type: 'input_text' as const, text: 'What is this?' },
        { type: 'input_image' as const, image_url: image, detail: 'low' as const },
        { type: 'input_file' as const, filename: 'a.pdf', file_data: pdf },
      ]
      await ask(
        kind,
        'length',
        { input: [{ role: 'user', content }] },
        {
          compatible: {
            messages: [
              {
                role: 'user',
                content: [
                  { type: 'text', text: 'What is this?' },
                  { type: 'image_url', image_url: { url: image, detail: 'low' } },
                  { type: 'text', text: '[file omitted]' },
                ],
              },
            ],
          },
          messages: {
            max_tokens: 32_000,
            messages: [
              {
                role: 'user',
                content: [
                  { type: 'text', text: 'What is this?' },
                  { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo=' } },
                  {
                    type: 'document',
                    source: { type: 'base64', media_type: 'application/pdf', data: 'JVBERi0xLjc=' },
                    title: 'a.pdf',
                  },
                ],
              },
            ],
          },
        },
      )
    })

    it('hears a refusal', async () => {
      const response = await ask(kind, 'refusal', { input: 'Do harm.' })
      const [message] = response.output
      const [part] = message?.type === 'message' ? message.content : []
      if (kind === 'messages') {
        expect(response).to.deep.include({
          status: 'incomplete',
          incomplete_details: { reason: 'content_filter' },
          output_text: 'I cannot help with that.',
        })
      } else {
        expect(response.status).to.equal('completed')
        expect(part).to.deep.include({ type: 'refusal', refusal: 'I cannot help with that.' })
      }
    })

    it('is told why a request was refused', async () => {
      const error = { message: 'Too long for me.', type: 'invalid_request_error', param: null, code: null }
      rig.upstream.answer({ status: 400, body: kind === 'messages' ? { type: 'error', error } : { error } })
      for (const stream of [false, true] as const) {
        const refused = await rig.client.responses
          .create({ model: kind, input: 'hello', stream })
          .then(undefined, (reason: unknown) => reason)
        expect(refused).to.include({ status: 400, type: 'invalid_request_error' })
        expect((refused as Error).message).to.contain('Too long for me.')
      }
    })

    it('leaves, and the upstream is left', async () => {
      rig.upstream.answer({ silent: true })
      const abort = new AbortController()
      const asking = rig.client.responses
        .create({ model: kind, input: 'hello', stream: true }, { signal: abort.signal })
        .then(undefined, (reason: unknown) => reason)
      const before = rig.upstream.requests.length
      await rig.upstream.when(() => rig.upstream.requests.length > before)
      abort.abort()
      await asking
      await rig.upstream.closed()
    })
  }

  describe('with the model echo', () => {
    it('gets conforming answers, whole and streamed', async () => {
      const body = { model: 'echo', input: 'Good morning to you', metadata: { a: 'b' } }
      const whole = (await (await rig.gateway.post('/v1/responses', body)).json()) as JsonObject
      conforms(whole)
      expect(whole).to.deep.include({ model: 'echo', metadata: { a: 'b' }, status: 'completed' })
      const events = streamConforms(await rig.streamed('echo', body))
      const said = events.filter(({ type }) => type === 'response.output_text.delta').map(({ delta }) => delta)
      expect(said).to.deep.equal(['Good ', 'morning ', 'to ', 'you'])
    })

    it('gets an empty message for an empty answer', async () => {
      const response = await rig.client.responses.create({ model: 'echo', input: [] })
      expect(response.output).to.have.length(1)
      expect(response.output[0]).to.deep.include({
        type: 'message',
        status: 'completed',
        content: [{ type: 'output_text', text: '', annotations: [], logprobs: [] }],
      })
      streamConforms(await rig.streamed('echo', { input: [] }))
    })

    for (const path of ['/responses', '/v1/v1/responses', '/v1/responses/', '/responses/'])
      it(`is served at ${path}`, async () => {
        const response = await rig.gateway.post(path, { model: 'echo', input: 'hello' })
        expect(response.status).to.equal(200)
        conforms((await response.json()) as JsonObject)
      })
  })
})
