import { queryOptions } from '@tanstack/react-query'
import type { Answers, Row } from '../../api/answers.ts'
import { ask } from '../../api/ask.ts'
import type { Query } from '../../api/ask.ts'
import { pagesOf } from '../../parts/pages.ts'

/** A record of `GET /api/guards`. */
export type Guard = Answers['get-guard']

/** A kind of guard, with the schema of a guard of this kind. */
export type Kind = Row<'list-guard-kinds'>

/** What one guard did on one side, live or in shadow. */
export type Figures = Row<'list-guard-figures'>

/** The verdicts of one day, of one guard on one side with one outcome. */
export type Verdicts = Row<'list-guard-verdicts'>

/** What a guard found in a text that was tried. */
export type Tried = Answers['test-guard']

/** How many days figures are shown of. */
export const days = 30

const at = '/api/guards'
const addressOf = (name: string) => `${at}/${encodeURIComponent(name)}`

/** The guards that fit filters, page by page. */
export const guardList = (query: Query) => pagesOf<Guard>('guards', at, query)

export const guard = (name: string) =>
  queryOptions({
    queryKey: ['guards', 'one', name],
    queryFn: ({ signal }) => ask<Guard>('GET', addressOf(name), { signal }),
  })

export const kinds = queryOptions({
  queryKey: ['guards', 'kinds'],
  queryFn: async ({ signal }) => (await ask<Answers['list-guard-kinds']>('GET', `${at}/kinds`, { signal })).data,
  // Kinds change with the plugins alone.
  staleTime: Infinity,
})

export const figures = queryOptions({
  queryKey: ['guards', 'figures'],
  queryFn: async ({ signal }) =>
    (await ask<Answers['list-guard-figures']>('GET', `${at}/figures`, { query: { days }, signal })).data,
  refetchInterval: 10_000,
})

export const verdicts = (name: string) =>
  queryOptions({
    queryKey: ['guards', 'verdicts', name],
    queryFn: async ({ signal }) => {
      const query = { days, guard: name }
      return (await ask<Answers['list-guard-verdicts']>('GET', `${at}/verdicts`, { query, signal })).data
    },
    refetchInterval: 10_000,
  })

export const make = (body: unknown) => ask<Guard>('POST', at, { body })

export const change = ({ name, version }: Guard, body: unknown) =>
  ask<Guard>('PATCH', addressOf(name), { body, ifMatch: version })

export const remove = ({ name, version }: Guard) => ask<undefined>('DELETE', addressOf(name), { ifMatch: version })

/** Lets a guard judge a text: one that is there by its name, or the fields of one that is not. */
export const test = (body: { readonly guard: unknown; readonly text: string; readonly side: 'input' | 'output' }) =>
  ask<Tried>('POST', `${at}/test`, { body })
