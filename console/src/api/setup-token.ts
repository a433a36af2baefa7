import { useSyncExternalStore } from 'react'

/**
 * The token of `/setup#token=…`. It is taken out of the address before the first request, and kept in memory alone. A
 * link that is pasted into an open tab brings its token without loading the page.
 */
let token = taken()
const listeners = new Set<() => void>()

addEventListener('hashchange', () => {
  token = taken() ?? token
  for (const listener of listeners) listener()
})

/** The token, as soon as there is one. */
export function useSetupToken(): string | undefined {
  return useSyncExternalStore(subscribe, () => token)
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

function taken(): string | undefined {
  const given = new URLSearchParams(location.hash.slice(1)).get('token')
  if (given === null) return undefined
  history.replaceState(history.state, '', location.pathname + location.search)
  return given
}
