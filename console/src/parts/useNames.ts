import { queryOptions, useQuery } from '@tanstack/react-query'
import type { Answers } from '../api/answers.ts'
import { ask } from '../api/ask.ts'
import { readAll } from './pages.ts'
import { useIsAdmin } from './useUser.ts'

/** Something that can be chosen: the value that is sent, and what people see. */
export interface Named {
  readonly value: string
  readonly label: string
}

/** A list of what has a name, or a page of it. */
export type Listed = Answers[
  | 'list-api-key'
  | 'list-catalog'
  | 'list-guard'
  | 'list-mcp-server'
  | 'list-member'
  | 'list-model'
  | 'list-pipelines'
  | 'list-provider']
type Row = Listed['data'][number]

/** The lists that have names: viewers may read the catalog alone, which has no pages. */
const lists = {
  model: { path: '/api/catalog/models', viewers: true },
  provider: { path: '/api/config/providers', viewers: false },
  mcp_server: { path: '/api/mcp/servers', viewers: false },
  guard: { path: '/api/guards', viewers: false },
  member: { path: '/api/team/members', viewers: false },
} as const

export type NamedKind = keyof typeof lists

export const isNamedKind = (text: unknown): text is NamedKind => typeof text === 'string' && Object.hasOwn(lists, text)

/** What a row is called. A member and a key are named by their ids, since they may get another name. */
export function namedAs(row: Row): Named {
  const label = 'username' in row ? row.username : row.name
  return { value: 'id' in row ? row.id : label, label }
}

const namesOf = (kind: NamedKind) =>
  queryOptions({
    queryKey: ['names', kind],
    queryFn: async ({ signal }) => {
      const { path, viewers: isWhole } = lists[kind]
      const entries = isWhole
        ? (await ask<Answers['list-catalog']>('GET', path, { signal })).data
        : await readAll<Row>(path, signal)
      return entries.map(namedAs)
    },
  })

/** The names of a kind that the user may see; empty until they are there. */
export function useNames(kind: NamedKind | undefined): readonly Named[] {
  const isAdmin = useIsAdmin()
  const known = kind ?? 'model'
  const enabled = kind !== undefined && (isAdmin || lists[known].viewers)
  return useQuery({ ...namesOf(known), enabled }).data ?? []
}
