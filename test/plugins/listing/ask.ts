import { expect } from 'chai'
import { ExchangeScope } from '../../../engine/http/scope.ts'
import type { AnyStage, Host } from '../../../engine/index.ts'

const MODELS = [
  { name: 'small', provider: 'acme', aliases: ['tiny'] },
  { name: 'team/large', provider: 'acme', aliases: [] },
  { name: 'far', provider: 'off', aliases: [] },
  { name: 'lost', provider: 'gone', aliases: [] },
]

/** Two models that are served and two that are not. */
export const host = {
  catalog: {
    models: MODELS,
    find: (name: string) => MODELS.find((model) => model.name === name || model.aliases.includes(name)),
    provider: (name: string) =>
      new Map<string, object>([
        ['acme', { name: 'acme' }],
        ['off', { name: 'off', off: 'ACME_KEY is not set' }],
      ]).get(name),
  },
  codecs: [
    { protocol: 'chat', operation: 'generate', summary: 'Chat.', schema: {} },
    { protocol: 'vectors', operation: 'embed', summary: 'Vectors.', schema: {} },
  ],
} as unknown as Host

export interface Asked {
  readonly models?: readonly string[]
  readonly params?: Readonly<Record<string, string>>
  readonly headers?: Readonly<Record<string, string>>
}

/** What a listing stage answers. */
export function ask(stage: AnyStage, { models, params = {}, headers = {} }: Asked = {}): unknown {
  const principal = {
    kind: 'key' as const,
    id: '1',
    name: 'one',
    ...(models === undefined ? {} : { models: new Set(models) }),
  }
  const { reply } = stage.build({}, host, { smart_routing: { enabled: false } })(
    { ingress: { path: '/v1/models', params, headers, query: new URLSearchParams() }, principal },
    new ExchangeScope(),
  ) as {
    reply: { status: number; body: { kind: string; value: unknown } }
  }
  expect(reply).to.deep.include({ status: 200 }).and.to.have.nested.property('body.kind', 'json')
  return reply.body.value
}

export const MESSAGES = { 'anthropic-version': '2023-06-01' }
export const small = { id: 'small', object: 'model', created: 0, owned_by: 'acme', provider: 'acme' }
export const large = { id: 'team/large', object: 'model', created: 0, owned_by: 'acme', provider: 'acme' }
export const smallOfMessages = {
  type: 'model',
  id: 'small',
  display_name: 'small',
  created_at: '1970-01-01T00:00:00Z',
  provider: 'acme',
}
export const largeOfMessages = {
  type: 'model',
  id: 'team/large',
  display_name: 'team/large',
  created_at: '1970-01-01T00:00:00Z',
  provider: 'acme',
}
