import { setTimeout as sleep } from 'node:timers/promises'
import { encodeFrame } from '../../engine/kit.ts'
import type { Json } from '../../engine/index.ts'
import type { Script } from '../support/upstream.ts'

/** A frame for the scripted upstream. */
export type ScriptedFrame = string | { readonly event?: string; readonly data: Json }

const usage = { prompt_tokens: 9, completion_tokens: 4, total_tokens: 13 }

/** A whole answer of chat completions. */
export const chatAnswer = {
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1,
  model: 'vendor-model',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hello there' }, finish_reason: 'stop' }],
  usage,
}

/** A whole answer of messages. */
export const messagesAnswer = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'vendor-model',
  content: [{ type: 'text', text: 'Hello there' }],
  stop_reason: 'end_turn',
  stop_sequence: null,
  usage: { input_tokens: 9, output_tokens: 4 },
}

/** A whole answer of responses. */
export const responsesAnswer = {
  id: 'resp_1',
  object: 'response',
  created_at: 1,
  status: 'completed',
  model: 'vendor-model',
  output: [message('Hello there')],
  usage: { input_tokens: 9, output_tokens: 4, total_tokens: 13 },
}

/** The frames of a streamed answer of chat completions: the role, each text, the end, the usage, `[DONE]`. */
export function chatFrames(...texts: readonly string[]): readonly ScriptedFrame[] {
  const chunk = (delta: Json, finish: string | null = null): ScriptedFrame => ({
    data: {
      id: 'chatcmpl-1',
      object: 'chat.completion.chunk',
      created: 1,
      model: 'vendor-model',
      choices: [{ index: 0, delta, finish_reason: finish }],
    },
  })
  return [
    chunk({ role: 'assistant', content: '' }),
    ...texts.map((content) => chunk({ content })),
    chunk({}, 'stop'),
    {
      data: {
        id: 'chatcmpl-1',
        object: 'chat.completion.chunk',
        created: 1,
        model: 'vendor-model',
        choices: [],
        usage,
      },
    },
    '[DONE]',
  ]
}

/** The frames of a streamed answer of messages. */
export function messagesFrames(...texts: readonly string[]): readonly ScriptedFrame[] {
  const event = (data: { readonly type: string; readonly [key: string]: Json }): ScriptedFrame => ({
    event: data.type,
    data,
  })
  return [
    event({
      type: 'message_start',
      message: { ...messagesAnswer, content: [], stop_reason: null, usage: { input_tokens: 9, output_tokens: 0 } },
    }),
    event({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }),
    ...texts.map((text) => event({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } })),
    event({ type: 'content_block_stop', index: 0 }),
    event({
      type: 'message_delta',
      delta: { stop_reason: 'end_turn', stop_sequence: null },
      usage: { output_tokens: 4 },
    }),
    event({ type: 'message_stop' }),
  ]
}

/** The frames of a streamed answer of responses. */
export function responsesFrames(...texts: readonly string[]): readonly ScriptedFrame[] {
  let number = 0
  const event = (data: { readonly type: string; readonly [key: string]: Json }): ScriptedFrame => ({
    event: data.type,
    data: { ...data, sequence_number: number++ },
  })
  const place = { item_id: 'msg_1', output_index: 0, content_index: 0 }
  const text = texts.join('')
  return [
    event({
      type: 'response.created',
      response: { ...responsesAnswer, status: 'in_progress', output: [], usage: null },
    }),
    event({
      type: 'response.output_item.added',
      output_index: 0,
      item: { ...message(''), status: 'in_progress', content: [] },
    }),
    event({ type: 'response.content_part.added', ...place, part: { type: 'output_text', text: '', annotations: [] } }),
    ...texts.map((delta) => event({ type: 'response.output_text.delta', ...place, delta })),
    event({ type: 'response.output_text.done', ...place, text }),
    event({ type: 'response.content_part.done', ...place, part: { type: 'output_text', text, annotations: [] } }),
    event({ type: 'response.output_item.done', output_index: 0, item: message(text) }),
    event({ type: 'response.completed', response: { ...responsesAnswer, output: [message(text)] } }),
  ]
}

function message(text: string) {
  return {
    type: 'message',
    id: 'msg_1',
    role: 'assistant',
    status: 'completed',
    content: [{ type: 'output_text', text, annotations: [] }],
  }
}

/** A frame as its bytes. */
export function printed(frame: ScriptedFrame): string {
  const { event, data } = typeof frame === 'string' ? { event: undefined, data: frame } : frame
  const text = typeof data === 'string' ? data : JSON.stringify(data)
  return encodeFrame(event === undefined ? { data: text } : { event, data: text })
}

/** A stream whose frames have left the upstream before what follows them happens. */
export function arrived(frames: readonly ScriptedFrame[]): Script {
  async function* chunks() {
    for (const frame of frames) yield printed(frame)
    await sleep(20)
  }
  return { headers: { 'content-type': 'text/event-stream' }, chunks: chunks() }
}
