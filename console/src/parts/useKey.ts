import { useSyncExternalStore } from 'react'

/** The API key of the playground: in memory and the tab's storage, and never sent to `/api`. */
const place = 'sluice-playground-key'
let held = sessionStorage.getItem(place) ?? ''
const listeners = new Set<() => void>()

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** The key, and the way to hold another one. */
export function useKey(): readonly [string, (key: string) => void] {
  return [useSyncExternalStore(subscribe, () => held), holdKey]
}

/** Holds another key; an empty one is none. */
export function holdKey(key: string): void {
  held = key.trim()
  if (held) sessionStorage.setItem(place, held)
  else sessionStorage.removeItem(place)
  for (const listener of listeners) listener()
}
