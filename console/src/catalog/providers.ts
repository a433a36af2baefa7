import { queryOptions } from '@tanstack/react-query'
import type { Answers, Row } from '../api/answers.ts'
import { ask } from '../api/ask.ts'
import type { Query } from '../api/ask.ts'
import { pagesOf } from '../parts/pages.ts'

/** A preset of a type of provider: the address of a vendor, and the variable that usually holds its key. */
export type Preset = ProviderType['presets'][number]

/** A row of `GET /api/config/providers/types`. */
export type ProviderType = Row<'list-provider-types'>

/** A record of `GET /api/config/providers`. */
export type Provider = Answers['get-provider']

/** What a test of a provider found. A provider that fails is an answer, not an error. */
export type Tested = Answers['test-provider']

/** A model that a provider has at its upstream. */
export type UpstreamModel = Row<'list-upstream-models'>

const at = '/api/config/providers'
const addressOf = (name: string) => `${at}/${encodeURIComponent(name)}`

export const providerTypes = queryOptions({
  queryKey: ['providers', 'types'],
  queryFn: async ({ signal }) => (await ask<Answers['list-provider-types']>('GET', `${at}/types`, { signal })).data,
  staleTime: Infinity,
})

export const providers = queryOptions({
  queryKey: ['providers', 'list'],
  queryFn: async ({ signal }) => allPages<Provider>(at, signal),
})

/** The providers that fit filters, page by page. */
export const providerList = (query: Query) => pagesOf<Provider>('providers', at, query)

export const provider = (name: string) =>
  queryOptions({
    queryKey: ['providers', 'one', name],
    queryFn: ({ signal }) => ask<Provider>('GET', addressOf(name), { signal }),
  })

export const upstreamModels = (name: string) =>
  queryOptions({
    queryKey: ['providers', 'upstream-models', name],
    queryFn: async ({ signal }) =>
      (await ask<Answers['list-upstream-models']>('GET', `${addressOf(name)}/upstream-models`, { signal })).data,
    retry: false,
  })

export const makeProvider = (body: unknown) => ask<Provider>('POST', at, { body })

export const changeProvider = ({ name, version }: Provider, body: unknown) =>
  ask<Provider>('PATCH', addressOf(name), { body, ifMatch: version })

export const deleteProvider = ({ name, version }: Provider, cascade: boolean) =>
  ask<undefined>('DELETE', addressOf(name), { query: { cascade: cascade || undefined }, ifMatch: version })

/** Asks a provider for its list of models, or for one short answer of a model. */
export const testProvider = (name: string, model?: string) =>
  ask<Tested>('POST', `${addressOf(name)}/test`, { body: model === undefined ? {} : { model } })

/** The stored secrets of a provider in clear, by their paths. */
export const revealSecrets = async (name: string, password: string) => {
  const answer = await ask<Answers['reveal-key']>('POST', `${addressOf(name)}/reveal-key`, {
    body: { password },
  })
  return answer.secrets
}

/** Makes a model of a provider, with what is known of it. */
export const makeModel = (body: unknown) => ask<Answers['create-model']>('POST', '/api/config/models', { body })

/** All rows of a list that is read page by page. */
export async function allPages<Row>(path: string, signal: AbortSignal): Promise<readonly Row[]> {
  const rows: Row[] = []
  let cursor: string | undefined
  do {
    // Each page names the next one.
    // oxlint-disable-next-line no-await-in-loop
    const page: { readonly data: readonly Row[]; readonly next_cursor: string | null } = await ask('GET', path, {
      query: { limit: 200, cursor },
      signal,
    })
    rows.push(...page.data)
    cursor = page.next_cursor ?? undefined
  } while (cursor !== undefined)
  return rows
}
