import { expect } from 'chai'
import { packSeal } from '../../engine/kit.ts'
import type { Json, JsonObject } from '../../engine/index.ts'
import { conforms, streamConforms } from '../conformance/responses/check.ts'
import { Rig } from './responses-rig.ts'

const parameters = { type: 'object', properties: {} }
const child = (name: string) => ({ type: 'function', name, parameters, strict: false })
const clock = { type: 'namespace', name: 'clock', description: 'Clocks.', tools: [child('time'), child('weather')] }

/** A whole answer of chat completions that calls these tools. */
function calling(...names: string[]): { body: Json } {
  const calls = names.map((name, index) => ({
    id: `call_${index}`,
    type: 'function',
    function: { name, arguments: '{}' },
  }))
  return {
    body: {
      id: 'chatcmpl-1',
      object: 'chat.completion',
      created: 1,
      model: 'm',
      choices: [
        { index: 0, message: { role: 'assistant', content: null, tool_calls: calls }, finish_reason: 'tool_calls' },
      ],
      usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
    },
  }
}

describe('tools of a responses client', () => {
  const rig = new Rig()

  async function ask(model: string, body: object) {
    const response = await rig.gateway.post('/v1/responses', { model, input: 'hello', ...body })
    const losses = response.headers.get('x-gateway-losses') ?? ''
    return { status: response.status, body: (await response.json()) as JsonObject, losses }
  }

  /** The names of the tools that the chat upstream was sent, and its choice among them. */
  function sent(): { names: unknown; choice: unknown } {
    const { tools, tool_choice: choice } = rig.asked()
    return {
      names: (tools as { function: JsonObject }[] | undefined)?.map((tool) => tool.function['name']),
      choice,
    }
  }

  function calls(body: JsonObject): unknown[] {
    const output = body['output'] as JsonObject[]
    return output
      .filter(({ type }) => (type as string).endsWith('_call'))
      .map(({ type, name, namespace }) => [type, namespace, name])
  }

  describe('in namespaces', () => {
    it('flatten for others and are restored in objects and events', async () => {
      rig.upstream.answer(calling('clock__time', 'weather'))
      const tools = [clock, child('weather')]
      const { body } = await ask('compatible', { tools })
      expect(sent().names).to.deep.equal(['clock__time', 'clock__weather', 'weather'])
      expect(calls(body)).to.deep.equal([
        ['function_call', 'clock', 'time'],
        ['function_call', undefined, 'weather'],
      ])
      expect(body['tools']).to.deep.equal([clock, { ...child('weather'), description: null }])
      const events = streamConforms(await rig.streamed('compatible', { tools }))
      const added = events
        .filter(({ type }) => type === 'response.output_item.added')
        .map(({ item }) => item as JsonObject)
      expect(added.map(({ namespace, name }) => [namespace, name])).to.deep.equal([
        ['clock', 'time'],
        [undefined, 'weather'],
      ])
    })

    it('are called in the history as they are declared, however the client names them', async () => {
      rig.upstream.answer(calling('clock__time'))
      const call = (id: string, name: string, namespace?: string) => [
        { type: 'function_call', call_id: id, name, ...(namespace ? { namespace } : {}), arguments: '{}' },
        { type: 'function_call_output', call_id: id, output: 'ok' },
      ]
      const input = [
        ...call('a', 'time', 'clock'),
        ...call('b', 'time'),
        ...call('c', 'clock__time'),
        ...call('d', 'weather'),
      ]
      await ask('compatible', { tools: [clock, child('weather')], input })
      const turns = rig.asked()['messages'] as { tool_calls?: { function: JsonObject }[] }[]
      const names = turns.flatMap(({ tool_calls: made }) => made?.map((one) => one.function['name']) ?? [])
      expect(names).to.deep.equal(['clock__time', 'clock__time', 'clock__time', 'weather'])
    })

    it('have no prefix in the namespace `functions`', async () => {
      rig.upstream.answer(calling('shell'))
      const { body } = await ask('compatible', {
        tools: [{ type: 'namespace', name: 'functions', tools: [child('shell')] }],
      })
      expect(sent().names).to.deep.equal(['shell'])
      expect(calls(body)).to.deep.equal([['function_call', 'functions', 'shell']])
    })

    it('are refused where a flattened name is taken', async () => {
      for (const model of ['compatible', 'messages']) {
        const { status, body } = await ask(model, { tools: [clock, child('clock__time')] })
        expect(status).to.equal(400)
        expect(body['error']).to.deep.include({ code: 'invalid_value', param: 'tools' })
      }
    })
  })

  it('come with the items of the conversation, too', async () => {
    rig.upstream.answer(calling('late'))
    const input = [
      {
        type: 'additional_tools',
        role: 'developer',
        tools: [child('late'), { ...child('early'), description: 'newer' }],
      },
      { type: 'tool_search_call', call_id: 's_1', execution: 'client', arguments: {} },
      { type: 'tool_search_output', call_id: 's_1', tools: [child('found'), { type: 'function' }, child('late')] },
      { role: 'user', content: 'hello' },
    ]
    const { body, losses } = await ask('compatible', { tools: [child('early')], input })
    expect(sent().names).to.deep.equal(['early', 'late', 'found'])
    expect(JSON.stringify(rig.asked()['tools'])).to.contain('newer')
    expect(calls(body)).to.deep.equal([['function_call', undefined, 'late']])
    expect(losses).to.contain('tool_search_output')
  })

  it('that were called and not answered are answered as cancelled', async () => {
    rig.upstream.answer(calling('weather'))
    const input = [
      { role: 'user', content: 'hello' },
      { type: 'function_call', call_id: 'a', name: 'weather', arguments: '{}' },
      { type: 'custom_tool_call', call_id: 'b', name: 'patch', input: 'x' },
      { type: 'function_call_output', call_id: 'a', output: 'Sun' },
      { role: 'user', content: 'And?' },
    ]
    const { losses } = await ask('compatible', { input })
    expect((rig.asked()['messages'] as JsonObject[]).slice(2)).to.deep.equal([
      { role: 'tool', tool_call_id: 'a', content: 'Sun' },
      { role: 'tool', tool_call_id: 'b', content: 'Error: the call was cancelled.' },
      { role: 'user', content: 'And?' },
    ])
    expect(losses).to.contain('messages')
    rig.answer('messages', 'length')
    await ask('messages', { input })
    expect((rig.asked()['messages'] as { content: JsonObject[] }[])[2]?.content).to.deep.equal([
      { type: 'tool_result', tool_use_id: 'a', content: 'Sun' },
      { type: 'tool_result', tool_use_id: 'b', content: '(cancelled: there is no result)', is_error: true },
      { type: 'text', text: 'And?' },
    ])
  })

  describe('that a vendor runs', () => {
    const hosted = [
      { type: 'web_search', search_context_size: 'low' },
      { type: 'file_search', vector_store_ids: ['vs_1'] },
      { type: 'code_interpreter', container: { type: 'auto' } },
      { type: 'mcp', server_label: 'docs', server_url: 'https://x' },
      { type: 'tool_search' },
    ]

    it('are a reported loss elsewhere, and nobody is made to call one', async () => {
      rig.upstream.answer(calling('weather'))
      const { losses } = await ask('compatible', {
        tools: [...hosted, child('weather')],
        tool_choice: { type: 'web_search' },
      })
      expect(sent()).to.deep.equal({ names: ['weather'], choice: 'auto' })
      for (const { type } of hosted) expect(losses).to.contain(`tools[].${type}`)
      expect(losses).to.contain('tool_choice')
      await ask('messages', { tools: [...hosted, child('weather')], tool_choice: { type: 'file_search' } })
      expect(rig.asked()).to.not.have.property('tool_choice')
      await ask('compatible', { tools: hosted, tool_choice: 'required' })
      expect(rig.asked()).to.not.have.any.keys('tools', 'tool_choice')
    })

    it('reach a native upstream, as bytes and printed anew', async () => {
      rig.answer('native', 'length')
      const tools = [...hosted, clock, { type: 'custom', name: 'patch', defer_loading: true }, child('weather')]
      const choice = {
        type: 'allowed_tools',
        mode: 'auto',
        tools: [{ type: 'function', name: 'weather' }, { type: 'web_search' }],
      }
      const found = { type: 'tool_search_output', call_id: 's_1', execution: 'server', tools: [child('found')] }
      const own = {
        tools,
        tool_choice: choice,
        include: ['web_search_call.results', 'x.new'],
        conversation: 'conv_1',
        prompt: { id: 'p_1' },
        max_tool_calls: 2,
        truncation: 'auto',
        stream_options: { include_obfuscation: false },
        frequency_penalty: 0.5,
        reasoning: { effort: 'max', mode: 'pro', context: 'auto' },
      }
      const input: JsonObject[] = [found, { type: 'something_new', id: 'x' }, { role: 'user', content: 'hello' }]
      await ask('native', { ...own, input })
      expect(rig.asked()).to.deep.equal({ model: 'upstream-1', ...own, input })
      const summary = [{ type: 'summary_text', text: 'Hm' }]
      const foreign = {
        type: 'reasoning',
        summary,
        encrypted_content: packSeal('other/upstream', { kind: 'signature', data: 'c2ln', parts: [] }),
      }
      const { losses } = await ask('native', { ...own, input: [foreign, ...input] })
      const asked = rig.asked()
      expect(asked).to.deep.include({ ...own, include: [...own.include, 'reasoning.encrypted_content'] })
      expect(asked['input']).to.deep.equal([
        found,
        { type: 'something_new', id: 'x' },
        { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'hello' }] },
      ])
      expect(losses).to.equal('reasoning')
    })
  })

  describe('of which only some are allowed', () => {
    const tools = [child('weather'), child('time'), clock]
    const choice = (mode: string, ...names: JsonObject[]) => ({
      type: 'allowed_tools',
      mode,
      tools: names.map((name) => ({ type: 'function', ...name })),
    })

    it('are sent alone, and calls of others are kept from the client', async () => {
      rig.upstream.answer(calling('time', 'weather', 'clock__time'))
      const asking = { tools, tool_choice: choice('required', { name: 'weather' }) }
      const { body } = await ask('compatible', asking)
      expect(sent()).to.deep.equal({ names: ['weather'], choice: 'required' })
      expect(calls(body)).to.deep.equal([['function_call', undefined, 'weather']])
      conforms(body)
      const events = streamConforms(await rig.streamed('compatible', asking))
      expect(calls(events.at(-1)?.['response'] as JsonObject)).to.deep.equal([['function_call', undefined, 'weather']])
      const row = (await rig.gateway.rows()).at(-1)
      expect(JSON.stringify(row)).to.contain('output[].function_call')
    })

    it('may be named by namespace, and may leave nothing to say', async () => {
      rig.upstream.answer(calling('time'))
      const { body } = await ask('compatible', {
        tools,
        tool_choice: choice('auto', { name: 'time', namespace: 'clock' }),
      })
      expect(sent()).to.deep.equal({ names: ['clock__time'], choice: 'auto' })
      expect(body['output']).to.have.length(1)
      expect((body['output'] as JsonObject[])[0]).to.deep.include({ type: 'message', status: 'completed' })
      conforms(body)
    })
  })
})
