import { queryOptions, useQuery } from '@tanstack/react-query'
import { ask } from '../api/ask.ts'
import { readAll } from './pages.ts'
import type { ListPage } from './pages.ts'
import { useIsAdmin } from './useUser.ts'

/** Something that can be chosen: the value that is sent, and what people see. */
export interface Named {
  readonly value: string
  readonly label: string
}

interface Entry {
  readonly id?: string
  readonly name?: string
  readonly username?: string
}

/** The lists that have names: viewers may read the catalog alone, which has no pages. */
const lists = {
  model: { path: '/api/catalog/models', viewers: true },
  provider: { path: '/api/config/providers', viewers: false },
  mcp_server: { path: '/api/mcp/servers', viewers: false },
  member: { path: '/api/team/members', viewers: false },
} as const

export type NamedKind = keyof typeof lists

export const isNamedKind = (text: unknown): text is NamedKind => typeof text === 'string' && Object.hasOwn(lists, text)

// A member is named by an id, since he may get another username.
const namedAs = ({ id = '', name = '', username }: Entry): Named =>
  username === undefined ? { value: name, label: name } : { value: id, label: username }

const namesOf = (kind: NamedKind) =>
  queryOptions({
    queryKey: ['names', kind],
    queryFn: async ({ signal }) => {
      const { path, viewers: isWhole } = lists[kind]
      const entries = isWhole
        ? (await ask<ListPage<Entry>>('GET', path, { signal })).data
        : await readAll<Entry>(path, signal)
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
