import type { Json } from '../../engine/index.ts'
import { connect } from '../engine/http/socket-client.ts'
import type { SocketClient } from '../engine/http/socket-client.ts'
import { startGateway } from '../support/gateway.ts'
import type { RunningGateway, GatewaySettings } from '../support/gateway.ts'
import { scriptedUpstream } from '../support/upstream.ts'
import type { ScriptedUpstream } from '../support/upstream.ts'
import { responsesAnswer } from './streams.ts'
import type { ScriptedFrame } from './streams.ts'

/** A frame of a responses socket, as far as tests look into it. */
export interface Heard {
  readonly type: string
  readonly sequence_number: number
  readonly stream_id?: string
  readonly status?: number
  readonly delta?: string
  readonly error?: { readonly type: string; readonly code: string; readonly message: string; readonly param: unknown }
  readonly response?: {
    readonly id: string
    readonly status: string
    readonly model: string
    readonly output: readonly Record<string, unknown>[]
    readonly usage: Record<string, unknown> | null
  }
}

const terminal = new Set(['error', 'response.completed', 'response.incomplete', 'response.failed'])

/** One client of `WS /v1/responses`. */
export interface Session extends SocketClient {
  /** Sends a `response.create` with these fields. */
  create(fields: object): void
  /** The next frame. */
  frame(): Promise<Heard>
  /** Sends a message and answers its frames, up to the terminal one. */
  turn(message: object | string): Promise<readonly Heard[]>
}

export async function openSession(
  gateway: RunningGateway,
  headers: Record<string, string> = {},
  path = '/v1/responses',
): Promise<Session> {
  const client = await connect(gateway, path, { headers })
  const frame = async () => (await client.nextJson()) as Heard
  return {
    ...client,
    frame,
    create: (fields) => client.send({ type: 'response.create', ...fields }),
    async turn(message) {
      client.send(typeof message === 'string' ? message : { type: 'response.create', ...message })
      const frames = [await frame()]
      while (!terminal.has(frames.at(-1)?.type ?? '')) frames.push(await frame())
      return frames
    },
  }
}

/** A gateway before one scripted upstream, which is a provider of each of the three kinds. */
export interface Service {
  readonly gateway: RunningGateway
  readonly upstream: ScriptedUpstream
  close(): Promise<void>
}

export async function startService(settings: Partial<GatewaySettings> = {}): Promise<Service> {
  const upstream = await scriptedUpstream()
  const at = { base_url: upstream.url, api_key: 'upstream-key' }
  const gateway = await startGateway({
    providers: [
      { name: 'family', type: 'compatible', ...at },
      { name: 'vendor', type: 'native', ...at, conversations: 'vendor' },
      { name: 'other', type: 'messages', ...at },
    ],
    models: [
      { name: 'chat', provider: 'family', upstream_model: 'vendor-model' },
      { name: 'responses', provider: 'vendor', upstream_model: 'vendor-model', protocols: ['responses'] },
      { name: 'messages', provider: 'other', upstream_model: 'vendor-model' },
    ],
    ...settings,
  })
  return {
    gateway,
    upstream,
    async close() {
      await gateway.close()
      await upstream.close()
    },
  }
}

/** What Codex says with every request. */
export const codexFields = {
  stream: true,
  store: false,
  include: ['reasoning.encrypted_content'],
  tool_choice: 'auto',
  parallel_tool_calls: true,
  reasoning: { summary: 'auto' },
  prompt_cache_key: 'thread',
  client_metadata: { 'x-codex-window-id': 'w' },
  tools: [{ type: 'function', name: 'look', strict: false, parameters: { type: 'object', properties: {} } }],
}

/** A message of the input. */
export function message(role: 'developer' | 'user', text: string) {
  return { type: 'message', role, id: `msg_${role}`, content: [{ type: 'input_text', text }] }
}

const input = '{"at":1}'
const chunk = (delta: Json, finish: string | null = null): ScriptedFrame => ({
  data: {
    id: 'c',
    object: 'chat.completion.chunk',
    created: 1,
    model: 'm',
    choices: [{ index: 0, delta, finish_reason: finish }],
  },
})
const event = (data: { readonly type: string; readonly [key: string]: Json }): ScriptedFrame => ({
  event: data.type,
  data,
})
const item = {
  type: 'function_call',
  id: 'fc_1',
  call_id: 'call_1',
  name: 'look',
  status: 'completed',
  arguments: input,
}
const started = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'm',
  content: [],
  stop_reason: null,
  stop_sequence: null,
}
const usage = { input_tokens: 9, output_tokens: 4 }

/** A streamed call of the tool `look` by each kind of upstream. */
export const calls: Readonly<Record<string, readonly ScriptedFrame[]>> = {
  chat: [
    chunk({
      role: 'assistant',
      tool_calls: [{ index: 0, id: 'call_1', type: 'function', function: { name: 'look', arguments: input } }],
    }),
    chunk({}, 'tool_calls'),
    '[DONE]',
  ],
  messages: [
    event({ type: 'message_start', message: { ...started, usage } }),
    event({
      type: 'content_block_start',
      index: 0,
      content_block: { type: 'tool_use', id: 'call_1', name: 'look', input: {} },
    }),
    event({ type: 'content_block_delta', index: 0, delta: { type: 'input_json_delta', partial_json: input } }),
    event({ type: 'content_block_stop', index: 0 }),
    event({ type: 'message_delta', delta: { stop_reason: 'tool_use', stop_sequence: null }, usage }),
    event({ type: 'message_stop' }),
  ],
  responses: [
    event({
      type: 'response.created',
      sequence_number: 0,
      response: { ...responsesAnswer, status: 'in_progress', output: [] },
    }),
    event({
      type: 'response.output_item.added',
      sequence_number: 1,
      output_index: 0,
      item: { ...item, arguments: '' },
    }),
    event({
      type: 'response.function_call_arguments.delta',
      sequence_number: 2,
      item_id: 'fc_1',
      output_index: 0,
      delta: input,
    }),
    event({ type: 'response.output_item.done', sequence_number: 3, output_index: 0, item }),
    event({ type: 'response.completed', sequence_number: 4, response: { ...responsesAnswer, output: [item] } }),
  ],
}
