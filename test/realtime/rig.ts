import { WebSocket } from 'ws'
import type { ClientOptions } from 'ws'
import type { JsonObject } from '../../engine/index.ts'
import { connect, dial } from '../engine/http/socket-client.ts'
import type { SocketClient } from '../engine/http/socket-client.ts'
import { startGateway } from '../support/gateway.ts'
import type { GatewaySettings, RunningGateway } from '../support/gateway.ts'
import { talkingUpstream } from '../support/talking-upstream.ts'
import type { Session, TalkingUpstream } from '../support/talking-upstream.ts'

/** The key of the gateway at the upstreams. */
export const upstreamKey = 'upstream-key-51c0ffee51c0ffee'
/** A key that may use the model `second` alone. */
export const narrowKey = 'sk-narrow-0123456789abcdef0123456789abcdef'

export const keyword = 'openai-insecure-api-key.'

export interface RigSettings extends GatewaySettings {
  /** Further fields of the provider `first`. */
  readonly first?: object
}

export interface Rig {
  readonly gateway: RunningGateway
  readonly upstream: TalkingUpstream
  readonly other: TalkingUpstream
  /** Opens a session with the model `rt`, or with another query. */
  talk(query?: string, options?: ClientOptions): Promise<Talk>
  /** Like `talk`, for an upgrade that no upstream is to hear of. */
  dial(query: string, options?: ClientOptions): SocketClient
  /** A client with these subprotocols alone, as a browser is one. */
  browser(protocols: readonly string[], query?: string): WebSocket
  close(): Promise<void>
}

/** A client, and its session as the upstream sees it. */
export interface Talk {
  readonly client: SocketClient
  readonly met: Session
  /** Sends an event as the upstream, and resolves when the client has it. */
  readonly say: (event: JsonObject) => Promise<unknown>
}

/** Prices per million tokens that make each kind of token visible in a sum. */
export const pricing = { input: 4, output: 16, cache_read: 0.4, input_audio: 32, output_audio: 64 }

/**
 * A gateway whose model `rt` is at `first` and falls back to `second`, which is at another upstream. `scribe` is a
 * transcription model at `first`, `writer` has no realtime.
 */
export async function startRig({ first, ...settings }: RigSettings = {}): Promise<Rig> {
  const upstream = await talkingUpstream()
  const other = await talkingUpstream()
  const at = ({ url }: TalkingUpstream) => ({ type: 'native', base_url: url, api_key: upstreamKey })
  const gateway = await startGateway({
    providers: [
      { name: 'first', ...at(upstream), ...first },
      { name: 'second', ...at(other), type: 'compatible', offers: ['chat', 'realtime'] },
      { name: 'chat-only', ...at(other), type: 'compatible' },
    ],
    models: [
      {
        name: 'rt',
        provider: 'first',
        upstream_model: 'rt-2026',
        supports_realtime: true,
        fallbacks: ['second', 'writer'],
        pricing,
        aliases: ['talk'],
      },
      { name: 'second', provider: 'second', upstream_model: 'second-2026', supports_realtime: true, pricing },
      {
        name: 'dear',
        provider: 'first',
        upstream_model: 'dear-2026',
        supports_realtime: true,
        pricing: { input: 400, output: 1600 },
      },
      { name: 'scribe', provider: 'first', upstream_model: 'scribe-2026', pricing: { seconds: 0.0001 } },
      {
        name: 'scribe-tokens',
        provider: 'first',
        upstream_model: 'scribe-tokens-2026',
        pricing: { input: 2, output: 8, input_audio: 6 },
      },
      { name: 'scribe-elsewhere', provider: 'second', upstream_model: 'scribe-2026' },
      { name: 'writer', provider: 'first', upstream_model: 'writer-2026' },
      { name: 'mute', provider: 'chat-only', supports_realtime: true },
      { name: 'nowhere', provider: 'first', upstream_model: 'gone', supports_realtime: true },
    ],
    api_keys: [{ name: 'narrow', key: narrowKey, models: ['second'] }],
    ...settings,
  })
  return {
    gateway,
    upstream,
    other,
    async talk(query = 'model=rt', options = {}) {
      const count = upstream.sessions.length
      const client = await connect(gateway, `/v1/realtime?${query}`, options)
      await upstream.when(() => upstream.sessions.length > count)
      const met = upstream.sessions[count] as Session
      const say = (event: JsonObject) => {
        const told = client.next()
        met.socket.send(JSON.stringify(event))
        return told
      }
      return { client, met, say }
    },
    dial: (query, options) => dial(gateway, `/v1/realtime?${query}`, options),
    browser: (protocols, query = 'model=rt') =>
      new WebSocket(`${gateway.url.replace('http', 'ws')}/v1/realtime?${query}`, [...protocols]),
    async close() {
      await gateway.close()
      await upstream.close()
      await other.close()
    },
  }
}
