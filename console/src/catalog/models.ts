import { queryOptions } from '@tanstack/react-query'
import type { Answers, Row } from '../api/answers.ts'
import { ask } from '../api/ask.ts'

/** What a choice of a model reads of `GET /api/catalog/models`. */
export type CatalogModel = Row<'list-catalog'>

/** The models that the user may ask for. */
export const models = queryOptions({
  queryKey: ['catalog', 'models'],
  queryFn: async ({ signal }) => (await ask<Answers['list-catalog']>('GET', '/api/catalog/models', { signal })).data,
})

/** Whether a client can ask for a model as it stands: a name with a star stands for many. */
export const isServed = ({ name, available }: CatalogModel): boolean => available && !name.includes('*')
