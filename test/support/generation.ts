import { startGateway } from './gateway.ts'
import type { RunningGateway, GatewaySettings } from './gateway.ts'
import { scriptedUpstream } from './upstream.ts'
import type { ScriptedUpstream } from './upstream.ts'

/** A gateway before a scripted upstream that speaks every protocol of generation. */
export interface Generation {
  readonly upstream: ScriptedUpstream
  readonly gateway: RunningGateway
  close(): Promise<void>
}

/** What differs from the usual. */
export interface GenerationSettings extends Pick<GatewaySettings, 'server_config'> {
  /** Further providers; they are given the address and the key of the upstream. */
  readonly providers?: (at: { readonly base_url: string; readonly api_key: string }) => readonly object[]
  /** Further models. */
  readonly models?: readonly object[]
  /** Fields of every model. */
  readonly each?: object
}

/**
 * Starts both. The models `chat`, `responses` and `messages` are asked for in that protocol, of the providers `family`,
 * `vendor` and `other`.
 */
export async function startGeneration(more: GenerationSettings = {}): Promise<Generation> {
  const upstream = await scriptedUpstream()
  const at = { base_url: upstream.url, api_key: 'upstream-key' }
  const { providers, models = [], each = {}, ...settings } = more
  const gateway = await startGateway({
    providers: [
      { name: 'family', type: 'compatible', ...at },
      { name: 'vendor', type: 'native', ...at },
      { name: 'other', type: 'messages', ...at },
      ...(providers?.(at) ?? []),
    ],
    models: [
      { name: 'chat', provider: 'family' },
      { name: 'responses', provider: 'vendor', protocols: ['responses'] },
      { name: 'messages', provider: 'other' },
      ...models,
    ].map((model) => ({ ...each, ...model })),
    ...settings,
  })
  return {
    upstream,
    gateway,
    async close() {
      await gateway.close()
      await upstream.close()
    },
  }
}
