import type { Json, JsonObject } from '../../engine/index.ts'
import type { RecordedRequest, Script } from '../support/upstream.ts'
import { chatAnswer, messagesAnswer } from './streams.ts'

/** What an upstream was asked, as JSON. */
export const asked = ({ body }: RecordedRequest): JsonObject => JSON.parse(body.toString()) as JsonObject

export const message = (id: string, text: string): JsonObject => ({
  id,
  type: 'message',
  status: 'completed',
  role: 'assistant',
  content: [{ type: 'output_text', text, annotations: [], logprobs: [] }],
})

/** A whole answer of a vendor's responses, under an id of its own, as vendors give. */
export function nativeAnswer(id: string, output: readonly Json[], more: JsonObject = {}): JsonObject {
  return {
    id,
    object: 'response',
    created_at: 1,
    status: 'completed',
    error: null,
    incomplete_details: null,
    model: 'vendor-model',
    output,
    store: true,
    usage: { input_tokens: 9, output_tokens: 4, total_tokens: 13 },
    ...more,
  }
}

/** The same as a stream: its beginning and its end. */
export function nativeStream(response: JsonObject): Script {
  const event = (type: string, sequence_number: number, of: JsonObject) => ({
    event: type,
    data: { type, sequence_number, response: of },
  })
  return {
    frames: [
      event('response.created', 0, { ...response, status: 'in_progress', output: [] }),
      event(`response.${response['status'] as string}`, 1, response),
      '[DONE]',
    ],
  }
}

export const refused = (status: number, error: JsonObject): Script => ({ status, body: { error } })

/** A whole answer of chat completions, and one of messages, that say `text`. */
export const chatSaying = (content: string): Script => ({
  body: { ...chatAnswer, choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }] },
})
export const messagesSaying = (text: string): Script => ({
  body: { ...messagesAnswer, content: [{ type: 'text', text }] },
})
