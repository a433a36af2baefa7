import { FrameDecoder, parsedObject } from '../../engine/kit.ts'
import type { JsonObject } from '../../engine/index.ts'
import type { RequestsTable } from '../../plugins/request-log/table.ts'
import { startGateway } from '../support/gateway.ts'
import type { GatewaySettings, RunningGateway } from '../support/gateway.ts'
import { scriptedUpstream } from '../support/upstream.ts'
import type { Script, ScriptedUpstream } from '../support/upstream.ts'
import { blockOf, chatChunk, chatDone, chatUsage, geminiChunk, messageOf, responseUsage, typed } from './frames.ts'
import type { Frame } from './frames.ts'

/** The protocols that clients and upstreams speak here. */
export const protocols = ['chat', 'messages', 'responses', 'gemini'] as const
export type Protocol = (typeof protocols)[number]

/** The upstreams that a client is served by: of its own protocol, and of another. */
export const lanes = (client: Protocol): readonly Protocol[] => [client, client === 'chat' ? 'messages' : 'chat']

/** What an upstream says: pieces of its text, of its reasoning, or of the arguments of a call. */
export interface Said {
  readonly text?: readonly string[]
  readonly reasoning?: readonly string[]
  readonly call?: readonly string[]
}

/** A streamed answer of each protocol. */
export const streamOf: Readonly<Record<Protocol, (said: Said) => readonly Frame[]>> = {
  chat({ text = [], reasoning = [], call = [] }) {
    const calls = call.map((piece, at) =>
      chatChunk({
        tool_calls: [
          {
            index: 0,
            ...(at === 0 ? { id: 'call_1', type: 'function' } : {}),
            function: { ...(at === 0 ? { name: 'send' } : {}), arguments: piece },
          },
        ],
      }),
    )
    return [
      chatChunk({ role: 'assistant', content: '' }),
      ...reasoning.map((piece) => chatChunk({ reasoning_content: piece })),
      ...text.map((piece) => chatChunk({ content: piece })),
      ...calls,
      chatChunk({}, { finish_reason: call.length > 0 ? 'tool_calls' : 'stop' }),
      chatUsage({ prompt_tokens: 9, completion_tokens: 4, total_tokens: 13 }),
      chatDone,
    ]
  },
  messages({ text = [], reasoning = [], call = [] }) {
    const blocks = [
      ...(reasoning.length > 0
        ? [
            [
              { type: 'thinking', thinking: '', signature: '' },
              [
                ...reasoning.map((piece) => ({ type: 'thinking_delta', thinking: piece })),
                { type: 'signature_delta', signature: 'c2lnbmF0dXJl' },
              ],
            ] as const,
          ]
        : []),
      ...(text.length > 0
        ? [[{ type: 'text', text: '' }, text.map((piece) => ({ type: 'text_delta', text: piece }))] as const]
        : []),
      ...(call.length > 0
        ? [
            [
              { type: 'tool_use', id: 'toolu_1', name: 'send', input: {} },
              call.map((piece) => ({ type: 'input_json_delta', partial_json: piece })),
            ] as const,
          ]
        : []),
    ]
    return messageOf(
      blocks.flatMap(([content, deltas], index) => blockOf(index, content, deltas)),
      call.length > 0 ? 'tool_use' : 'end_turn',
    )
  },
  responses({ text = [], reasoning = [], call = [] }) {
    let sequence = 0
    const event = (type: string, more: JsonObject) => typed({ type, sequence_number: sequence++, ...more })
    const output: JsonObject[] = []
    const response = (status: string, more: JsonObject = {}) => ({
      id: 'resp_1',
      object: 'response',
      created_at: 1,
      status,
      model: 'm',
      output: status === 'completed' ? output : [],
      ...more,
    })
    const frames: Frame[] = [event('response.created', { response: response('in_progress') })]
    const place = () => ({ output_index: output.length })
    if (reasoning.length > 0) {
      const at = { ...place(), item_id: 'rs_1', summary_index: 0 }
      const whole = reasoning.join('')
      frames.push(
        event('response.output_item.added', { ...place(), item: { id: 'rs_1', type: 'reasoning', summary: [] } }),
        event('response.reasoning_summary_part.added', { ...at, part: { type: 'summary_text', text: '' } }),
        ...reasoning.map((delta) => event('response.reasoning_summary_text.delta', { ...at, delta })),
        event('response.reasoning_summary_text.done', { ...at, text: whole }),
        event('response.reasoning_summary_part.done', { ...at, part: { type: 'summary_text', text: whole } }),
      )
      const item = { id: 'rs_1', type: 'reasoning', summary: [{ type: 'summary_text', text: whole }] }
      frames.push(event('response.output_item.done', { ...place(), item }))
      output.push(item)
    }
    if (text.length > 0) {
      const at = { ...place(), item_id: 'msg_1', content_index: 0 }
      const whole = text.join('')
      const part = { type: 'output_text', text: whole, annotations: [] }
      const item = { id: 'msg_1', type: 'message', role: 'assistant', status: 'completed', content: [part] }
      frames.push(
        event('response.output_item.added', { ...place(), item: { ...item, status: 'in_progress', content: [] } }),
        event('response.content_part.added', { ...at, part: { ...part, text: '' } }),
        ...text.map((delta) => event('response.output_text.delta', { ...at, delta })),
        event('response.output_text.done', { ...at, text: whole }),
        event('response.content_part.done', { ...at, part }),
        event('response.output_item.done', { ...place(), item }),
      )
      output.push(item)
    }
    if (call.length > 0) {
      const at = { ...place(), item_id: 'fc_1' }
      const whole = call.join('')
      const item = { id: 'fc_1', type: 'function_call', call_id: 'call_1', name: 'send', status: 'completed' }
      frames.push(
        event('response.output_item.added', { ...place(), item: { ...item, arguments: '', status: 'in_progress' } }),
        ...call.map((delta) => event('response.function_call_arguments.delta', { ...at, delta })),
        event('response.function_call_arguments.done', { ...at, arguments: whole }),
        event('response.output_item.done', { ...place(), item: { ...item, arguments: whole } }),
      )
      output.push({ ...item, arguments: whole })
    }
    frames.push(event('response.completed', { response: response('completed', { usage: responseUsage }) }))
    return frames
  },
  gemini({ text = [], reasoning = [], call = [] }) {
    const usageMetadata = { promptTokenCount: 9, candidatesTokenCount: 4, totalTokenCount: 13 }
    const chunk = (parts: readonly JsonObject[], candidate: JsonObject = {}) =>
      geminiChunk(parts, candidate, { usageMetadata })
    const called =
      call.length > 0
        ? [chunk([{ functionCall: { name: 'send', args: JSON.parse(call.join('')) as JsonObject } }])]
        : []
    return [
      ...reasoning.map((piece) => chunk([{ text: piece, thought: true }])),
      ...text.map((piece) => chunk([{ text: piece }])),
      ...called,
      chunk([{ text: '' }], { finishReason: 'STOP' }),
    ]
  },
}

/** A whole answer of each protocol. */
export const wholeOf: Readonly<Record<Protocol, (said: Said) => JsonObject>> = {
  chat({ text = [], reasoning = [], call = [] }) {
    const calls = [{ id: 'call_1', type: 'function', function: { name: 'send', arguments: call.join('') } }]
    const message = {
      role: 'assistant',
      content: text.length > 0 ? text.join('') : null,
      ...(reasoning.length > 0 ? { reasoning_content: reasoning.join('') } : {}),
      ...(call.length > 0 ? { tool_calls: calls } : {}),
    }
    return {
      id: 'c',
      object: 'chat.completion',
      created: 1,
      model: 'm',
      choices: [{ index: 0, message, finish_reason: call.length > 0 ? 'tool_calls' : 'stop' }],
      usage: { prompt_tokens: 9, completion_tokens: 4, total_tokens: 13 },
    }
  },
  messages({ text = [], reasoning = [], call = [] }) {
    return {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: 'm',
      content: [
        ...(reasoning.length > 0
          ? [{ type: 'thinking', thinking: reasoning.join(''), signature: 'c2lnbmF0dXJl' }]
          : []),
        ...(text.length > 0 ? [{ type: 'text', text: text.join('') }] : []),
        ...(call.length > 0
          ? [{ type: 'tool_use', id: 'toolu_1', name: 'send', input: JSON.parse(call.join('')) as JsonObject }]
          : []),
      ],
      stop_reason: call.length > 0 ? 'tool_use' : 'end_turn',
      stop_sequence: null,
      usage: { input_tokens: 9, output_tokens: 4 },
    }
  },
  responses(said) {
    const last = streamOf.responses(said).at(-1)
    const { response } = parsedObject(last?.data ?? '') as { readonly response: JsonObject }
    return response
  },
  gemini({ text = [], reasoning = [], call = [] }) {
    const parts = [
      ...(reasoning.length > 0 ? [{ text: reasoning.join(''), thought: true }] : []),
      ...(text.length > 0 ? [{ text: text.join('') }] : []),
      ...(call.length > 0 ? [{ functionCall: { name: 'send', args: JSON.parse(call.join('')) as JsonObject } }] : []),
    ]
    return {
      candidates: [{ content: { role: 'model', parts }, index: 0, finishReason: 'STOP' }],
      usageMetadata: { promptTokenCount: 9, candidatesTokenCount: 4, totalTokenCount: 13 },
      modelVersion: 'm',
      responseId: 'r',
    }
  },
}

/** An answer of a protocol, streamed or whole. */
export function answerOf(protocol: Protocol, said: Said, stream: boolean): Script {
  return stream ? { frames: streamOf[protocol](said) } : { body: wholeOf[protocol](said) }
}

/** How a client of each protocol asks. */
export function askOf(
  protocol: Protocol,
  { model, stream, text = 'Hi' }: { readonly model: string; readonly stream: boolean; readonly text?: string },
): { readonly path: string; readonly body: JsonObject } {
  switch (protocol) {
    case 'chat':
      return { path: '/v1/chat/completions', body: { model, stream, messages: [{ role: 'user', content: text }] } }
    case 'messages':
      return {
        path: '/v1/messages',
        body: { model, stream, max_tokens: 99, messages: [{ role: 'user', content: text }] },
      }
    case 'responses':
      return { path: '/v1/responses', body: { model, stream, input: text, store: false } }
    case 'gemini':
      return {
        path: `/v1beta/models/${model}:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
        body: {
          contents: [{ role: 'user', parts: [{ text }] }],
          generationConfig: { thinkingConfig: { includeThoughts: true } },
        },
      }
  }
}

/** What a client got. */
export interface Got {
  readonly status: number
  readonly headers: Headers
  readonly body: string
  /** The data of its frames, or its body. */
  readonly data: readonly JsonObject[]
  /** Everything that it was told as text, reasoning or arguments, in order, without the JSON around it. */
  readonly text: string
}

/** A gateway with guards before an upstream that speaks all four protocols. */
export class Rig {
  upstream!: ScriptedUpstream
  gateway!: RunningGateway

  /** Opens it before the tests of the calling `describe`, and closes it after. */
  constructor(settings: (upstream: ScriptedUpstream) => Partial<GatewaySettings> | Promise<Partial<GatewaySettings>>) {
    before(async () => {
      this.upstream = await scriptedUpstream()
      const at = { base_url: this.upstream.url, api_key: 'k' }
      const { providers = [], models = [], ...more } = await settings(this.upstream)
      const pricing = { input: 1, output: 2 }
      this.gateway = await startGateway({
        providers: [
          { name: 'chat', type: 'compatible', ...at },
          { name: 'messages', type: 'messages', ...at },
          { name: 'responses', type: 'native', ...at },
          { name: 'gemini', type: 'gemini', ...at },
          ...providers,
        ],
        models: [
          ...protocols.map((name) => ({
            name,
            provider: name,
            supports_tools: true,
            ...(name === 'gemini' ? {} : { protocols: [name] }),
            pricing,
          })),
          ...models,
        ],
        ...more,
      })
    })
    after(async () => {
      await this.gateway.close()
      await this.upstream.close()
    })
  }

  /** Asks in one protocol for the model of another. */
  async ask(
    client: Protocol,
    model: string,
    { stream = false, text = 'Hi', headers = {}, body = {} }: AskOptions = {},
  ): Promise<Got> {
    const asked = askOf(client, { model, stream, text })
    const response = await this.gateway.post(asked.path, { ...asked.body, ...body }, headers)
    return gotOf(response)
  }

  /** The body of the last request that the upstream got. */
  asked(): string {
    return String(this.upstream.requests.at(-1)?.body ?? '')
  }

  /** The row of an answer. */
  rowOf({ headers }: Pick<Got, 'headers'>): Promise<RequestsTable> {
    return this.gateway.row(({ id }) => id === headers.get('x-request-id'))
  }

  /** What the row of an answer tells of each guard. */
  async verdictsOf(answer: Pick<Got, 'headers'>): Promise<readonly JsonObject[]> {
    const { guards = [] } = JSON.parse((await this.rowOf(answer)).metadata) as { guards?: readonly JsonObject[] }
    return guards
  }
}

export interface AskOptions {
  readonly stream?: boolean
  readonly text?: string
  readonly headers?: Record<string, string>
  readonly body?: JsonObject
}

async function gotOf(response: Response): Promise<Got> {
  const body = await response.text()
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') ?? false
  const decoder = new FrameDecoder()
  const frames = isStream ? [...decoder.push(Buffer.from(body)), ...decoder.end()].map(({ data }) => data) : [body]
  const data = frames.map((one) => parsedObject(one)).filter((one) => one !== undefined)
  return { status: response.status, headers: response.headers, body, data, text: textIn(data) }
}

/** The pieces of text in frames: of streams those of deltas alone, which repeat nothing. */
function textIn(data: readonly JsonObject[]): string {
  return data.map((one) => piecesIn(one).join('')).join('')
}

function piecesIn(value: unknown): readonly string[] {
  const one = value as {
    readonly type?: string
    readonly delta?: unknown
    readonly choices?: readonly { readonly delta?: JsonObject; readonly message?: JsonObject }[]
    readonly candidates?: readonly { readonly content?: { readonly parts?: readonly JsonObject[] } }[]
    readonly content?: readonly JsonObject[]
    readonly output?: readonly JsonObject[]
  }
  if (one.choices)
    return one.choices.flatMap(({ delta, message }) => {
      const said = (delta ?? message ?? {}) as Record<string, unknown>
      const calls = (said['tool_calls'] ?? []) as readonly { readonly function?: { readonly arguments?: string } }[]
      return [said['reasoning_content'], said['content'], ...calls.map((call) => call.function?.arguments)].map(
        (piece) => (typeof piece === 'string' ? piece : ''),
      )
    })
  if (one.candidates)
    return one.candidates.flatMap(({ content }) =>
      (content?.parts ?? []).map((part) =>
        typeof part['text'] === 'string' ? part['text'] : JSON.stringify(part['functionCall'] ?? ''),
      ),
    )
  if (typeof one.delta === 'string') return [one.delta]
  if (typeof one.delta === 'object' && one.delta !== null) {
    const { text, thinking, partial_json: json } = one.delta as Record<string, unknown>
    return [text, thinking, json].map((piece) => (typeof piece === 'string' ? piece : ''))
  }
  const parts = one.content ?? one.output
  return Array.isArray(parts) && (one.type === 'message' || one.output) ? [JSON.stringify(parts)] : []
}
