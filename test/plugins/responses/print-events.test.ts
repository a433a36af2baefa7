import { expect } from 'chai'
import OpenAI, { APIError } from 'openai'
import { encodeFrame, packSeal, unfold } from '../../../engine/kit.ts'
import type { Asked, Frame, GenerateEvent, GenerateReply, JsonObject, Usage } from '../../../engine/index.ts'
import { printReply } from '../../../plugins/responses/reply.ts'
import { ResponsesPrinter } from '../../../plugins/responses/print-events.ts'
import { expectLinear } from '../../support/work.ts'
import { asked, bareId, began, lastResponse, origin, parsedFrames } from './exchange.ts'

const usage: Usage = { input: 15, cacheRead: 10, cacheWrite: 5, output: 8, reasoning: 12 }
const printedUsage = {
  input_tokens: 30,
  input_tokens_details: { cached_tokens: 10, cache_write_tokens: 5 },
  output_tokens: 20,
  output_tokens_details: { reasoning_tokens: 12 },
  total_tokens: 50,
}
const seal = { kind: 'signature', data: 'c2ln' } as const
const reply: GenerateReply = {
  id: 'chatcmpl-1',
  model: 'other',
  items: [
    { type: 'reasoning', parts: [{ kind: 'text', text: 'Hm' }], seal },
    {
      type: 'message',
      role: 'assistant',
      content: [
        { type: 'text', text: 'Hello', annotations: [{ type: 'url', url: 'https://x', title: 'X', start: 0, end: 5 }] },
        { type: 'refusal', text: 'No' },
      ],
    },
    { type: 'call', kind: 'function', callId: 'call_a', name: 'look', namespace: 'eyes', input: '' },
    { type: 'opaque', protocol: 'responses', value: { id: 'ws_1', type: 'web_search_call', status: 'completed' } },
    { type: 'call', kind: 'custom', callId: 'call_b', name: 'patch', input: '*** x' },
  ],
  stop: 'tool',
  usage,
}

const id = (prefix: string, index: number) => `${prefix}_${bareId}000${index}`
const packed = packSeal(origin, { kind: 'signature', data: 'c2ln', parts: [{ kind: 'text', text: 'Hm' }] })
const output = [
  {
    id: id('rs', 0),
    type: 'reasoning',
    status: 'completed',
    summary: [{ type: 'summary_text', text: 'Hm' }],
    encrypted_content: packed,
  },
  {
    id: id('msg', 1),
    type: 'message',
    status: 'completed',
    role: 'assistant',
    content: [
      {
        type: 'output_text',
        text: 'Hello',
        annotations: [{ type: 'url_citation', url: 'https://x', title: 'X', start_index: 0, end_index: 5 }],
        logprobs: [],
      },
      { type: 'refusal', refusal: 'No' },
    ],
  },
  {
    id: id('fc', 2),
    type: 'function_call',
    status: 'completed',
    call_id: 'call_a',
    name: 'look',
    namespace: 'eyes',
    arguments: '{}',
  },
  { id: 'ws_1', type: 'web_search_call', status: 'completed' },
  { id: id('ctc', 4), type: 'custom_tool_call', status: 'completed', call_id: 'call_b', name: 'patch', input: '*** x' },
]

function write(events: Iterable<GenerateEvent>, ask: Asked = asked()): Frame[] {
  const writer = new ResponsesPrinter(ask, 'stream')
  return [...events].flatMap((event) => [...writer.print(event)])
}

/** The official client's own accumulator, fed with `frames`: it refuses what is out of order. */
async function accumulated(frames: readonly Frame[]) {
  const body = frames.map(encodeFrame).join('')
  const fetch = () => Promise.resolve(new Response(body, { headers: { 'content-type': 'text/event-stream' } }))
  const client = new OpenAI({ apiKey: 'none', baseURL: 'http://127.0.0.1/v1', fetch, maxRetries: 0 })
  return client.responses.stream({ model: 'think', input: 'Hi' }).finalResponse()
}

describe('responses: writer', () => {
  it('writes the events of every kind of item in their legal order', () => {
    const frames = write(unfold(reply))
    const events = parsedFrames(frames)
    expect(events.map(({ sequence_number }) => sequence_number)).to.deep.equal(events.map((_, index) => index))
    const order = events as unknown as { type: string; output_index?: number }[]
    expect(
      order.map(({ type, output_index }) => `${output_index ?? '-'} ${type.replace('response.', '')}`),
    ).to.deep.equal([
      '- created',
      '- in_progress',
      '0 output_item.added',
      '0 reasoning_summary_part.added',
      '0 reasoning_summary_text.delta',
      '0 reasoning_summary_text.done',
      '0 reasoning_summary_part.done',
      '0 output_item.done',
      '1 output_item.added',
      '1 content_part.added',
      '1 output_text.delta',
      '1 output_text.annotation.added',
      '1 output_text.done',
      '1 content_part.done',
      '1 content_part.added',
      '1 refusal.delta',
      '1 refusal.done',
      '1 content_part.done',
      '1 output_item.done',
      '2 output_item.added',
      '2 function_call_arguments.delta',
      '2 function_call_arguments.done',
      '2 output_item.done',
      '3 output_item.added',
      '3 output_item.done',
      '4 output_item.added',
      '4 custom_tool_call_input.delta',
      '4 custom_tool_call_input.done',
      '4 output_item.done',
      '- completed',
    ])
    const done = events.filter(({ type }) => type === 'response.output_item.done').map(({ item }) => item)
    expect(done).to.deep.equal(output)
    expect(lastResponse(frames)['output']).to.deep.equal(output)
  })

  it('names events by their type and ends with [DONE]', () => {
    const frames = write(unfold(reply))
    expect(frames.at(-1)).to.deep.equal({ data: '[DONE]' })
    for (const { event, data } of frames.slice(0, -1)) expect((JSON.parse(data) as JsonObject)['type']).to.equal(event)
  })

  it('writes exact payloads', () => {
    const events = parsedFrames(write(unfold(reply)))
    const place = { item_id: id('msg', 1), output_index: 1, content_index: 0 }
    expect(events.slice(9, 14)).to.deep.equal([
      {
        type: 'response.content_part.added',
        sequence_number: 9,
        ...place,
        part: { type: 'output_text', text: '', annotations: [], logprobs: [] },
      },
      { type: 'response.output_text.delta', sequence_number: 10, ...place, delta: 'Hello', logprobs: [] },
      {
        type: 'response.output_text.annotation.added',
        sequence_number: 11,
        ...place,
        annotation_index: 0,
        annotation: { type: 'url_citation', url: 'https://x', title: 'X', start_index: 0, end_index: 5 },
      },
      { type: 'response.output_text.done', sequence_number: 12, ...place, text: 'Hello', logprobs: [] },
      { type: 'response.content_part.done', sequence_number: 13, ...place, part: output[1]?.content?.[0] },
    ])
    expect(events[2]?.['item']).to.deep.equal({
      id: id('rs', 0),
      type: 'reasoning',
      status: 'in_progress',
      summary: [],
    })
    expect(events[4]).to.deep.equal({
      type: 'response.reasoning_summary_text.delta',
      sequence_number: 4,
      item_id: id('rs', 0),
      output_index: 0,
      summary_index: 0,
      delta: 'Hm',
    })
    expect(events[21]).to.deep.equal({
      type: 'response.function_call_arguments.done',
      sequence_number: 21,
      item_id: id('fc', 2),
      output_index: 2,
      name: 'look',
      arguments: '{}',
    })
  })

  it('satisfies the official client', async () => {
    const plain = { ...reply, items: reply.items.filter(({ type }) => type !== 'opaque') }
    const response = await accumulated(write(unfold(plain)))
    expect(response.status).to.equal('completed')
    expect(response.output_text).to.equal('Hello')
    expect(response.output.map(({ type }) => type)).to.deep.equal([
      'reasoning',
      'message',
      'function_call',
      'custom_tool_call',
    ])
    expect(response.usage).to.deep.equal(printedUsage)
    const [interleaved] = [await accumulated(write(parallel))]
    expect(interleaved.output.map((item) => ('arguments' in item ? item.arguments : ''))).to.deep.equal([
      '{"a":1}',
      '{"b":2}',
    ])
  })

  const call = (callId: string) => ({ type: 'call', kind: 'function', callId, name: 'look', input: '' }) as const
  const parallel: GenerateEvent[] = [
    { type: 'start' },
    { type: 'item', index: 0, item: call('call_a') },
    { type: 'item', index: 1, item: call('call_b') },
    { type: 'delta', index: 1, text: '{"b"' },
    { type: 'delta', index: 0, text: '{"a"' },
    { type: 'delta', index: 1, text: ':2}' },
    { type: 'delta', index: 0, text: ':1}' },
    { type: 'item-end', index: 1 },
    { type: 'item-end', index: 0 },
    { type: 'finish', stop: 'tool' },
  ]

  it('keeps interleaved calls apart, each with its own output index', () => {
    const { output, usage } = lastResponse(write(parallel))
    const calls = output as unknown as { call_id: string; arguments: string }[]
    expect(usage).to.equal(null)
    expect(calls.map((item) => [item.call_id, item.arguments])).to.deep.equal([
      ['call_a', '{"a":1}'],
      ['call_b', '{"b":2}'],
    ])
  })

  it('prints the response object with every default', () => {
    const { body, losses } = printReply(reply, asked())
    const completed = body['completed_at'] as number
    expect(completed).to.be.at.least(began)
    expect(losses).to.deep.equal([])
    expect(body).to.deep.equal({
      id: `resp_${bareId}`,
      object: 'response',
      created_at: began,
      completed_at: completed,
      status: 'completed',
      error: null,
      incomplete_details: null,
      instructions: null,
      metadata: {},
      model: 'other',
      output,
      parallel_tool_calls: true,
      previous_response_id: null,
      temperature: 1,
      top_p: 1,
      presence_penalty: 0,
      frequency_penalty: 0,
      tool_choice: 'auto',
      tools: [],
      top_logprobs: 0,
      truncation: 'disabled',
      text: { format: { type: 'text' } },
      reasoning: { effort: null, summary: null },
      usage: printedUsage,
      max_output_tokens: null,
      max_tool_calls: null,
      store: true,
      background: false,
      service_tier: 'default',
      safety_identifier: null,
      prompt_cache_key: null,
      user: null,
      access_programs: null,
    })
  })

  it('echoes what was asked', () => {
    const sent = {
      instructions: 'Be',
      metadata: { a: 'b' },
      parallel_tool_calls: false,
      previous_response_id: 'resp_0',
      temperature: 0,
      top_p: 0.5,
      tool_choice: { type: 'function', name: 'look' },
      top_logprobs: 2,
      truncation: 'auto',
      max_output_tokens: 9,
      max_tool_calls: 3,
      store: false,
      safety_identifier: 's',
      prompt_cache_key: 'k',
      user: 'u',
    }
    const ask = asked({
      ...sent,
      tools: [{ type: 'function', name: 'look' }, { type: 'web_search' }],
      text: { verbosity: 'low' },
      reasoning: { effort: 'low', context: 'auto' },
      service_tier: 'fast',
    })
    const { body } = printReply(reply, ask)
    expect(body).to.deep.include(sent)
    expect(body).to.deep.include({
      tools: [
        { type: 'function', name: 'look', description: null, parameters: null, strict: false },
        { type: 'web_search' },
      ],
      text: { verbosity: 'low', format: { type: 'text' } },
      reasoning: { effort: 'low', summary: null, context: 'auto' },
      service_tier: 'priority',
    })
    expect(printReply({ ...reply, serviceTier: 'flex' }, ask).body['service_tier']).to.equal('flex')
    expect(printReply({ ...reply, serviceTier: 'standard' }, asked()).body['service_tier']).to.equal('default')
  })

  it('echoes of each tool whether its schema holds', () => {
    const closed = { type: 'object', properties: {}, required: [], additionalProperties: false }
    const tools = [closed, { type: 'object', properties: {} }].map((parameters) => ({
      type: 'function',
      name: 'f',
      parameters,
    }))
    const { body } = printReply(reply, asked({ tools }))
    expect((body['tools'] as JsonObject[]).map(({ strict }) => strict)).to.deep.equal([true, false])
  })

  it('takes as many log probabilities as come', () => {
    const logprobs = Array.from({ length: 200_000 }, () => ({ token: 'a', logprob: 0 }))
    const items: GenerateReply['items'] = [
      { type: 'message', role: 'assistant', content: [{ type: 'text', text: 'a', logprobs }] },
    ]
    const { body } = printReply({ items, stop: 'end' }, asked())
    expect(body).to.have.nested.property('output[0].content[0].logprobs').that.has.length(200_000)
  })

  it('lets through the calls of very many allowed tools', () => {
    const allowing = (length: number) => {
      const tools = Array.from({ length }, (_, at) => ({ type: 'function', name: `f${at}` }))
      const items = tools.map(
        ({ name }) => ({ type: 'call', kind: 'function', callId: name, name, input: '{}' }) as const,
      )
      const given = asked({ tools, tool_choice: { type: 'allowed_tools', mode: 'auto', tools } })
      return () => printReply({ items, stop: 'tool' }, given)
    }
    expectLinear(12_000, allowing, (print) => print())
    const { body, losses } = allowing(12_000)()
    expect(body['output']).to.have.length(12_000)
    expect(losses).to.deep.equal([])
  })

  it('says null for usage that is not known', () => {
    const { usage: _, ...unmetered } = reply
    expect(printReply(unmetered, asked()).body['usage']).to.equal(null)
  })

  it('marks the last item of an answer that was cut', () => {
    const cut = { ...reply, items: reply.items.slice(0, 2), stop: 'length' } as const
    const { body } = printReply(cut, asked())
    expect(body).to.deep.include({
      status: 'incomplete',
      completed_at: null,
      incomplete_details: { reason: 'max_output_tokens' },
    })
    expect((body['output'] as { status: string }[]).map(({ status }) => status)).to.deep.equal([
      'completed',
      'incomplete',
    ])
    const events = parsedFrames(write(unfold(cut)))
    expect(events.at(-1)?.['type']).to.equal('response.incomplete')
    expect(events.at(-2)?.['item']).to.deep.include({ status: 'incomplete' })
  })

  it('turns every stop reason into a status', () => {
    const items = [{ type: 'message', role: 'assistant', content: [{ type: 'text', text: 'Hi' }] }] as const
    const said = (stop: GenerateReply['stop'], refusal = false) => {
      const content = [{ type: 'refusal', text: 'No' }] as const
      const { body } = printReply({ items: refusal ? [{ ...items[0], content }] : items, stop }, asked())
      return [body['status'], (body['incomplete_details'] as JsonObject | null)?.['reason']]
    }
    for (const stop of ['end', 'stop', 'tool'] as const) expect(said(stop)).to.deep.equal(['completed', undefined])
    for (const stop of ['length', 'context', 'pause'] as const)
      expect(said(stop)).to.deep.equal(['incomplete', 'max_output_tokens'])
    expect(said('filter')).to.deep.equal(['incomplete', 'content_filter'])
    expect(said('refusal')).to.deep.equal(['incomplete', 'content_filter'])
    expect(said('refusal', true)).to.deep.equal(['completed', undefined])
  })

  it('answers nothing with an empty message', async () => {
    const events = write([{ type: 'start' }, { type: 'finish', stop: 'end', usage }])
    const empty = {
      id: id('msg', 0),
      type: 'message',
      status: 'completed',
      role: 'assistant',
      content: [{ type: 'output_text', text: '', annotations: [], logprobs: [] }],
    }
    expect(lastResponse(events)['output']).to.deep.equal([empty])
    expect(printReply({ items: [], stop: 'end' }, asked()).body['output']).to.deep.equal([empty])
    expect((await accumulated(events)).output_text).to.equal('')
  })

  it('keeps ciphertext from those who neither include it nor go without storage', () => {
    const sealed = {
      items: [{ type: 'reasoning', parts: [], seal: { kind: 'encrypted', data: 'x' } }],
      stop: 'end',
    } as const
    const content = (body: JsonObject) => {
      const { body: response, unshown } = printReply(sealed, asked(body))
      const [item] = response['output'] as JsonObject[]
      const writer = new ResponsesPrinter(asked(body), 'stream')
      for (const event of unfold(sealed)) writer.print(event)
      expect(writer.unshown).to.deep.equal(unshown)
      return [item?.['encrypted_content'], [...(unshown ?? [])]]
    }
    const all = packSeal(origin, { kind: 'encrypted', data: 'x' })
    const kept = [[`rs_${bareId}0000`, all]]
    expect(content({})).to.deep.equal([undefined, kept])
    expect(content({ store: true })).to.deep.equal([undefined, kept])
    expect(content({ store: false })).to.deep.equal([all, []])
    expect(content({ include: ['reasoning.encrypted_content'] })).to.deep.equal([all, []])
  })

  it('reports what it cannot show', () => {
    const foreign: GenerateReply = {
      items: [
        { type: 'opaque', protocol: 'messages', value: { type: 'server_tool_use' } },
        {
          type: 'message',
          role: 'assistant',
          content: [
            { type: 'image', source: { kind: 'url', url: 'https://x' } },
            { type: 'text', text: 'Hi', annotations: [{ type: 'opaque', protocol: 'messages', value: {} }] },
          ],
        },
      ],
      stop: 'end',
      rest: { protocol: 'messages', fields: { container: {} } },
    }
    const { body, losses } = printReply(foreign, asked())
    expect((body['output'] as JsonObject[]).map(({ type }) => type)).to.deep.equal(['message'])
    expect(losses.map(({ field }) => field)).to.deep.equal([
      'output[].server_tool_use',
      'output[].content.image',
      'annotations',
      'container',
    ])
  })

  it('ends a failed stream with error, response.failed and [DONE], once', () => {
    const failure = { status: 502, code: 'upstream_error', type: 'server_error', message: 'Oh', param: null }
    const frames = write([
      ...[...unfold(reply)].slice(0, 9),
      { type: 'failure', failure },
      { type: 'failure', failure },
      { type: 'finish', stop: 'end' },
    ])
    expect(frames.at(-1)).to.deep.equal({ data: '[DONE]' })
    const events = parsedFrames(frames)
    expect(events.at(-2)).to.deep.equal({
      type: 'error',
      sequence_number: events.length - 2,
      code: 'upstream_error',
      message: 'Oh',
      param: null,
      error: { type: 'server_error', code: 'upstream_error', message: 'Oh', param: null },
    })
    const last = events.at(-1)
    expect(last?.['type']).to.equal('response.failed')
    expect(last?.['response']).to.deep.include({
      id: `resp_${bareId}`,
      status: 'failed',
      error: { code: 'server_error', message: 'Oh' },
    })
    const partial = lastResponse(frames)['output'] as unknown as { type: string; status: string }[]
    expect(partial.map(({ type, status }) => [type, status])).to.deep.equal([
      ['reasoning', 'completed'],
      ['message', 'incomplete'],
    ])
  })

  it('ends an item that was finished before the stream failed', () => {
    const failure = { status: 502, code: 'upstream_error', type: 'server_error', message: 'Oh', param: null }
    const call = { type: 'call', kind: 'function', callId: 'call_a', name: 'look', input: '' } as const
    const frames = write([
      { type: 'start' },
      { type: 'item', index: 0, item: call },
      { type: 'delta', index: 0, text: '{}' },
      { type: 'item-end', index: 0 },
      { type: 'failure', failure },
    ])
    const [done, ...rest] = parsedFrames(frames).slice(-3)
    expect(done?.['type']).to.equal('response.output_item.done')
    expect(done?.['item']).to.deep.include({ status: 'completed', arguments: '{}' })
    expect(rest.map(({ type }) => type)).to.deep.equal(['error', 'response.failed'])
    expect(lastResponse(frames)['output']).to.deep.equal([done?.['item']])
  })

  it('makes the official client throw what failed', async () => {
    const failure = { status: 429, code: 'busy', type: 'rate_limit_error', message: 'Slow', param: null }
    const thrown = await accumulated(write([{ type: 'start' }, { type: 'failure', failure }])).catch(
      (error: unknown) => error,
    )
    expect(thrown).to.be.instanceOf(APIError).and.to.deep.include({ code: 'busy', type: 'rate_limit_error' })
  })
})
