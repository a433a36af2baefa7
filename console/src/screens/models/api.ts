import { queryOptions } from '@tanstack/react-query'
import type { Answers, Row } from '../../api/answers.ts'
import { ask } from '../../api/ask.ts'
import type { Query } from '../../api/ask.ts'
import { pagesOf, readAll } from '../../parts/pages.ts'
import type { Range } from '../../parts/useRange.ts'

/** What everybody who may use a model sees of it: a row of `GET /api/catalog/models`. */
export type CatalogModel = Row<'list-catalog'>

/** A record of `GET /api/config/models`. */
export type Model = Answers['get-model']

/** What both say of a model. */
export type AnyModel = Omit<CatalogModel, 'virtual' | 'provider'> &
  Partial<Pick<CatalogModel, 'virtual'> & Pick<Model, 'provider'>>

/** A place that serves a model, beside its own provider. */
export type Deployment = Model['deployments'][number]

const at = '/api/config/models'
const addressOf = (name: string) => `${at}/${encodeURIComponent(name)}`

export const modelList = (query: Query) => pagesOf<Model>('models', at, query)

export const catalog = queryOptions({
  queryKey: ['models', 'catalog'],
  queryFn: async ({ signal }) => (await ask<Answers['list-catalog']>('GET', '/api/catalog/models', { signal })).data,
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
