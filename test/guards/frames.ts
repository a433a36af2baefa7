import type { JsonObject } from '../../engine/index.ts'

/** A frame of a stream. */
export interface Frame {
  readonly event?: string
  readonly data: string
}

export const frame = (data: JsonObject): Frame => ({ data: JSON.stringify(data) })

/** A frame whose event has a name: the type of its data. */
export const typed = (data: JsonObject & { readonly type: string }): Frame => ({ event: data.type, ...frame(data) })

const ofChunk = { id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm' }

/** A chunk of chat completions, of its first choice. */
export const chatChunk = (delta: JsonObject, more: JsonObject = {}): Frame =>
  frame({ ...ofChunk, choices: [{ index: 0, delta, finish_reason: null, ...more }] })

/** The last chunk of chat completions, which tells what was used. */
export const chatUsage = (usage: JsonObject): Frame => frame({ ...ofChunk, choices: [], usage })

export const chatDone: Frame = { data: '[DONE]' }

/** A chunk of Gemini, of its first candidate. */
export const geminiChunk = (parts: readonly JsonObject[], candidate: JsonObject = {}, more: JsonObject = {}): Frame =>
  frame({
    candidates: [{ content: { role: 'model', parts }, index: 0, ...candidate }],
    ...more,
    modelVersion: 'm',
    responseId: 'r',
  })

const usage = { input_tokens: 9, output_tokens: 1 }
const ofMessage = { id: 'msg_1', type: 'message', role: 'assistant', model: 'm', content: [] }

/** The blocks of a message between its first and its last frames. */
export const messageOf = (blocks: readonly Frame[], stop = 'end_turn'): readonly Frame[] => [
  typed({ type: 'message_start', message: { ...ofMessage, stop_reason: null, stop_sequence: null, usage } }),
  ...blocks,
  typed({
    type: 'message_delta',
    delta: { stop_reason: stop, stop_sequence: null },
    usage: { output_tokens: 4 },
  }),
  typed({ type: 'message_stop' }),
]

/** A block of a message. */
export const blockOf = (index: number, block: JsonObject, deltas: readonly JsonObject[]): readonly Frame[] => [
  typed({ type: 'content_block_start', index, content_block: block }),
  ...deltas.map((delta) => typed({ type: 'content_block_delta', index, delta })),
  typed({ type: 'content_block_stop', index }),
]

/** What a response says that it used. */
export const responseUsage = {
  input_tokens: 9,
  input_tokens_details: { cached_tokens: 0 },
  output_tokens: 4,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: 13,
}
