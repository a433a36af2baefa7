import { queryOptions } from '@tanstack/react-query'
import { ask, Refusal } from '../../api/ask.ts'
import type { User } from '../../parts/useUser.ts'
import { askedIn } from './asked.ts'
import type { Answers } from '../../api/answers.ts'

export const mayMakeKeys = queryOptions({
  queryKey: ['me', 'may'],
  queryFn: async () => (await ask<Answers['show-account']>('GET', '/api/me')).may.make_keys,
})

/** What a request of the log asked; null where its body was not kept. */
export const pastAsk = (id: string) =>
  queryOptions({
    queryKey: ['logs', id, 'asked'],
    queryFn: async ({ signal }) => {
      const path = `/api/logs/${encodeURIComponent(id)}`
      const { capture } = await ask<Answers['get-request']>('GET', path, { signal })
      return askedIn(capture?.request ?? '') ?? null
    },
    staleTime: Infinity,
  })

/** A request of the log, by its id or its reference; null until its row is written, a moment after its answer. */
export const loggedRequest = (id: string) =>
  queryOptions({
    queryKey: ['logs', id, 'routing'],
    queryFn: async () => {
      const query = { search: id, limit: 1 }
      const { data } = await ask<Answers['list-requests']>('GET', '/api/logs', { query })
      return data[0] ? await ask<Answers['get-request']>('GET', `/api/logs/${data[0].id}`) : null
    },
    refetchInterval: ({ state: { data, dataUpdateCount, errorUpdateCount } }) =>
      data || dataUpdateCount + errorUpdateCount >= 20 ? false : 500,
  })

/** Makes a key for one day and one dollar that belongs to the user. Its name is free: a second one gets a number. */
export async function makeKey({ id, username, isAdmin }: User): Promise<string> {
  const body = {
    budget: { usd: 1, period: 'total' },
    expires_at: new Date(Date.now() + 24 * 60 * 60 * 1000).toISOString(),
    tags: { source: 'console' },
    ...(isAdmin ? { owner: id } : {}),
  }
  const path = isAdmin ? '/api/api-keys' : '/api/me/api-keys'
  for (let number = 1; ; number++) {
    const name = `playground-${username}${number === 1 ? '' : `-${number}`}`
    try {
      return (await ask<Answers['create-api-key']>('POST', path, { body: { ...body, name } })).key
    } catch (error) {
      if (!(error instanceof Refusal) || error.code !== 'name_taken' || number >= 50) throw error
    }
  }
}
