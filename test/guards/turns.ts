import type { JsonObject } from '../../engine/index.ts'
import type { Script } from '../support/upstream.ts'
import { blockOf, chatChunk, chatDone, frame, geminiChunk, messageOf, responseUsage, typed } from './frames.ts'
import type { Frame } from './frames.ts'
import type { Protocol } from './rig.ts'

/** What an upstream says, one after the other. Pieces of one entry are those of one part. */
export type Turn = readonly (
  | { readonly text: readonly string[] }
  | { readonly reasoning: readonly string[] }
  | { readonly call: string }
)[]

/** A text, a refusal and another text in one streamed answer of chat completions. */
export function refusingStream(before: readonly string[], refusal: string, after: readonly string[]): readonly Frame[] {
  const [begin, ...rest] = streamOfTurn.chat([{ text: before }, { text: after }])
  const middle = frame({ choices: [{ index: 0, delta: { refusal }, finish_reason: null }] })
  return [begin as Frame, ...rest.slice(0, before.length), middle, ...rest.slice(before.length)]
}

/** A streamed answer of several parts in each protocol. */
export const streamOfTurn: Readonly<Record<Protocol, (turn: Turn) => readonly Frame[]>> = {
  chat(turn) {
    let calls = 0
    return [
      chatChunk({ role: 'assistant', content: '' }),
      ...turn.flatMap((one) => {
        if ('text' in one) return one.text.map((content) => chatChunk({ content }))
        if ('reasoning' in one) return one.reasoning.map((piece) => chatChunk({ reasoning_content: piece }))
        const call = {
          index: calls++,
          id: `call_${calls}`,
          type: 'function',
          function: { name: 'send', arguments: one.call },
        }
        return [chatChunk({ tool_calls: [call] })]
      }),
      chatChunk({}, { finish_reason: calls > 0 ? 'tool_calls' : 'stop' }),
      chatDone,
    ]
  },
  messages(turn) {
    return messageOf(
      turn.flatMap((one, index) => {
        const block =
          'text' in one
            ? { type: 'text', text: '' }
            : 'reasoning' in one
              ? { type: 'thinking', thinking: '', signature: '' }
              : { type: 'tool_use', id: `toolu_${index}`, name: 'send', input: {} }
        const deltas =
          'text' in one
            ? one.text.map((text) => ({ type: 'text_delta', text }))
            : 'reasoning' in one
              ? one.reasoning.map((thinking) => ({ type: 'thinking_delta', thinking }))
              : [{ type: 'input_json_delta', partial_json: one.call }]
        return blockOf(index, block, deltas)
      }),
    )
  },
  responses(turn) {
    const response = { id: 'resp_1', object: 'response', created_at: 1, status: 'in_progress', model: 'm', output: [] }
    const items: JsonObject[] = []
    const frames = turn.flatMap((one, output_index) => {
      const id = `item_${output_index}`
      const at = { output_index, item_id: id }
      const [item, inner] =
        'text' in one
          ? spoken(id, at, one.text)
          : 'reasoning' in one
            ? thought(id, at, one.reasoning)
            : ([
                { id, type: 'function_call', call_id: id, name: 'send', arguments: one.call, status: 'completed' },
                [typed({ type: 'response.function_call_arguments.delta', ...at, delta: one.call })],
              ] as const)
      items.push(item)
      const begun = {
        ...item,
        ...('arguments' in item ? { arguments: '' } : {}),
        ...('content' in item ? { content: [] } : {}),
        ...('summary' in item ? { summary: [] } : {}),
      }
      return [
        typed({ type: 'response.output_item.added', output_index, item: begun }),
        ...inner,
        typed({ type: 'response.output_item.done', output_index, item }),
      ]
    })
    return [
      typed({ type: 'response.created', response }),
      ...frames,
      typed({
        type: 'response.completed',
        response: { ...response, status: 'completed', output: items, usage: responseUsage },
      }),
    ]
  },
  gemini(turn) {
    return [
      ...turn.flatMap((one) => {
        if ('text' in one) return one.text.map((text) => geminiChunk([{ text }]))
        if ('reasoning' in one) return one.reasoning.map((text) => geminiChunk([{ text, thought: true }]))
        return [geminiChunk([{ functionCall: { name: 'send', args: JSON.parse(one.call) as JsonObject } }])]
      }),
      geminiChunk([{ text: '' }], { finishReason: 'STOP' }),
    ]
  },
}

function spoken(id: string, at: JsonObject, pieces: readonly string[]): readonly [JsonObject, readonly Frame[]] {
  const part = { type: 'output_text', text: pieces.join(''), annotations: [] }
  const place = { ...at, content_index: 0 }
  return [
    { id, type: 'message', role: 'assistant', status: 'completed', content: [part] },
    [
      typed({ type: 'response.content_part.added', ...place, part: { ...part, text: '' } }),
      ...pieces.map((delta) => typed({ type: 'response.output_text.delta', ...place, delta })),
    ],
  ]
}

function thought(id: string, at: JsonObject, pieces: readonly string[]): readonly [JsonObject, readonly Frame[]] {
  const part = { type: 'summary_text', text: pieces.join('') }
  const place = { ...at, summary_index: 0 }
  return [
    { id, type: 'reasoning', summary: [part] },
    [
      typed({ type: 'response.reasoning_summary_part.added', ...place, part: { ...part, text: '' } }),
      ...pieces.map((delta) => typed({ type: 'response.reasoning_summary_text.delta', ...place, delta })),
    ],
  ]
}

/** A whole answer of the same parts. */
const wholeOfTurn: Readonly<Record<Protocol, (turn: Turn) => JsonObject>> = {
  chat(turn) {
    const all = (name: string) => turn.flatMap((one) => (one as Record<string, readonly string[]>)[name] ?? []).join('')
    const calls = turn.flatMap((one, index) =>
      'call' in one ? [{ id: `call_${index}`, type: 'function', function: { name: 'send', arguments: one.call } }] : [],
    )
    const message = {
      role: 'assistant',
      content: all('text'),
      reasoning_content: all('reasoning'),
      ...(calls.length > 0 ? { tool_calls: calls } : {}),
    }
    return {
      id: 'c',
      object: 'chat.completion',
      created: 1,
      model: 'm',
      choices: [{ index: 0, message, finish_reason: 'stop' }],
    }
  },
  messages(turn) {
    const content = turn.map((one, index) =>
      'text' in one
        ? { type: 'text', text: one.text.join('') }
        : 'reasoning' in one
          ? { type: 'thinking', thinking: one.reasoning.join(''), signature: 'c2ln' }
          : { type: 'tool_use', id: `toolu_${index}`, name: 'send', input: JSON.parse(one.call) as JsonObject },
    )
    const usage = { input_tokens: 9, output_tokens: 4 }
    return {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: 'm',
      content,
      stop_reason: 'end_turn',
      stop_sequence: null,
      usage,
    }
  },
  responses(turn) {
    const { response } = JSON.parse(streamOfTurn.responses(turn).at(-1)?.data ?? '') as {
      readonly response: JsonObject
    }
    return response
  },
  gemini(turn) {
    const parts = turn.map((one) =>
      'text' in one
        ? { text: one.text.join('') }
        : 'reasoning' in one
          ? { text: one.reasoning.join(''), thought: true }
          : { functionCall: { name: 'send', args: JSON.parse(one.call) as JsonObject } },
    )
    return {
      candidates: [{ content: { role: 'model', parts }, index: 0, finishReason: 'STOP' }],
      modelVersion: 'm',
      responseId: 'r',
    }
  },
}

/** An answer of several parts, streamed or whole. */
export function answerOfTurn(protocol: Protocol, turn: Turn, stream: boolean): Script {
  return stream ? { frames: streamOfTurn[protocol](turn) } : { body: wholeOfTurn[protocol](turn) }
}
