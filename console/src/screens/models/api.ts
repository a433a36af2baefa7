import { queryOptions } from '@tanstack/react-query'
import type { Answers, Row } from '../../api/answers.ts'
import { ask } from '../../api/ask.ts'
import type { Query } from '../../api/ask.ts'
import type { Json } from '../../form/schema.ts'
import { pagesOf, readAll } from '../../parts/pages.ts'
import type { Range } from '../../parts/useRange.ts'

export type Prices = Readonly<Record<string, Json>>

/** What everybody who may use a model sees of it: a row of `GET /api/catalog/models`. */
export interface CatalogModel {
  readonly name: string
  readonly display_name: string | null
  readonly description: string | null
  readonly aliases: readonly string[]
  readonly provider: string | null
  readonly virtual?: boolean
  readonly context_length: number | null
  readonly max_output_tokens: number | null
  readonly supports_images: boolean
  readonly supports_tools: boolean
  readonly supports_mapeval: boolean
  readonly supports_realtime: boolean
  readonly quality_tier: string | null
  readonly pricing: Prices | null
  readonly available: boolean
  readonly source?: 'file' | 'database'
}

/** A place that serves a model, beside its own provider. */
export interface Deployment {
  readonly provider: string
  readonly upstream_model?: string | null
  readonly weight?: number
}

/** A record of `GET /api/config/models`. */
export interface Model extends CatalogModel {
  readonly upstream_model: string | null
  readonly deployments: readonly Deployment[]
  readonly auto_eligible: boolean
  readonly routing_assignments: readonly string[] | null
  readonly fallbacks: readonly string[]
  readonly protocols: readonly string[] | null
  readonly enabled: boolean
  readonly problem: string | null
  readonly pricing_source: 'hand' | 'sync' | 'list' | 'none'
  /** The price that is charged if the record has none. */
  readonly listed_pricing?: { readonly pricing: object; readonly source: string; readonly date: string }
  readonly priced_at: string | null
  readonly source: 'file' | 'database'
  readonly declared_at?: { readonly file: string; readonly line: number } | null
  readonly version: number | null
  readonly created_at: string | null
  readonly updated_at: string | null
}

const at = '/api/config/models'
const addressOf = (name: string) => `${at}/${encodeURIComponent(name)}`

export const modelList = (query: Query) => pagesOf<Model>('models', at, query)

export const catalog = queryOptions({
  queryKey: ['models', 'catalog'],
  queryFn: async ({ signal }) =>
    (await ask<{ data: readonly CatalogModel[] }>('GET', '/api/catalog/models', { signal })).data,
})

export const oneModel = (name: string) =>
  queryOptions({
    queryKey: ['models', 'one', name],
    queryFn: ({ signal }) => ask<Model>('GET', addressOf(name), { signal }),
  })

export const makeModel = (body: unknown) => ask<Model>('POST', at, { body })

export const changeModel = ({ name, version }: Model, body: unknown) =>
  ask<Model>('PATCH', addressOf(name), { body, ifMatch: version })

/** Deletes a model; forced, it is taken out of what names it first. */
export const deleteModel = ({ name, version }: Model, force: boolean) =>
  ask<undefined>('DELETE', addressOf(name), { query: { force: force || undefined }, ifMatch: version })

/** The names of the models that fall back to one, by its name or an alias. */
export const usersOf = ({ name, aliases }: Model) =>
  queryOptions({
    queryKey: ['models', 'list', 'users', name],
    queryFn: async ({ signal }) => {
      const names = [name, ...aliases]
      const all = await readAll<Model>(at, signal)
      return all.filter(({ fallbacks }) => fallbacks.some((one) => names.includes(one))).map((one) => one.name)
    },
  })

/** One value that a list would change, or why not. */
export type Difference = Row<'sync-pricing'>

export type Synced = Answers['sync-pricing']

export type SyncKind = 'pricing' | 'metadata'

export const syncModels = (kind: SyncKind, body: { url?: string; apply: boolean; force: boolean }) =>
  ask<Synced>('POST', `${at}/sync-${kind}`, { body })

/** A row of `GET /api/logs/usage`, grouped by provider. */
export type UsageRow = Row<'get-usage'>

export const modelUsage = (model: string, range: Range) =>
  queryOptions({
    queryKey: ['logs', 'usage', 'model', model, range.key],
    queryFn: async ({ signal }) => {
      const query = { ...range.bounds(), model, group_by: 'provider', interval: 'none' }
      return (await ask<Answers['get-usage']>('GET', '/api/logs/usage', { query, signal })).data
    },
  })
