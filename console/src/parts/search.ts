import { useNavigate, useSearch } from '@tanstack/react-router'
import { useCallback } from 'react'

/** The search parameters of an address: the same words as the API's, repeated for several values. */
export type Search = Readonly<Record<string, string | readonly string[]>>

export function parseSearch(text: string): Search {
  const search: Record<string, string | string[]> = {}
  for (const [name, value] of new URLSearchParams(text)) {
    const before = search[name]
    search[name] = before === undefined ? value : [before, value].flat()
  }
  return search
}

export function printSearch(search: Readonly<Record<string, unknown>>): string {
  const printed = new URLSearchParams()
  for (const [name, given] of Object.entries(search as Search))
    for (const value of [given ?? []].flat()) printed.append(name, value)
  const text = printed.toString()
  return text && `?${text}`
}

/** What an address has for a name; the first value where it is repeated. */
export const oneOf = (search: Search, name: string): string | undefined => [search[name]].flat()[0]

/** All values that an address has for a name. */
export const allOf = (search: Search, name: string): readonly string[] => [search[name] ?? []].flat()

/** The address to go on to after a sign-in, `to`: a path of the console alone, since `//elsewhere` is another site. */
export function targetOf(search: Search): string {
  const to = oneOf(search, 'to') ?? '/'
  return /^\/(?![/\\])/.test(to) ? to : '/'
}

/** Changes of an address: `undefined` and an empty list take a parameter away. */
export type SearchChanges = Readonly<Record<string, string | readonly string[] | undefined>>

/**
 * The search parameters of the page, which hold all state that a link should show, and how to change them. A change
 * takes the place of the latest entry of the history, unless it is told to `push` one.
 */
export function useAddress(): readonly [Search, (changes: SearchChanges, how?: { readonly push?: boolean }) => void] {
  const search = useSearch({ strict: false }) as Search
  const navigate = useNavigate()
  const change = useCallback(
    (changes: SearchChanges, { push = false } = {}) =>
      void navigate({
        to: '.',
        search: (before: Search) => {
          const next = { ...before, ...changes }
          return Object.fromEntries(
            Object.entries(next).filter(([, value]) => value !== undefined && value.length > 0),
          ) as Search
        },
        replace: !push,
        resetScroll: false,
      }),
    [navigate],
  )
  return [search, change]
}
