import type { Json } from '../../engine/index.ts'
import type { ScriptedFrame } from '../service/streams.ts'
import { proof } from './model.ts'

interface Event {
  readonly type: string
  readonly [key: string]: Json
}

/** A tool as a call names it. */
export interface ToolName {
  readonly name: string
  readonly namespace?: string
}

/** A responses stream: reasoning with its ciphertext, then one call in two pieces. */
export function responsesCall(tool: ToolName, input: string): readonly ScriptedFrame[] {
  let number = 0
  const event = (data: Event): ScriptedFrame => ({ event: data.type, data: { ...data, sequence_number: number++ } })
  const response = { id: 'resp_1', object: 'response', created_at: 1, model: 'vendor-model' }
  const summary = [{ type: 'summary_text', text: 'I shall ask the shell.' }]
  const reasoning = { type: 'reasoning', id: 'rs_1', summary, encrypted_content: proof }
  const call = { type: 'function_call', id: 'fc_1', call_id: 'call_1', ...tool, arguments: input, status: 'completed' }
  const at = { item_id: 'fc_1', output_index: 1 }
  return [
    event({ type: 'response.created', response: { ...response, status: 'in_progress', output: [], usage: null } }),
    event({ type: 'response.output_item.added', output_index: 0, item: { ...reasoning, summary: [] } }),
    event({ type: 'response.output_item.done', output_index: 0, item: reasoning }),
    event({
      type: 'response.output_item.added',
      output_index: 1,
      item: { ...call, arguments: '', status: 'in_progress' },
    }),
    event({ type: 'response.function_call_arguments.delta', ...at, delta: input.slice(0, 5) }),
    event({ type: 'response.function_call_arguments.delta', ...at, delta: input.slice(5) }),
    event({ type: 'response.function_call_arguments.done', ...at, arguments: input }),
    event({ type: 'response.output_item.done', output_index: 1, item: call }),
    event({
      type: 'response.completed',
      response: {
        ...response,
        status: 'completed',
        output: [reasoning, call],
        usage: { input_tokens: 9, output_tokens: 4, total_tokens: 13 },
      },
    }),
  ]
}

/** A stream of chat completions: one call in two pieces. */
export function chatCall({ name }: ToolName, input: string): readonly ScriptedFrame[] {
  const chunk = (delta: Json, finish: string | null = null): ScriptedFrame => ({
    data: {
      id: 'chatcmpl-1',
      object: 'chat.completion.chunk',
      created: 1,
      model: 'vendor-model',
      choices: [{ index: 0, delta, finish_reason: finish }],
    },
  })
  const first = { index: 0, id: 'call_1', type: 'function', function: { name, arguments: '' } }
  return [
    chunk({ role: 'assistant', content: null, tool_calls: [first] }),
    chunk({ tool_calls: [{ index: 0, function: { arguments: input.slice(0, 5) } }] }),
    chunk({ tool_calls: [{ index: 0, function: { arguments: input.slice(5) } }] }),
    chunk({}, 'tool_calls'),
    '[DONE]',
  ]
}

/** A messages stream: signed thinking, then one call in two pieces. */
export function messagesCall({ name }: ToolName, input: string): readonly ScriptedFrame[] {
  const event = (data: Event): ScriptedFrame => ({ event: data.type, data })
  const delta = (index: number, piece: Json) => event({ type: 'content_block_delta', index, delta: piece })
  return [
    event({
      type: 'message_start',
      message: {
        id: 'msg_1',
        type: 'message',
        role: 'assistant',
        model: 'vendor-model',
        content: [],
        stop_reason: null,
        stop_sequence: null,
        usage: { input_tokens: 9, output_tokens: 0 },
      },
    }),
    event({ type: 'content_block_start', index: 0, content_block: { type: 'thinking', thinking: '', signature: '' } }),
    delta(0, { type: 'thinking_delta', thinking: 'I shall ask the shell.' }),
    delta(0, { type: 'signature_delta', signature: proof }),
    event({ type: 'content_block_stop', index: 0 }),
    event({
      type: 'content_block_start',
      index: 1,
      content_block: { type: 'tool_use', id: 'toolu_1', name, input: {} },
    }),
    delta(1, { type: 'input_json_delta', partial_json: input.slice(0, 5) }),
    delta(1, { type: 'input_json_delta', partial_json: input.slice(5) }),
    event({ type: 'content_block_stop', index: 1 }),
    event({
      type: 'message_delta',
      delta: { stop_reason: 'tool_use', stop_sequence: null },
      usage: { output_tokens: 4 },
    }),
    event({ type: 'message_stop' }),
  ]
}
