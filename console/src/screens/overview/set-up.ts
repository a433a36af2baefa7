import { queryOptions } from '@tanstack/react-query'
import { ask } from '../../api/ask.ts'

export const steps = ['provider', 'models', 'key', 'answer'] as const
export type Step = (typeof steps)[number]

interface Listed<T> {
  readonly data: readonly T[]
}
interface ProviderState {
  readonly name: string
  readonly type: string
  readonly status: { readonly state: string }
}
interface CatalogModel {
  readonly provider: string | null
  readonly virtual: boolean
  readonly available: boolean
}

/** Which steps of the set-up are done. The echo provider is built in: it counts as nobody's work. */
export const stepsDone = queryOptions({
  queryKey: ['set-up', 'steps'],
  queryFn: async ({ signal }): Promise<ReadonlySet<Step>> => {
    const one = { limit: 1 }
    const [providers, models, keys, answers] = await Promise.all([
      ask<Listed<ProviderState>>('GET', '/api/config/providers', { query: { limit: 200, state: 'on' }, signal }),
      ask<Listed<CatalogModel>>('GET', '/api/catalog/models', { signal }),
      ask<Listed<unknown>>('GET', '/api/api-keys', { query: one, signal }),
      ask<Listed<unknown>>('GET', '/api/logs', { query: { ...one, status: '2xx' }, signal }),
    ])
    const serving = new Set(providers.data.filter(({ type }) => type !== 'echo').map(({ name }) => name))
    const isDone: Readonly<Record<Step, boolean>> = {
      provider: serving.size > 0,
      models: models.data.some(
        ({ provider, virtual, available }) => available && !virtual && provider !== null && serving.has(provider),
      ),
      key: keys.data.length > 0,
      answer: answers.data.length > 0,
    }
    return new Set(steps.filter((step) => isDone[step]))
  },
})

/** Whether the reader has closed the card, or had nothing left to do; kept by the browser. */
const place = 'sluice-set-up-closed'
export const isClosed = () => localStorage.getItem(place) !== null
export const close = () => localStorage.setItem(place, '')
