import { expect } from 'chai'
import { packSeal } from '../../engine/kit.ts'
import type { JsonObject } from '../../engine/index.ts'
import { orderFaults } from '../conformance/responses/order.ts'
import { streamConforms } from '../conformance/responses/check.ts'
import { framesOf } from '../golden/files.ts'
import type { ReadFrame } from '../golden/files.ts'
import type { Script } from '../support/upstream.ts'
import { Rig, kinds } from './responses-rig.ts'
import type { Kind } from './responses-rig.ts'
import { arrived, chatFrames, messagesFrames, printed, responsesAnswer, responsesFrames } from './streams.ts'
import type { ScriptedFrame } from './streams.ts'

const begun: Readonly<Record<Kind, readonly ScriptedFrame[]>> = {
  native: [
    ...responsesFrames('Hello').slice(0, 1),
    {
      event: 'response.in_progress',
      data: { type: 'response.in_progress', sequence_number: 1, response: { id: 'resp_1' } },
    },
    ...responsesFrames('Hello').slice(1, 4),
  ],
  compatible: chatFrames('Hello', ' there').slice(0, 2),
  messages: messagesFrames('Hello', ' there').slice(0, 3),
}

/** What happens to a stream that has said "Hello". */
const accidents: Readonly<Record<string, (kind: Kind) => Script>> = {
  'just ends': (kind) => ({ frames: begun[kind] }),
  'is closed': (kind) => ({ ...arrived(begun[kind]), ending: 'close' }),
  'is reset': (kind) => ({ ...arrived(begun[kind]), ending: 'reset' }),
  'falls silent': (kind) => ({ frames: begun[kind], ending: 'hang' }),
  'ends in the middle of an event': (kind) => ({
    headers: { 'content-type': 'text/event-stream' },
    chunks: [...begun[kind].map(printed), 'event: response.output_text.delta\ndata: {"type":"response.output_te'],
  }),
  'says what is no JSON': (kind) => ({ ...arrived([...begun[kind], '{"type":"response.output_te']), ending: 'reset' }),
}

/** Number the events of an upstream that left gaps, so that only what the gateway adds is judged. */
function numbered(events: readonly JsonObject[]): readonly JsonObject[] {
  return events.map((event, index) => ({ ...event, sequence_number: index }))
}

describe('a responses stream that breaks', () => {
  const rig = new Rig()

  for (const kind of kinds)
    for (const [name, script] of Object.entries(accidents))
      it(`before a ${kind} upstream, when it ${name}`, async () => {
        rig.upstream.answer(script(kind))
        const stream = await rig.streamed(name === 'falls silent' ? `hasty-${kind}` : kind)
        // What a native upstream sends whole is passed on, even where it makes no sense.
        const frames = framesOf(stream.replace('data: {"type":"response.output_te\n\n', ''))
        expect(frames.at(-1)?.data).to.equal('[DONE]')
        const events = frames.slice(0, -1).map(({ data }) => data as JsonObject)
        expect(stream).to.contain('Hello')
        if (!name.startsWith('says')) expect(stream).to.not.match(/output_te(?!xt)/)
        expect(events.slice(-2).map(({ type }) => type)).to.deep.equal(['error', 'response.failed'])
        const [error, failed] = events.slice(-2) as [JsonObject, JsonObject]
        expect(error['code']).to.be.oneOf(['upstream_timeout', 'upstream_error', 'upstream_invalid_response'])
        expect(error['error']).to.deep.include({ type: 'server_error', code: error['code'], message: error['message'] })
        expect(failed['response']).to.deep.include({
          status: 'failed',
          error: { code: 'server_error', message: error['message'] },
        })
        if (kind === 'native') {
          expect(orderFaults(numbered(events))).to.deep.equal([])
          expect(failed['sequence_number']).to.equal((error['sequence_number'] as number) + 1)
        } else streamConforms(stream)
        const { output } = failed['response'] as { output: JsonObject[] }
        expect(output.map(({ status }) => status)).to.deep.equal(kind === 'native' ? [] : ['incomplete'])
        expect((await rig.gateway.rows()).at(-1)).to.deep.include({ status: 200, result: 'failed' })
      })

  it('before a provider that answers in neutral form', async () => {
    const events = streamConforms(await rig.streamed('failing', { input: 'one two three four' }))
    expect(events.slice(-2).map(({ type }) => type)).to.deep.equal(['error', 'response.failed'])
    expect(JSON.stringify(events)).to.contain('one ').and.not.contain('three')
  })

  it('makes the official client throw', async () => {
    for (const kind of kinds) {
      rig.upstream.answer({ frames: begun[kind] })
      const thrown = await rig.client.responses
        .stream({ model: kind, input: 'hello' })
        .finalResponse()
        .catch((reason: unknown) => reason)
      expect(thrown, kind).to.be.instanceOf(Error).and.to.deep.include({ code: 'upstream_error', type: 'server_error' })
    }
  })

  it('gets the failed response and [DONE] that a native upstream leaves out after its error', async () => {
    const error = { type: 'error', sequence_number: 5, code: 'server_error', message: 'Oh', param: null }
    rig.upstream.answer({ frames: [...begun.native, { event: 'error', data: error }] })
    const frames = framesOf(await rig.streamed('native'))
    expect(frames.slice(-3).map(({ event }) => event)).to.deep.equal(['error', 'response.failed', undefined])
    expect(frames.at(-2)?.data).to.deep.include({ type: 'response.failed', sequence_number: 6 })
    const { response } = (frames.at(-2) as ReadFrame).data as { response: JsonObject }
    expect(response).to.deep.include({ id: 'resp_1', status: 'failed', error: { code: 'server_error', message: 'Oh' } })
  })
})

describe('a responses stream of a native upstream', () => {
  const rig = new Rig()

  it('is passed on byte for byte, with the [DONE] that it lacks', async () => {
    const frames = responsesFrames('Hello', ' there')
    for (const ending of [[], ['[DONE]']]) {
      rig.upstream.answer({ frames: [...frames, ...ending] })
      const told = framesOf(await rig.streamed('native'))
      expect(told.map(({ data }) => data)).to.deep.equal([
        ...frames.map((frame) => (typeof frame === 'string' ? frame : frame.data)),
        '[DONE]',
      ])
    }
  })

  it('loses nothing of a last event without its empty line', async () => {
    const [last] = responsesFrames('Hello').slice(-1) as [{ event: string; data: JsonObject }]
    const before = responsesFrames('Hello').slice(0, -1)
    rig.upstream.answer({
      headers: { 'content-type': 'text/event-stream' },
      chunks: [
        ...before.map(
          (frame) => `event: ${(frame as typeof last).event}\ndata: ${JSON.stringify((frame as typeof last).data)}\n\n`,
        ),
        `event: ${last.event}\ndata: ${JSON.stringify(last.data)}`,
      ],
    })
    const told = framesOf(await rig.streamed('native'))
    expect(told.at(-2)).to.deep.equal({ event: last.event, data: last.data })
    expect(told.at(-1)?.data).to.equal('[DONE]')
  })

  it('that is printed anew keeps the items of the vendor in their places', async () => {
    const search = { id: 'ws_1', type: 'web_search_call', status: 'completed', action: { type: 'search', query: 'x' } }
    const hosted = { id: 'mcp_1', type: 'mcp_call', server_label: 'docs', name: 'find', arguments: '{}' }
    const [message] = responsesAnswer.output
    const output = [search, message as JsonObject, hosted]
    const told = { tool_usage: { web_search: { num_requests: 1 } }, conversation: { id: 'conv_1' } }
    const whole = { ...responsesAnswer, output, ...told } as unknown as JsonObject
    const event = (type: string, fields: JsonObject) => ({ event: type, data: { type, ...fields } })
    rig.upstream.answer({
      frames: [
        event('response.created', { response: { id: 'resp_1', status: 'in_progress', output: [] } }),
        event('response.output_item.added', { output_index: 0, item: { ...search, status: 'in_progress' } }),
        event('response.web_search_call.searching', { output_index: 0, item_id: 'ws_1' }),
        event('response.output_item.done', { output_index: 0, item: search }),
        event('response.output_item.added', { output_index: 1, item: { ...message, content: [] } }),
        event('response.output_item.done', { output_index: 1, item: message }),
        event('response.output_item.done', { output_index: 2, item: hosted }),
        event('response.completed', { response: whole }),
      ],
    })
    const foreign = packSeal('other/upstream', { kind: 'signature', data: 'c2ln', parts: [] })
    const input = [
      { type: 'reasoning', summary: [], encrypted_content: foreign },
      { role: 'user', content: 'hello' },
    ]
    const events = streamConforms(await rig.streamed('native', { input }))
    expect(events.filter(({ item_id: id }) => id === 'ws_1').map(({ type }) => type)).to.deep.equal([
      'response.web_search_call.searching',
    ])
    const response = events.at(-1)?.['response'] as { output: JsonObject[] }
    expect(response.output.map(({ type }) => type)).to.deep.equal(['web_search_call', 'message', 'mcp_call'])
    expect([response.output[0], response.output[2]]).to.deep.equal([search, hosted])
    expect(response).to.deep.include({ ...told, model: 'native', status: 'completed' })
  })

  for (const size of [300_000, 3_000_000])
    it(`may end in an event of ${size} bytes, and its usage is logged`, async () => {
      const image = { type: 'image_generation_call', id: 'ig_1', status: 'completed', result: 'A'.repeat(size) }
      const [end] = responsesFrames('Hello').slice(-1) as [{ event: string; data: { response: JsonObject } }]
      const { output, usage, ...response } = end.data.response
      const whole = { ...response, output: [...(output as JsonObject[]), image], usage, user: null }
      rig.upstream.answer({
        frames: [
          ...responsesFrames('Hello').slice(0, -1),
          { event: end.event, data: { ...end.data, response: whole } as JsonObject },
        ],
      })
      const told = framesOf(await rig.streamed('native'))
      expect(told.slice(-2).map(({ event }) => event)).to.deep.equal(['response.completed', undefined])
      expect(((told.at(-2) as ReadFrame).data as { response: JsonObject }).response['output']).to.deep.equal(
        whole.output,
      )
      expect((await rig.gateway.rows()).at(-1)).to.deep.include({
        result: 'completed',
        input_tokens: 9,
        output_tokens: 4,
      })
      // A chat client gets the text and not the image, as far as an event may be read.
      const chat = rig.client.chat.completions
        .stream({ model: 'native', messages: [{ role: 'user', content: 'hello' }] })
        .finalChatCompletion()
      const read = await chat.then(
        ({ choices }) => choices[0]?.message.content,
        (error: Error) => error.message,
      )
      expect(read).to.match(size < 1_048_576 ? /^Hello$/ : /an event is larger than 1048576 bytes/)
    })
})
