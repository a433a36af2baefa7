import { setTimeout as sleep } from 'node:timers/promises'
import type { Context } from 'mocha'
import OpenAI from 'openai'
import type { Response as Answer } from 'openai/resources/responses/responses'
import { startGateway } from '../support/gateway.ts'
import type { RunningGateway, GatewaySettings } from '../support/gateway.ts'
import { redis } from '../support/services.ts'
import type { Service } from '../support/services.ts'
import { scriptedUpstream } from '../support/upstream.ts'
import type { Script, ScriptedUpstream } from '../support/upstream.ts'

/** The kinds of upstream that can answer a response, each the name of a model, too. */
export const kinds = ['responses', 'chat', 'messages'] as const
export type Kind = (typeof kinds)[number]

/** A gateway with a model of every kind, all served by one upstream. */
export function startBackground(
  upstream: ScriptedUpstream,
  url: string | undefined,
  more: Partial<GatewaySettings> = {},
): Promise<RunningGateway> {
  return startGateway({
    ...servedBy(upstream),
    ...(url === undefined ? {} : { key_value: { url } }),
    ...more,
  })
}

/** Such a gateway with a Redis, for the tests of the calling `describe`, which are skipped where there is none. */
export class BackgroundRig {
  upstream!: ScriptedUpstream
  gateway!: RunningGateway

  constructor(settings: Partial<GatewaySettings> = {}) {
    let service: Service | undefined
    const open = async (context: Context) => {
      service = await redis(context)
      this.upstream = await scriptedUpstream()
      this.gateway = await startBackground(this.upstream, service.url, settings)
    }
    before(function () {
      return open(this)
    })
    after(async () => {
      await this.gateway?.close()
      await this.upstream?.close()
      await service?.stop()
    })
  }
}

/** Providers and models of every kind, in the words of the configuration file. */
export function servedBy({ url }: ScriptedUpstream) {
  const at = { base_url: `${url}/v1`, api_key: 'upstream-key' }
  return {
    providers: [
      { name: 'responses', type: 'native', ...at },
      { name: 'chat', type: 'compatible', ...at },
      { name: 'messages', type: 'messages', ...at },
    ],
    models: kinds.map((name) => ({ name, provider: name, upstream_model: `${name}-2026` })),
  }
}

/** What an upstream of a kind answers with a text; `cut`: its limit of tokens was reached. */
export function says(kind: Kind, words: string, cut = false): Script {
  return { body: bodies[kind](words, cut) }
}

const bodies: Readonly<Record<Kind, (words: string, cut: boolean) => NonNullable<Script['body']>>> = {
  responses: (text, cut) => ({
    id: 'resp_theirs',
    object: 'response',
    created_at: 1,
    status: cut ? 'incomplete' : 'completed',
    error: null,
    incomplete_details: cut ? { reason: 'max_output_tokens' } : null,
    model: 'responses-2026',
    output: [
      {
        id: 'msg_theirs',
        type: 'message',
        role: 'assistant',
        status: cut ? 'incomplete' : 'completed',
        content: [{ type: 'output_text', text, annotations: [], logprobs: [] }],
      },
    ],
    usage: {
      input_tokens: 11,
      input_tokens_details: { cached_tokens: 0 },
      output_tokens: 7,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: 18,
    },
  }),
  chat: (content, cut) => ({
    id: 'chatcmpl-theirs',
    object: 'chat.completion',
    created: 1,
    model: 'chat-2026',
    choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: cut ? 'length' : 'stop' }],
    usage: { prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 },
  }),
  messages: (text, cut) => ({
    id: 'msg_theirs',
    type: 'message',
    role: 'assistant',
    model: 'messages-2026',
    content: [{ type: 'text', text }],
    stop_reason: cut ? 'max_tokens' : 'end_turn',
    stop_sequence: null,
    usage: { input_tokens: 11, output_tokens: 7 },
  }),
}

/** The official client. It tries again as it does by default. */
export function client({ url, key }: Pick<RunningGateway, 'url' | 'key'>): OpenAI {
  return new OpenAI({ baseURL: `${url}/v1`, apiKey: key })
}

/** Asks for a response until it has ended. */
export async function ended(openai: OpenAI, id: string): Promise<Answer> {
  for (;;) {
    const response = await openai.responses.retrieve(id)
    if (response.status !== 'in_progress' && response.status !== 'queued') return response
    await sleep(10)
  }
}
