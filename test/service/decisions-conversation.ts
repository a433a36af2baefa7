import type { JsonObject } from '../../engine/index.ts'
import type { RequestsTable } from '../../plugins/request-log/table.ts'
import { startGateway } from '../support/gateway.ts'
import type { RunningGateway } from '../support/gateway.ts'
import { scriptedUpstream } from '../support/upstream.ts'
import type { ScriptedUpstream } from '../support/upstream.ts'

/** The types of providers that answer decisions; each has a model of its name. */
export const types = ['native', 'bridge_a', 'bridge_b', 'bridge_c'] as const
export type Type = (typeof types)[number]
export const bridges = ['bridge_a', 'bridge_b', 'bridge_c'] as const

/** A one-pixel image. */
export const pixel = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

/** A gateway with an upstream for each type, which answers what it is told. */
export interface Conversation {
  readonly gateway: RunningGateway
  readonly upstreams: Readonly<Record<Type, ScriptedUpstream>>
  /** How many requests reached any upstream. */
  asked(): number
  /** The last request to the upstream of a type: its path, key and body as sent. */
  last(type: Type): { readonly path: string; readonly key: string | undefined; readonly body: string }
  /** The first row of the request log that fits, once it is written. */
  row(fits: (row: RequestsTable) => boolean): Promise<RequestsTable>
  close(): Promise<void>
}

export async function startDecisions(more: Readonly<Partial<Record<Type, object>>> = {}): Promise<Conversation> {
  const opened = await Promise.all(types.map(async (type) => [type, await scriptedUpstream()] as const))
  const upstreams = Object.fromEntries(opened) as Record<Type, ScriptedUpstream>
  const pricing = { input: 2, output: 1000 }
  const gateway = await startGateway({
    providers: [
      ...types.map((type) => ({
        name: type,
        type,
        base_url: upstreams[type].url,
        api_key: `key-of-${type}`,
        ...more[type],
      })),
      { name: 'echo', type: 'echo' },
    ],
    models: [
      ...types.map((type) => ({
        name: type,
        provider: type,
        upstream_model: `${type}-2026`,
        supports_mapeval: true,
        pricing,
      })),
      { name: 'echo', provider: 'echo', supports_mapeval: true },
      ...types.map((type) => ({ name: `flagless-${type}`, provider: type })),
      {
        name: 'fallen',
        provider: 'bridge_a',
        supports_mapeval: true,
        fallbacks: ['flagless-native', 'native'],
      },
    ],
  })
  return {
    gateway,
    upstreams,
    asked: () => types.reduce((sum, type) => sum + upstreams[type].requests.length, 0),
    last(type) {
      const request = upstreams[type].requests.at(-1)
      if (!request) throw new Error(`nobody asked ${type}`)
      return { path: request.path, key: request.headers.authorization, body: request.body.toString() }
    },
    row: (fits) => gateway.row(fits),
    async close() {
      await gateway.close()
      await Promise.all(types.map((type) => upstreams[type].close()))
    },
  }
}

/** The answer of a JSON request: status and body. */
export async function read(response: Response): Promise<{ status: number; body: JsonObject; headers: Headers }> {
  return { status: response.status, body: (await response.json()) as JsonObject, headers: response.headers }
}

/** Three questions in the envelope of decisions, and in the other one. */
export const asDecisions = {
  input: 'The export crashes.',
  questions: [
    { type: 'predicate', instructions: 'Is it a bug?' },
    {
      type: 'choice',
      name: 'team',
      instructions: 'Whose is it?',
      choices: [{ value: 'web', description: 'pages' }, { value: true }],
    },
    {
      type: 'score',
      name: 'weight',
      instructions: 'How bad?',
      levels: [{ label: 'low', description: 'cosmetic' }, { label: 'high' }],
    },
  ],
} as const

export const asMapeval = {
  state: 'The export crashes.',
  questions: {
    bug: { type: 'noul', instructions: 'Is it a bug?' },
    team: { type: 'choice', instructions: 'Whose is it?', criteria: { web: 'pages', true: null } },
    weight: { type: 'score', instructions: 'How bad?', criteria: ['low', 'high'] },
  },
} as const

const answered = {
  team: { type: 'choice', choice: 'true', confidence: 0.6, probabilities: { true: 0.8, web: 0.2 } },
  weight: {
    type: 'score',
    score: 0.75,
    confidence: 0.5,
    legend: { 0: 'low', 1: 'high' },
    probabilities: { 0: 0.25, 1: 0.75 },
  },
}

/** What a mapeval upstream answers to the questions above, as the gateway names the first one. */
export function mapevalAnswer(first: string): JsonObject {
  return {
    model: 'jury-1.14',
    answers: { ...answered, [first]: { type: 'noul', noul: 0.97 } },
    usage: { input_tokens: 120, output_tokens: 3 },
  }
}

/** What a native upstream answers to the questions above. */
export function decisionsAnswer(names: readonly (string | null)[], value: string | boolean): JsonObject {
  return {
    model: 'jury-1.14',
    answers: [
      { type: 'predicate', name: names[0] ?? null, probability: 0.97 },
      {
        type: 'choice',
        name: names[1] ?? null,
        choice: value,
        confidence: 0.6,
        probabilities: [
          { value: 'web', probability: 0.2 },
          { value, probability: 0.8 },
        ],
      },
      {
        type: 'score',
        name: names[2] ?? null,
        score: 0.75,
        confidence: 0.5,
        probabilities: [
          { value: 0, label: 'low', probability: 0.25 },
          { value: 1, label: 'high', probability: 0.75 },
        ],
      },
    ],
    usage: {
      input_tokens: 120,
      input_tokens_details: { cache_write_tokens: 0, cached_tokens: 20 },
      output_tokens: 3,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: 123,
    },
  }
}
