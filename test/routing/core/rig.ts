import { join } from 'node:path'
import type { Json, JsonObject } from '../../../engine/index.ts'
import { isObject } from '../../../engine/kit.ts'
import { startGateway } from '../../support/gateway.ts'
import type { GatewaySettings, RunningGateway } from '../../support/gateway.ts'
import { scriptedUpstream } from '../../support/upstream.ts'
import type { ScriptedUpstream } from '../../support/upstream.ts'
import { chatAnswer } from '../../service/streams.ts'

/** A gateway with smart routing, before an upstream that answers for every model. */
export interface Routing {
  readonly gateway: RunningGateway
  readonly upstream: ScriptedUpstream
  /** Sends a chat completion, by default for `auto`. */
  ask(body?: object, headers?: Record<string, string>): Promise<Routed>
  /** The model names that the upstream was asked for, in order. */
  readonly asked: readonly string[]
  close(): Promise<void>
}

/** An answer, and the row of the request. */
export interface Routed {
  readonly status: number
  readonly headers: Headers
  readonly body: JsonObject
  readonly code: Json | undefined
  readonly message: string
  /** The metadata of the row. */
  readonly metadata: JsonObject
  /** The object `routing` of the row. */
  readonly routing: JsonObject
}

const price = (input: number) => ({ input, output: 4 * input })

/** Three models, one of each level, whose costs are far apart. */
export const threeModels = [
  { name: 'small', provider: 'far', quality_tier: 'economy', pricing: price(0.1) },
  { name: 'mid', provider: 'far', quality_tier: 'balanced', pricing: price(1) },
  { name: 'large', provider: 'far', quality_tier: 'premium', pricing: price(10) },
].map((model) => ({ ...model, auto_eligible: true, supports_tools: true }))

export interface RoutingOptions extends Omit<GatewaySettings, 'server_config'> {
  readonly routing?: object
  readonly server_config?: object
}

/** Starts a gateway that takes the complexity of a request from its text, and that neither draws lots nor learns from how conversations go on. */
export async function startRouting({ routing, server_config, ...settings }: RoutingOptions = {}): Promise<Routing> {
  const upstream = await scriptedUpstream()
  upstream.answer({ body: chatAnswer })
  const gateway = await startGateway({
    plugins: [join(import.meta.dirname, 'fixed-classify.ts')],
    providers: [{ name: 'far', type: 'compatible', base_url: upstream.url }],
    models: threeModels,
    ...settings,
    server_config: {
      ...server_config,
      smart_routing: { enabled: true, exploration: { enabled: false }, experience: { implicit: false }, ...routing },
    },
  })
  return {
    gateway,
    upstream,
    async ask(body = {}, headers = {}) {
      const response = await gateway.post('/v1/chat/completions', { ...say('Hello'), ...body }, headers)
      const id = response.headers.get('x-request-id')
      const answer = (await response.json()) as JsonObject
      const row = await gateway.row((one) => one.id === id)
      const metadata = JSON.parse(row.metadata) as JsonObject
      const error = isObject(answer['error']) ? answer['error'] : {}
      return {
        status: response.status,
        headers: response.headers,
        body: answer,
        code: error['code'],
        message: typeof error['message'] === 'string' ? error['message'] : '',
        metadata,
        routing: isObject(metadata['routing']) ? metadata['routing'] : {},
      }
    },
    get asked() {
      return upstream.requests.map(({ body }) => (JSON.parse(body.toString()) as { readonly model: string }).model)
    },
    async close() {
      await gateway.close()
      await upstream.close()
    },
  }
}

/** A request of one user message. */
export function say(content: Json, model = 'auto'): { model: string; messages: JsonObject[] } {
  return { model, messages: [{ role: 'user', content }] }
}
