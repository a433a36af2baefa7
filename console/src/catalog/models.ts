import { queryOptions } from '@tanstack/react-query'
import { ask } from '../api/ask.ts'

/** What a choice of a model reads of `GET /api/catalog/models`. */
export interface CatalogModel {
  readonly name: string
  readonly virtual: boolean
  readonly available: boolean
  readonly supports_mapeval: boolean
}

/** The models that the user may ask for. */
export const models = queryOptions({
  queryKey: ['catalog', 'models'],
  queryFn: async ({ signal }) =>
    (await ask<{ data: readonly CatalogModel[] }>('GET', '/api/catalog/models', { signal })).data,
})

/** Whether a client can ask for a model as it stands: a name with a star stands for many. */
export const isServed = ({ name, available }: CatalogModel): boolean => available && !name.includes('*')
