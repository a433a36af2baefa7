import type { Context } from 'mocha'
import { decides } from '../../routing/judge/rig.ts'
import { chatAnswer, chatFrames } from '../../service/streams.ts'
import { scriptedUpstream } from '../../support/upstream.ts'
import type { RecordedRequest, Script, ScriptedUpstream } from '../../support/upstream.ts'
import { startConsole } from './browser.ts'
import type { SignedInRig } from './browser.ts'

/** A console of a gateway that routes among three models, with a judge in shadow. */
export interface RoutedRig extends SignedInRig {
  readonly upstream: ScriptedUpstream
  /** Sends chat completions for virtual models, one after the other, and gives the ids of the requests. */
  traffic(prompts: readonly string[]): Promise<readonly string[]>
}

/** Prompts of every tier. */
export const prompts = [
  'Hello',
  'What is the capital of France?',
  'Sort a list of numbers in Python.',
  'Prove that there are infinitely many primes, and that the sum of their reciprocals diverges.',
  'Design a lock-free queue for many producers, prove it linearizable, and give the C++ code.',
  'Translate "good morning" into Spanish.',
]

const price = (input: number) => ({ input, output: 4 * input })
const levels = [
  { name: 'small', quality_tier: 'economy', pricing: price(0.1) },
  { name: 'mid', quality_tier: 'balanced', pricing: price(1), supports_images: true },
  { name: 'large', quality_tier: 'premium', pricing: price(10), supports_images: true },
]

/** Answers the judge's question, and every chat, streamed where it is asked for. */
function answer({ path, body }: RecordedRequest): Script {
  if (!path.includes('chat')) return decides('MEDIUM', [0.07, 0.68, 0.25])
  const { stream } = JSON.parse(body.toString()) as { readonly stream?: boolean }
  return stream ? { frames: chatFrames('Hello ', 'there') } : { body: chatAnswer }
}

export async function startRouted(context: Context, routing: object = {}): Promise<RoutedRig> {
  const upstream = await scriptedUpstream()
  upstream.answer(answer)
  const rig = await startConsole(context, {
    providers: [
      { name: 'far', type: 'compatible', base_url: `${upstream.url}/v1` },
      { name: 'judges', type: 'native', base_url: `${upstream.url}/v1`, api_key: 'sk-judge' },
    ],
    models: [
      ...levels.map((level) => ({ provider: 'far', auto_eligible: true, supports_tools: true, ...level })),
      { name: 'jury', provider: 'judges', supports_mapeval: true, pricing: { input: 1, output: 1 } },
    ],
    api_keys: [{ name: 'narrow', key: 'sk-narrow-0123456789', models: ['large'] }],
  })
  const { status, body } = await rig.gateway.asAdmin('PATCH /api/config/server/smart_routing', {
    enabled: true,
    diagnostics: true,
    exploration: { enabled: false },
    judge: { enabled: true, shadow: true, model: 'jury', sample_rate: 1, deadline_s: 60 },
    ...routing,
  })
  if (status !== 200) throw new Error(JSON.stringify(body))
  return {
    ...rig,
    upstream,
    async traffic(texts) {
      const ids: string[] = []
      for (const content of texts) {
        const mode = ['auto', 'fast', 'best'][ids.length % 3]
        const response = await rig.gateway.post('/v1/chat/completions', {
          model: mode,
          messages: [{ role: 'user', content }],
        })
        await response.text()
        ids.push(response.headers.get('x-request-id') ?? '')
      }
      await rig.gateway.row(({ id }) => id === ids.at(-1))
      return ids
    },
    async close() {
      await rig.close()
      await upstream.close()
    },
  }
}
