import { queryOptions } from '@tanstack/react-query'
import type { QueryClient } from '@tanstack/react-query'
import { ask } from '../../api/ask.ts'
import { isServed, models } from '../../catalog/models.ts'
import type { CatalogModel } from '../../catalog/models.ts'
import { makeModel, makeProvider, providers } from '../../catalog/providers.ts'
import type { Answers } from '../../api/answers.ts'

/** The names of models that a client can ask for, without those that choose one. */
export const askable = queryOptions({
  ...models,
  select: (all: readonly CatalogModel[]) =>
    all.filter((model) => isServed(model) && !model.virtual).map(({ name }) => name),
})

/** A key without limits that belongs to a member, with its text. */
export const makeKey = (name: string, owner: string) =>
  ask<Answers['create-api-key']>('POST', '/api/api-keys', { body: { name, owner } })

/** The name of a model of the echo provider; where the operator took them away, both are made. */
export async function echoModel(queries: QueryClient): Promise<string> {
  const found = (await queries.fetchQuery(providers)).find(({ type, enabled }) => type === 'echo' && enabled)
  const provider = (found ?? (await makeProvider({ name: 'echo', type: 'echo', config: {} }))).name
  const models = await ask<Answers['list-model']>('GET', '/api/config/models', {
    query: { provider, enabled: true, limit: 1 },
  })
  const name = models.data[0]?.name ?? (await makeModel({ name: 'echo', provider, upstream_model: 'echo' })).name
  await queries.invalidateQueries({ queryKey: ['providers'] })
  return name
}
