import { channel } from 'node:diagnostics_channel'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { FrameDecoder, parsedObject } from '../../../engine/kit.ts'
import type { Gate, GenerateEvent, HeldEvents, JsonObject, UpstreamAnswer, Verdict } from '../../../engine/index.ts'
import { startGateway } from '../../support/gateway.ts'
import type { GatewaySettings, RunningGateway } from '../../support/gateway.ts'
import { copyPipelines } from '../../support/pipelines.ts'
import type { Pipelines } from '../../support/pipelines.ts'
import { scriptedUpstream } from '../../support/upstream.ts'
import type { Script, ScriptedUpstream } from '../../support/upstream.ts'
import {
  chatAnswer,
  chatFrames,
  messagesAnswer,
  messagesFrames,
  printed,
  responsesAnswer,
  responsesFrames,
} from '../../service/streams.ts'
import type { ScriptedFrame } from '../../service/streams.ts'
import type { RequestsTable } from '../../../plugins/request-log/table.ts'
import type { Act } from './plugin.ts'

const content = [{ role: 'user', content: 'Hi' }]

/** How clients of each protocol ask. */
export const clients = {
  chat: {
    path: () => '/v1/chat/completions',
    body: { messages: content, stream_options: { include_usage: true } },
  },
  messages: { path: () => '/v1/messages', body: { max_tokens: 99, messages: content } },
  responses: { path: () => '/v1/responses', body: { input: 'Hi', store: false } },
  gemini: {
    path: (model: string, stream: boolean) =>
      `/v1beta/models/${model}:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
    body: { contents: [{ role: 'user', parts: [{ text: 'Hi' }] }] },
  },
} as const
export type Client = keyof typeof clients
export const everyClient = Object.keys(clients) as readonly Client[]

/** What the upstream of each kind answers. */
export const frames = { chat: chatFrames, messages: messagesFrames, responses: responsesFrames } as const
export type Kind = keyof typeof frames
export const everyKind = Object.keys(frames) as readonly Kind[]
export const whole: Readonly<Record<Kind, JsonObject>> = {
  chat: chatAnswer,
  messages: messagesAnswer,
  responses: responsesAnswer,
}

/** What a client got. */
export interface Got {
  readonly status: number
  readonly headers: Headers
  readonly body: string
  /** The data of its frames, or the body. */
  readonly data: readonly string[]
  /** Its text. */
  readonly text: string
}

/** Adds `POST /hasty`, where chat completions may take `translate-back` a quarter of a second. */
async function addHasty(folder: string): Promise<void> {
  const usual = await readFile(join(folder, 'generate.yaml'), 'utf8')
  const hasty = usual
    .replace('name: generate', 'name: hasty-generate')
    .replace(/- translate-back.*/, '- { translate-back: {}, timeout: 250ms }')
  await writeFile(join(folder, 'hasty-generate.yaml'), hasty)
  const stages = 'stages: [use: admit, use: hasty-generate]\nfinally: [use: settle]\n'
  const head = 'name: hasty\nsummary: In haste.\nprotocol: chat\nroutes: [POST /hasty]\n'
  await writeFile(join(folder, 'hasty.yaml'), head + stages)
}

/** A gateway in which a test judges the answers, and its upstream. */
export class Rig {
  upstream!: ScriptedUpstream
  gateway!: RunningGateway
  #pipelines: Pipelines | undefined
  /** The exchange that was acted on last. */
  #last = ''
  readonly #forget: (() => void)[] = []

  /** Opens it before the tests of the calling `describe`, closes it after, and forgets the acts of each test. */
  constructor(settings: (upstream: ScriptedUpstream) => Promise<Partial<GatewaySettings>> | object = () => ({})) {
    before(async () => {
      this.upstream = await scriptedUpstream()
      this.#pipelines = await copyPipelines()
      for (const file of ['generate.yaml', 'responses-background.yaml'])
        await this.#pipelines.edit(file, '- answered', '- gate.act\n        - answered')
      await addHasty(this.#pipelines.folder)
      const at = { base_url: this.upstream.url, api_key: 'k' }
      const { providers = [], models = [], ...more } = (await settings(this.upstream)) as Partial<GatewaySettings>
      this.gateway = await startGateway({
        plugins: [join(import.meta.dirname, 'plugin.ts')],
        pipelines: this.#pipelines.folder,
        providers: [
          { name: 'chat', type: 'compatible', ...at },
          { name: 'messages', type: 'messages', ...at },
          { name: 'responses', type: 'native', ...at },
          { name: 'neutral', type: 'neutral' },
          ...providers,
        ],
        models: [
          ...everyKind.map((name) => ({ name, provider: name, protocols: [name], pricing: { input: 1, output: 2 } })),
          { name: 'neutral', provider: 'neutral' },
          { name: 'first', provider: 'chat', fallbacks: ['messages'], pricing: { input: 1, output: 2 } },
          ...models,
        ],
        ...more,
      })
    })
    afterEach(() => {
      for (const forget of this.#forget.splice(0)) forget()
    })
    after(async () => {
      await this.gateway.close()
      await this.#pipelines?.remove()
      await this.upstream.close()
    })
  }

  /** Puts handlers on each answer of this test, or until the returned function is called. */
  act(doing: (answer: UpstreamAnswer, act: Act) => UpstreamAnswer): () => void {
    return this.#hear('test.gate', (message) => {
      const act = message as Act
      this.#last = act.scope.id
      try {
        act.answer = doing(act.answer, act)
      } catch (error) {
        act.error = error
      }
    })
  }

  /** What the provider `neutral` says in this test, or until the returned function is called. */
  says(events: Iterable<GenerateEvent> | AsyncIterable<GenerateEvent>): () => void {
    return this.#hear('test.gate.provider', (message) => Object.assign(message as object, { events }))
  }

  /** The upstream streams these texts, or answers whole, as it is asked. */
  answer(kind: Kind, ...texts: readonly string[]): void {
    this.upstream.answer(({ body }): Script => {
      const { stream } = JSON.parse(body.toString()) as { readonly stream?: boolean }
      return stream === true ? { frames: frames[kind](...texts) } : { body: whole[kind] }
    })
  }

  ask(client: Client, model: string, stream: boolean, signal?: AbortSignal): Promise<Response> {
    const { path, body } = clients[client]
    const { stream_options: options, ...others } = body as JsonObject
    const asked =
      client === 'gemini'
        ? others
        : { ...others, model, stream, ...(stream && options ? { stream_options: options } : {}) }
    return fetch(this.gateway.url + path(model, stream), {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${this.gateway.key}` },
      body: JSON.stringify(asked),
      ...(signal ? { signal } : {}),
    })
  }

  /** The row of the exchange that was acted on last: it is written after its client has heard the end. */
  row(): Promise<RequestsTable> {
    const id = this.#last
    return this.gateway.row((row) => row.id === id)
  }

  /** All that a client gets. */
  async get(client: Client, model: string, stream: boolean): Promise<Got> {
    return got(client, await this.ask(client, model, stream), stream)
  }

  #hear(name: string, listener: (message: unknown) => void): () => void {
    channel(name).subscribe(listener)
    const forget = () => {
      channel(name).unsubscribe(listener)
    }
    this.#forget.push(forget)
    return forget
  }
}

/** Reads what a client was answered. */
export async function got(client: Client, response: Response, stream: boolean): Promise<Got> {
  const body = await response.text()
  const isStream = stream && response.headers.get('content-type')?.startsWith('text/event-stream') === true
  const decoder = new FrameDecoder()
  const data = isStream ? [...decoder.push(Buffer.from(body)), ...decoder.end()].map((frame) => frame.data) : [body]
  const text = data.map((one) => textOf(client, parsedObject(one) ?? {}, isStream)).join('')
  return { status: response.status, headers: response.headers, body, data, text }
}

/** The text of the answer that a body or the data of a frame has. */
function textOf(client: Client, value: JsonObject, stream: boolean): string {
  // oxlint-disable-next-line typescript/no-explicit-any
  const any = value as any
  switch (client) {
    case 'chat':
      return (stream ? any.choices?.[0]?.delta?.content : any.choices?.[0]?.message?.content) ?? ''
    case 'messages':
      return stream
        ? any.type === 'content_block_delta'
          ? (any.delta.text ?? '')
          : ''
        : (any.content ?? []).map((one: { text?: string }) => one.text ?? '').join('')
    case 'responses':
      return stream
        ? any.type === 'response.output_text.delta'
          ? any.delta
          : ''
        : (any.output ?? [])
            .flatMap((one: { content?: readonly { text?: string }[] }) => one.content ?? [])
            .map((one: { text?: string }) => one.text ?? '')
            .join('')
    case 'gemini':
      return (any.candidates?.[0]?.content?.parts ?? []).map((one: { text?: string }) => one.text ?? '').join('')
  }
}

/** The last word of a stream of a client, as it says why it ended. */
export function stopOf(client: Client, { data }: Got): unknown {
  // oxlint-disable-next-line typescript/no-explicit-any
  const all = data.map((one) => (parsedObject(one) ?? {}) as any)
  switch (client) {
    case 'chat':
      return all.findLast((one) => one.choices?.[0]?.finish_reason)?.choices[0].finish_reason
    case 'messages':
      return all.findLast((one) => one.delta?.stop_reason ?? one.stop_reason)?.delta?.stop_reason ?? all[0].stop_reason
    case 'responses': {
      const response = all.findLast((one) => one.response ?? one.status)
      const { status, incomplete_details: why } = response?.response ?? response ?? {}
      return why?.reason ?? status
    }
    case 'gemini':
      return all.findLast((one) => one.candidates?.[0]?.finishReason)?.candidates[0].finishReason
  }
}

/** What each client is told by `{ type: 'finish', stop: 'filter' }`. */
export const filtered: Readonly<Record<Client, string>> = {
  chat: 'content_filter',
  messages: 'refusal',
  responses: 'content_filter',
  gemini: 'SAFETY',
}

/** Whether a stream ended as a failure of its protocol. */
export function hasFailed(client: Client, { data }: Got): boolean {
  const last = parsedObject(data.findLast((one) => one !== '[DONE]') ?? '') ?? {}
  switch (client) {
    case 'chat':
    case 'gemini':
      return last['error'] !== undefined
    case 'messages':
      return last['type'] === 'error'
    case 'responses':
      return last['type'] === 'response.failed'
  }
}

/** A gate that writes down what it is shown. */
export interface Seen extends Gate {
  readonly held: HeldEvents[]
}

type Judge = (held: HeldEvents, signal: AbortSignal, count: number) => Verdict | Promise<Verdict>

const passing: Judge = () => 'pass'

/** A gate of windows of `characters`, which lets pass what `judge` does. */
export function gate(
  given: {
    readonly characters?: number
    readonly time?: number
    readonly overlap?: number
    readonly calls?: boolean
    readonly together?: boolean
  },
  judge: Judge = passing,
): Seen {
  const { characters = Infinity, time = Infinity, ...others } = given
  const held: HeldEvents[] = []
  return {
    ...others,
    window: { characters, time },
    held,
    judge: (one, signal) => judge(one, signal, held.push(one)),
  }
}

/** The same verdict a turn of the event loop later. */
export const later =
  (judge: Judge = passing): Judge =>
  async (...given) => {
    await new Promise((resolve) => setImmediate(resolve))
    return judge(...given)
  }

/** The texts of windows. */
export const textsOf = (held: readonly HeldEvents[]): readonly string[] =>
  held.map(({ texts }) => texts.map(({ text }) => text).join('|'))

export const filter: Verdict = { stop: { type: 'finish', stop: 'filter' } }

/** A stream whose frames a test lets go one step after the other. */
export function stepped(all: readonly ScriptedFrame[]): {
  readonly script: Script
  readonly go: (count?: number) => void
} {
  const steps = all.map(() => Promise.withResolvers<void>())
  let gone = 0
  async function* chunks() {
    for (const [index, frame] of all.entries()) {
      await steps[index]?.promise
      yield printed(frame)
    }
  }
  return {
    script: { headers: { 'content-type': 'text/event-stream' }, chunks: chunks() },
    go(count = Infinity) {
      for (const step of steps.slice(gone, (gone += count))) step.resolve()
    },
  }
}
