import type { LLMock } from '@copilotkit/aimock'
import { expect } from 'chai'
import { startGateway } from '../support/gateway.ts'
import type { RunningGateway } from '../support/gateway.ts'
import { startMock } from '../support/mock.ts'
import type { Mock } from '../support/mock.ts'

/** The kinds of upstream, each behind a model of that name. */
export const kinds = ['native-chat', 'native-responses', 'compatible', 'messages'] as const
export type Kind = (typeof kinds)[number]

const vendor = 'gpt-5-2026'
const upstreamModels: Readonly<Record<Kind, string>> = {
  'native-chat': vendor,
  'native-responses': vendor,
  compatible: 'o3-mini',
  messages: 'claude-sonnet-4-5',
}

/** The provider's own name for the model of a kind. */
export function upstreamModel(kind: Kind): string {
  return upstreamModels[kind]
}

/** A one-pixel PNG. */
export const pixel = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

/** JSON Schema of the person that `describe` asks for. */
export const person = {
  type: 'object',
  properties: { name: { type: 'string' }, age: { type: 'integer' } },
  required: ['name', 'age'],
  additionalProperties: false,
} as const

/** JSON Schema of what the tool of the weather takes. */
export const place = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] } as const

const usage = { prompt_tokens: 11, completion_tokens: 7 }

/** What the mock answers, by a word of the last user message; the same in every protocol. */
export function teach(mock: LLMock): void {
  mock.on({ userMessage: 'hello' }, { content: 'Hello there, dear user.', usage }, { chunkSize: 5 })
  mock.on(
    { userMessage: 'weather', hasToolResult: false },
    {
      toolCalls: [
        { id: 'call_oslo', name: 'get_weather', arguments: '{"city":"Oslo"}' },
        { id: 'call_rome', name: 'get_weather', arguments: '{"city":"Rome"}' },
      ],
      usage,
    },
    { chunkSize: 4 },
  )
  mock.on({ userMessage: 'weather', hasToolResult: true }, { content: 'Oslo 3, Rome 18.', usage })
  mock.on({ userMessage: 'picture' }, { content: 'One pixel.', usage })
  mock.on({ userMessage: 'describe' }, { content: { name: 'Ada', age: 36 }, usage })
  mock.on({ userMessage: 'essay' }, { content: 'Once upon', finishReason: 'length', usage })
  mock.on(
    { userMessage: 'think' },
    { content: 'Forty-two.', reasoning: 'Six by seven.', reasoningSignature: 'signed-by-the-vendor', usage },
    { chunkSize: 5 },
  )
  mock.on({ userMessage: 'sure?' }, { content: 'Quite sure.', usage })
}

/** A gateway with a model of every kind, all answered by one mock, and the model `echo`. */
export interface Conversation {
  readonly gateway: RunningGateway
  readonly mock: Mock
  close(): Promise<void>
}

export async function startConversation(): Promise<Conversation> {
  const mock = await startMock()
  teach(mock.mock)
  const at = { base_url: mock.url, api_key: 'upstream-key' }
  const gateway = await startGateway({
    providers: [
      { name: 'echo', type: 'echo' },
      { name: 'vendor', type: 'native', ...at },
      { name: 'family', type: 'compatible', ...at },
      { name: 'other', type: 'messages', ...at },
    ],
    models: [
      { name: 'echo', provider: 'echo' },
      modelOf('native-chat', 'vendor', ['chat']),
      modelOf('native-responses', 'vendor', ['responses']),
      modelOf('compatible', 'family'),
      modelOf('messages', 'other'),
    ],
  })
  return {
    gateway,
    mock,
    async close() {
      await gateway.close()
      await mock.close()
      for (const { headers, body } of mock.asked) {
        expect(known).to.include.members(Object.keys(headers))
        expect(headers.authorization ?? headers['x-api-key']).to.match(/^(Bearer )?upstream-key$/)
        expect(JSON.stringify(headers) + String(body)).not.to.include(gateway.key)
      }
    },
  }
}

/** Headers that a provider may get. Whatever else a client sends is for the gateway alone. */
const known = [
  'host',
  'connection',
  'content-type',
  'content-length',
  'accept',
  'accept-encoding',
  'user-agent',
  'authorization',
  'x-api-key',
  'anthropic-version',
  'anthropic-beta',
]

function modelOf(name: Kind, provider: string, protocols?: readonly string[]): object {
  return { name, provider, upstream_model: upstreamModel(name), ...(protocols ? { protocols } : {}) }
}

interface ToolResults {
  readonly content: readonly { readonly tool_use_id: string; readonly content: unknown }[]
}

/** Call ids and texts of the tool results that a provider was sent. */
export function resultsIn(kind: Kind, body: Record<string, unknown>): unknown {
  if (kind === 'native-responses')
    return (body.input as Record<string, unknown>[])
      .filter(({ type }) => type === 'function_call_output')
      .map(({ call_id: id, output }) => [id, output])
  const messages = body.messages as { role: string; content: unknown; tool_call_id?: string }[]
  if (kind === 'messages')
    return (messages.at(-1) as ToolResults).content.map(({ tool_use_id: id, content }) => [
      id,
      typeof content === 'string' ? content : (content as { text: string }[]).map(({ text }) => text).join(''),
    ])
  return messages.filter(({ role }) => role === 'tool').map(({ tool_call_id: id, content }) => [id, content])
}

/** The part of the first message after its text. */
export function pictureIn(kind: Kind, body: Record<string, unknown>): unknown {
  const [message] = (kind === 'native-responses' ? body.input : body.messages) as { content: unknown[] }[]
  return message?.content[1]
}

const url = `data:image/png;base64,${pixel}`
/** `pixel` as a provider of each kind is sent it. */
export const pictures: Record<Kind, object> = {
  'native-chat': { type: 'image_url', image_url: { url } },
  compatible: { type: 'image_url', image_url: { url } },
  'native-responses': { type: 'input_image', image_url: url },
  messages: { type: 'image', source: { type: 'base64', media_type: 'image/png', data: pixel } },
}
