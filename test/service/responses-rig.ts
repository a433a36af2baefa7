import type OpenAI from 'openai'
import type { JsonObject } from '../../engine/index.ts'
import { text } from '../golden/files.ts'
import { openai } from '../support/clients.ts'
import { startGateway } from '../support/gateway.ts'
import type { RunningGateway } from '../support/gateway.ts'
import { scriptedUpstream } from '../support/upstream.ts'
import type { Script, ScriptedUpstream } from '../support/upstream.ts'

/** The kinds of upstream that a responses client may have before it, each behind a model of that name. */
export const kinds = ['native', 'compatible', 'messages'] as const
export type Kind = (typeof kinds)[number]

/** What an upstream of each kind speaks. */
export const spoken = { native: 'responses', compatible: 'chat', messages: 'messages' } as const

/** Where an upstream of each kind is asked. */
export const routes = { native: '/v1/responses', compatible: '/v1/chat/completions', messages: '/v1/messages' } as const

/**
 * A gateway with a model of each kind, answered by one script, and the official client before it. Of each model there is
 * one whose provider may not be silent for long: `hasty-native` and so on.
 */
export class Rig {
  upstream!: ScriptedUpstream
  gateway!: RunningGateway
  client!: OpenAI

  /** Opens all of it before the tests of the calling `describe`, and closes it after. */
  constructor() {
    before(async () => {
      this.upstream = await scriptedUpstream()
      const at = { base_url: this.upstream.url, api_key: 'upstream-key' }
      const hasty = { ...at, timeouts: { idle: '500ms' } }
      this.gateway = await startGateway({
        server_config: { request_policy: { lost_content: 'describe' } },
        providers: [
          { name: 'vendor', type: 'native', ...at },
          { name: 'family', type: 'compatible', ...at },
          { name: 'other', type: 'messages', ...at },
          { name: 'hasty-vendor', type: 'native', ...hasty },
          { name: 'hasty-family', type: 'compatible', ...hasty },
          { name: 'hasty-other', type: 'messages', ...hasty },
          { name: 'echo', type: 'echo' },
          { name: 'failing', type: 'echo', fail: { after: 2 } },
        ],
        models: [
          { name: 'native', provider: 'vendor', protocols: ['responses'], upstream_model: 'upstream-1' },
          { name: 'compatible', provider: 'family', upstream_model: 'upstream-1' },
          { name: 'messages', provider: 'other', upstream_model: 'upstream-1' },
          { name: 'hasty-native', provider: 'hasty-vendor', protocols: ['responses'], upstream_model: 'upstream-1' },
          { name: 'hasty-compatible', provider: 'hasty-family', upstream_model: 'upstream-1' },
          { name: 'hasty-messages', provider: 'hasty-other', upstream_model: 'upstream-1' },
          { name: 'echo', provider: 'echo' },
          { name: 'failing', provider: 'failing' },
        ],
      })
      this.client = openai(this.gateway)
    })
    after(async () => {
      await this.gateway.close()
      await this.upstream.close()
    })
  }

  /** The upstream answers with a golden answer from now on, whole or streamed as it is asked. */
  answer(kind: Kind, name: string): void {
    const file = `answers/${name}.${spoken[kind]}`
    this.upstream.answer(({ body }): Script => {
      const stream = (JSON.parse(body.toString()) as JsonObject)['stream'] === true
      return {
        headers: { 'content-type': stream ? 'text/event-stream' : 'application/json' },
        chunks: [text(`${file}.${stream ? 'frames.txt' : 'json'}`)],
      }
    })
  }

  /** The body that the upstream got last. */
  asked(): JsonObject {
    return JSON.parse(this.upstream.requests.at(-1)?.body.toString() ?? '') as JsonObject
  }

  /** The bytes of a streamed answer. */
  async streamed(model: string, body: object = {}): Promise<string> {
    const response = await this.gateway.post('/v1/responses', { model, input: 'hello', stream: true, ...body })
    return response.text()
  }
}
