import { MessageStream } from '@anthropic-ai/sdk/lib/MessageStream'
import { ChatCompletionStream } from 'openai/lib/ChatCompletionStream'
import { ResponseStream } from 'openai/lib/responses/ResponseStream'
import { isObject } from '../../engine/kit.ts'
import type { Json, JsonObject } from '../../engine/index.ts'
import { framesOf } from './files.ts'
import type { Client } from './pairs.ts'

/** The field of a client's request that holds the conversation. */
export function fieldOf(client: Client): 'messages' | 'input' | 'contents' {
  if (client === 'gemini') return 'contents'
  return client === 'responses' ? 'input' : 'messages'
}

/** A request whose conversation says `reply` where it has `"$reply"`. */
export function replayed(client: Client, request: JsonObject, reply: readonly Json[]): JsonObject {
  const field = fieldOf(client)
  if (!Array.isArray(request[field])) return request
  const turns = (request[field] as Json[]).flatMap((turn) => (turn === '$reply' ? reply : [turn]))
  return { ...request, [field]: turns }
}

/** What a client adds to the conversation of a whole answer. */
export function said(client: Client, body: JsonObject): readonly Json[] {
  if (client === 'responses') return body['output'] as Json[]
  if (client === 'messages') return [{ role: 'assistant', content: body['content'] ?? null }]
  if (client === 'gemini') return [contentOf(body)]
  const [choice] = body['choices'] as JsonObject[]
  return [choice?.['message'] ?? null]
}

/** The same of a stream, as the official client library accumulates it. */
export async function accumulated(client: Client, stream: string): Promise<readonly Json[]> {
  // Its chats keep every chunk as it came.
  if (client === 'gemini') return framesOf(stream).flatMap(({ data }) => (isObject(data) ? [contentOf(data)] : []))
  const lines = framesOf(stream).flatMap(({ data }) => (isObject(data) ? `${JSON.stringify(data)}\n` : []))
  const readable = new Blob([lines.join('')]).stream() as ReadableStream
  switch (client) {
    case 'chat':
      return [plain(await ChatCompletionStream.fromReadableStream(readable).finalMessage())]
    case 'messages':
      return said(client, plain(await MessageStream.fromReadableStream(readable).finalMessage()) as JsonObject)
    case 'responses':
      return said(client, plain(await ResponseStream.fromReadableStream(readable).finalResponse()) as JsonObject)
  }
}

function contentOf({ candidates }: JsonObject): Json {
  const [candidate] = (candidates ?? []) as JsonObject[]
  return candidate?.['content'] ?? null
}

function plain(value: unknown): Json {
  return JSON.parse(JSON.stringify(value)) as Json
}
